/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The checker is silent about a sound cache and speaks up for each way of
 * breaking one, in every generation whose state can be broken that way.
 */
#include "model/cache.h"
#include "model/prefill.h"
#include "model/test_eras.h"

#define SLOTS 2000
#define STEPS 200

struct user {
	struct test_machine *x;
	struct kmem_cache *s;
	sim_addr slot[SLOTS];
	GRand *rand;
	struct slab_sheaf *sheaf; /* prefilled */
	int steps; /* so far: it grows for ten, then shrinks for ten */
};

static void start(struct user *u, enum era era)
{
	struct features f = era_features(era);
	struct kmem_cache_args args = { .name = "test", .object_size = 1024,
					.sheaf_capacity = 8 };

	memset(u, 0, sizeof(*u));
	/* two nodes with memory, two without */
	u->x = test_machine_new(&f, 8, 4, 5);
	slub_set_cycles(u->x->sl, 0);
	u->s = kmem_cache_create(u->x->sl, test_cpu(u->x, 0), &args);
	u->rand = g_rand_new_with_seed(era + 1);
}

static void stop(struct user *u)
{
	g_rand_free(u->rand);
	test_machine_free(u->x);
}

static size_t held(struct user *u, sim_addr *objs)
{
	size_t n = 0;

	for (int i = 0; i < SLOTS; i++)
		if (u->slot[i])
			objs[n++] = u->slot[i];
	return n;
}

static char *verify(struct user *u)
{
	sim_addr objs[SLOTS];

	return kmem_cache_verify(u->s, objs, held(u, objs));
}

static void step(struct user *u)
{
	struct cpu *c = test_cpu(u->x, g_rand_int_range(u->rand, 0, 8));
	int what = g_rand_int_range(u->rand, 0, 20);
	int n = g_rand_int_range(u->rand, 1, 400);
	int at = g_rand_int_range(u->rand, 0, SLOTS - n);
	int allocates = u->steps++ / 10 % 2 ? 6 : 14;

	if (what == 0) {
		kfree_rcu_barrier(c, u->x->sl);
		return;
	}
	if (what == 1 && u->sheaf) {
		kmem_cache_return_sheaf(c, u->s, GFP_FOR_KERNEL, u->sheaf);
		u->sheaf = NULL;
	} else if (what == 1 && cache_has_sheaves(u->s)) {
		u->sheaf = kmem_cache_prefill_sheaf(c, u->s, GFP_FOR_KERNEL, n);
	}
	for (int i = at; i < at + n; i++) {
		if (what < allocates && !u->slot[i]) {
			u->slot[i] = kmem_cache_alloc(c, u->s, GFP_FOR_KERNEL);
		} else if (what < allocates || !u->slot[i]) {
			continue;
		} else if (what < 18) {
			kmem_cache_free(c, u->s, u->slot[i]);
			u->slot[i] = 0;
		} else {
			kfree_rcu(c, u->s, u->slot[i]);
			u->slot[i] = 0;
		}
	}
}

static void test_sound(gconstpointer data)
{
	struct user u;

	start(&u, GPOINTER_TO_INT(data));
	for (int i = 0; i < 3 * STEPS; i++) {
		g_autofree char *wrong = NULL;

		step(&u);
		wrong = verify(&u);
		g_assert_cmpstr(wrong, ==, NULL);
	}
	stop(&u);
}

/* Which kinds a generation's state can have at all. */
static bool possible(const char *name, enum era era)
{
	bool of_sheaves = strstr(name, "sheaf") || strstr(name, "barn");
	bool of_cpu_slabs = strstr(name, "cpu ");

	return (!of_sheaves || era >= ERA_6_19) &&
	       (!of_cpu_slabs || era < ERA_7_0);
}

static void test_notices(gconstpointer data)
{
	enum era era = GPOINTER_TO_INT(data);

	for (int kind = 0; kind < kmem_cache_corruptions(); kind++) {
		const char *name = kmem_cache_corruption_name(kind);
		int broken = 0;

		/* every corruption spoils its cache, so all starts anew */
		for (int steps = 7; steps <= STEPS; steps += 7) {
			g_autofree char *wrong = NULL;
			struct user u;

			start(&u, era);
			for (int i = 0; i < steps; i++)
				step(&u);
			if (kmem_cache_corrupt(u.s, kind)) {
				broken++;
				wrong = verify(&u);
				if (!wrong)
					g_error("%s: after %d steps it goes "
						"unnoticed that %s",
						era_names[era], steps, name);
			}
			stop(&u);
		}
		if (possible(name, era) && !broken)
			g_error("%s: no state in which %s", era_names[era],
				name);
		if (!possible(name, era))
			g_assert_cmpint(broken, ==, 0);
	}
}

/* What no internal corruption shows: a user who frees twice, or holds what is
 * not his. */
static void test_users(void)
{
	for (int era = 0; era < NR_ERAS; era++) {
		sim_addr objs[SLOTS];
		struct user u;
		size_t n;
		char *wrong;

		start(&u, era);
		for (int i = 0; i < 30; i++)
			step(&u);
		n = held(&u, objs);
		g_assert_cmpuint(n, >, 2);
		wrong = kmem_cache_verify(u.s, objs, n - 1);
		g_assert_nonnull(wrong);
		g_free(wrong);
		objs[0] = objs[1]; /* twice */
		wrong = kmem_cache_verify(u.s, objs, n);
		g_assert_nonnull(wrong);
		g_free(wrong);
		objs[0] = objs[1] + 1ull * PAGE_BYTES * 4096 * 64; /* foreign */
		wrong = kmem_cache_verify(u.s, objs, n);
		g_assert_nonnull(wrong);
		g_free(wrong);
		stop(&u);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	for (int era = 0; era < NR_ERAS; era++) {
		g_autofree char *sound = g_strdup_printf("/verify/sound/%s",
							 era_names[era]);
		g_autofree char *notices = g_strdup_printf(
			"/verify/notices/%s", era_names[era]);

		g_test_add_data_func(sound, GINT_TO_POINTER(era), test_sound);
		g_test_add_data_func(notices, GINT_TO_POINTER(era),
				     test_notices);
	}
	g_test_add_func("/verify/users", test_users);
	return g_test_run();
}
