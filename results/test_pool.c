/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jobs as processes: results, failures, crashes, signals. */
#include "results/pool.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "results/result.h"

static bool some_fail(void *arg, int job, GError **error)
{
	switch (job) {
	case 1:
		g_set_error(error, RESULT_ERROR, RESULT_ERROR_IO, "no luck");
		return false;
	case 2:
		signal(SIGSEGV, SIG_DFL);
		raise(SIGSEGV);
		return true;
	case 3:
		_exit(7);
	default:
		return true;
	}
}

static void test_failures(void)
{
	struct pool_outcome *o = pool_run("t", 6, NULL, 1, 3, some_fail, NULL);

	g_assert_cmpint(o->nr_done, ==, 3);
	g_assert_cmpint(o->nr_failed, ==, 3);
	g_assert_cmpint(o->signal, ==, 0);
	g_assert_true(o->done[0] && o->done[4] && o->done[5]);
	g_assert_cmpstr(o->messages[1], ==, "no luck");
	g_assert_true(g_str_has_prefix(o->messages[2], "ended by signal 11"));
	g_assert_cmpstr(o->messages[3], ==, "ended with code 7");
	g_assert_null(o->messages[0]);
	pool_outcome_free(o);
}

static bool never_called(void *arg, int job, GError **error)
{
	return false;
}

static void test_skip(void)
{
	bool skip[] = {true, true};
	struct pool_outcome *o = pool_run("t", 2, skip, 1, 2, never_called, NULL);

	g_assert_cmpint(o->nr_done + o->nr_failed, ==, 0);
	pool_outcome_free(o);
}

/* Job 0 is done; job 1 interrupts its parent and would sleep for long. */
static bool interrupt(void *arg, int job, GError **error)
{
	if (job == 0)
		return true;
	kill(getppid(), SIGTERM);
	sleep(600);
	return true;
}

static void test_signal(void)
{
	struct pool_outcome *o = pool_run("t", 3, NULL, 1, 1, interrupt, NULL);

	g_assert_cmpint(o->signal, ==, SIGTERM);
	g_assert_true(o->done[0]);
	g_assert_false(o->done[1] || o->done[2]);
	g_assert_cmpint(o->nr_failed, ==, 0);
	pool_outcome_free(o);
}

/* Jobs that ask for a signal mask of their own find the usual one. */
static bool check_mask(void *arg, int job, GError **error)
{
	sigset_t now;

	sigprocmask(SIG_BLOCK, NULL, &now);
	return !sigismember(&now, SIGINT) && !sigismember(&now, SIGCHLD);
}

static void test_mask(void)
{
	struct pool_outcome *o = pool_run("t", 1, NULL, 1, 1, check_mask, NULL);

	g_assert_cmpstr(o->messages[0], ==, NULL);
	g_assert_cmpint(o->nr_done, ==, 1);
	pool_outcome_free(o);
}

/* Notes that it began; jobs 2 and 3 are long. */
static bool note(void *arg, int job, GError **error)
{
	char c = (char)('0' + job);

	if (write(*(int *)arg, &c, 1) != 1)
		return false;
	g_usleep(job / 2 == 1 ? 200000 : 10000);
	return true;
}

/* How 6 jobs, 2 of a kind, began. */
static void order(int at_once, const bool *skip, char *began)
{
	int fds[2];
	struct pool_outcome *o;
	ssize_t n;

	g_assert_cmpint(pipe(fds), ==, 0);
	o = pool_run(NULL, 6, skip, 2, at_once, note, &fds[1]);
	g_assert_cmpint(o->nr_failed, ==, 0);
	n = read(fds[0], began, 6);
	g_assert_cmpint(n, ==, o->nr_done);
	began[n] = '\0';
	close(fds[0]);
	close(fds[1]);
	pool_outcome_free(o);
}

/* One by one as they stand; else one of each kind, and no long one at last. */
static void test_order(void)
{
	bool skip[6] = {[1] = true, [2] = true};
	char began[7];

	order(1, NULL, began);
	g_assert_cmpstr(began, ==, "012345");
	order(1, skip, began);
	g_assert_cmpstr(began, ==, "0345");
	order(2, NULL, began);
	g_assert_cmpuint(strlen(began), ==, 6);
	g_assert_true(strchr(began, '3') < began + 4);
	g_assert_true(strchr(began, '0') < began + 3);
	order(2, skip, began);
	g_assert_cmpuint(strlen(began), ==, 4);
	g_assert_null(strpbrk(began, "12"));
}

/* The progress bar never wraps, and says what fits. */
static void test_progress(void)
{
	g_autofree char *wide = pool_progress("memoryless-ublk", 16, 50, 8.2,
					      100);
	g_autofree char *narrow = pool_progress("memoryless-ublk", 16, 50, 8.2,
						50);
	g_autofree char *end = pool_progress("x", 50, 50, 3723, 50);

	g_assert_cmpstr(wide, ==,
			"memoryless-ublk [##########----------------------] "
			"16/50 points, 0:08, ETA 0:17");
	g_assert_cmpstr(narrow, ==,
			"memoryless-ublk 16/50 points, 0:08, ETA 0:17");
	g_assert_cmpstr(end, ==,
			"x [#######################] 50/50 points, 1:02:03");
	for (int columns = 0; columns < 120; columns++)
		for (int finished = 0; finished <= 50; finished += 25) {
			g_autofree char *text = pool_progress(
				"memoryless-ublk", finished, 50, 8.2, columns);

			g_assert_cmpuint(strlen(text), <=,
					 MAX(columns - 1, 0));
		}
}

static bool hang_up(void *arg, int job, GError **error)
{
	kill(getppid(), SIGHUP);
	return true;
}

/* nohup: who left the terminal's hang-up ignored goes on. */
static void test_nohup(void)
{
	void (*before)(int) = signal(SIGHUP, SIG_IGN);
	struct pool_outcome *o = pool_run(NULL, 3, NULL, 1, 1, hang_up, NULL);

	signal(SIGHUP, before);
	g_assert_cmpint(o->signal, ==, 0);
	g_assert_cmpint(o->nr_done, ==, 3);
	pool_outcome_free(o);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/pool/failures", test_failures);
	g_test_add_func("/pool/skip", test_skip);
	g_test_add_func("/pool/signal", test_signal);
	g_test_add_func("/pool/mask", test_mask);
	g_test_add_func("/pool/order", test_order);
	g_test_add_func("/pool/progress", test_progress);
	g_test_add_func("/pool/nohup", test_nohup);
	return g_test_run();
}
