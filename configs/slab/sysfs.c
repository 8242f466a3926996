/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slab attributes as grep prints them ("./alloc_slab:144 C0=2 C1=8"), one per
 * line, wrapped, or all in one line as a mail makes of them. The text is read
 * word by word: "[PATH/]name:value" begins a value, "C12=3" and "N1=3" go on
 * with it, anything else is not a slab's. PATH's last folder names the cache,
 * else a path with /slab/ in a prompt. A value that is there again begins the
 * next report.
 */
#include "configs/slab/check.h"

#include <string.h>

struct reader {
	const struct import_text *text;
	GPtrArray *all;
	GHashTable *open; /* cache name ("" = not said) -> its last report */
	char *prompt_cache;
	char *title;
	struct slab_value *value; /* that parts go on with */
	bool any_on_line;
};

static bool is_name_char(char c)
{
	return g_ascii_islower(c) || g_ascii_isdigit(c) || c == '_';
}

/*
 * Where in @word the name begins if it is "[PATH/]name:value", and its length;
 * NULL if it isn't. Names of caches may have colons (":t-0000064/align:8").
 */
static const char *find_name(const char *word, size_t *len)
{
	for (const char *c = strchr(word, ':'); c; c = strchr(c + 1, ':')) {
		const char *start = c;

		while (start > word && is_name_char(start[-1]))
			start--;
		if (start == c || !g_ascii_islower(*start))
			continue;
		if (start > word && start[-1] != '/')
			continue;
		*len = c - start;
		return start;
	}
	return NULL;
}

/* The folder before the name, "" for none or ".". */
static char *folder_of(const char *word, const char *name)
{
	g_autofree char *path = g_strndup(word, name - word);
	char *slash;

	if (!*path)
		return g_strdup("");
	path[strlen(path) - 1] = '\0';
	slash = strrchr(path, '/');
	if (slash)
		return g_strdup(slash + 1);
	return g_strdup(strcmp(path, ".") ? path : "");
}

/* The cache of a prompt such as "~/slab/maple_node # grep . *". */
static bool take_prompt(struct reader *r, const char *line)
{
	const char *s = strstr(line, "/slab/");
	size_t len;

	if (!s)
		return false;
	s += strlen("/slab/");
	len = strcspn(s, " \t/;\"'");
	if (!len || s[0] == '*')
		return false;
	g_free(r->prompt_cache);
	r->prompt_cache = g_strndup(s, len);
	return true;
}

/* "99" or "99(7)"; false if it's neither. */
static bool take_number(const char *s, uint64_t *value, uint64_t *slabs)
{
	*slabs = 0;
	if (!import_uint(&s, INT64_MAX, value))
		return false;
	if (*s == '(') {
		s++;
		if (!import_uint(&s, INT64_MAX, slabs) || *s++ != ')')
			return false;
	}
	return !*s || *s == ',';
}

static struct slab_report *report_for(struct reader *r, const char *cache,
				      const char *name, int line,
				      GError **error)
{
	struct slab_report *open = g_hash_table_lookup(r->open, cache);

	if (open && !slab_report_find(open, name))
		return open;
	open = slab_report_new(r->text->name, SLAB_SYSFS,
			       *cache ? cache : r->prompt_cache, line);
	open->title = g_steal_pointer(&r->title);
	if (!slab_reports_take(r->all, open, error))
		return NULL;
	g_hash_table_insert(r->open, g_strdup(cache), open);
	return open;
}

static bool take_part(struct reader *r, const char *word, int line,
		      GError **error)
{
	struct slab_part part = {0};
	const char *s = word + 1;
	uint64_t id;

	/* CPU and node numbers beyond what can be simulated end here too */
	if (!import_uint(&s, TOPOLOGY_MAX_CPUS - 1, &id) || *s++ != '=' ||
	    !take_number(s, &part.value, &part.slabs))
		return import_fail(error, r->text->name, line,
				   "%s: \"%.40s\", "
				   "expected C0=NUMBER or N0=NUMBER",
				   r->value->name, word);
	part.id = id;
	if (r->value->parts->len) {
		const struct slab_part *last =
			&g_array_index(r->value->parts, struct slab_part,
				       r->value->parts->len - 1);

		if (part.id <= last->id || r->value->part_kind != *word)
			return import_fail(error, r->text->name, line,
					   "%s: %.20s after %c%d, expected "
					   "rising numbers of one kind",
					   r->value->name, word,
					   r->value->part_kind, last->id);
	}
	r->value->part_kind = *word;
	g_array_append_val(r->value->parts, part);
	return true;
}

static bool take_word(struct reader *r, const char *word, int line,
		      GError **error)
{
	size_t len;
	const char *name = find_name(word, &len);
	struct slab_report *report;

	if (!name) {
		bool part = (*word == 'C' || *word == 'N') &&
			    g_ascii_isdigit(word[1]) && strchr(word, '=');

		if (r->value && r->value->number && part)
			return take_part(r, word, line, error);
		r->value = NULL;
		return true;
	}
	{
		g_autofree char *cache = folder_of(word, name);
		g_autofree char *key = g_strndup(name, len);
		const char *value = name + len + 1;
		uint64_t total = 0, slabs = 0;
		bool number = take_number(value, &total, &slabs);

		/* prose has colons too; words are values of few attributes */
		r->value = NULL;
		if (!number && *value && slab_is_counter(key))
			return import_fail(error, r->text->name, line,
					   "%s: \"%.40s\", expected a number",
					   key, value);
		if (!number && *value && strcmp(key, "ctor"))
			return true;
		if (!number && !*value && !*cache && strncmp(word, "./", 2))
			return true;
		report = report_for(r, cache, key, line, error);
		if (!report)
			return false;
		r->value = slab_report_add(report, key, line, error);
		if (!r->value)
			return false;
		r->value->number = number;
		r->value->word = !number && *value;
		r->value->total = total;
		r->value->slabs = slabs;
		r->any_on_line = true;
	}
	return true;
}

/* "grep: alloc_calls: Function not implemented" */
static bool take_complaint(struct reader *r, const char *s)
{
	size_t len;

	if (!g_str_has_prefix(s, "grep:") && !g_str_has_prefix(s, "cat:"))
		return false;
	s = import_skip_blanks(strchr(s, ':') + 1);
	len = strcspn(s, ": ");
	if (r->all->len && len) {
		struct slab_report *last = r->all->pdata[r->all->len - 1];

		if (last->unavailable->len < SLAB_MAX_VALUES)
			g_ptr_array_add(last->unavailable, g_strndup(s, len));
	}
	return true;
}

static bool take_line(struct reader *r, const struct import_line *l,
		      GError **error)
{
	const char *s = import_skip_blanks(l->text);
	g_autofree char *copy = NULL;
	char *word, *rest = NULL;
	bool prompt;

	if (take_complaint(r, s))
		return true;
	prompt = take_prompt(r, s);
	copy = g_strdup(s);
	r->any_on_line = false;
	for (word = strtok_r(copy, " \t", &rest); word;
	     word = strtok_r(NULL, " \t", &rest))
		if (!take_word(r, word, l->number, error))
			return false;
	if (!r->any_on_line && *s && !r->value && !prompt) {
		g_free(r->title);
		r->title = g_strndup(s, 80);
	}
	return true;
}

static bool any_known(const GPtrArray *all, guint from)
{
	for (guint i = from; i < all->len; i++) {
		const struct slab_report *r = all->pdata[i];

		for (guint k = 0; k < r->values->len; k++) {
			const struct slab_value *v = r->values->pdata[k];

			if (slab_is_counter(v->name) ||
			    slab_is_attribute(v->name))
				return true;
		}
	}
	return false;
}

bool slab_parse_sysfs(const struct import_text *t, const char *cache,
		      GPtrArray *all, GError **error)
{
	struct reader r = {.text = t, .all = all};
	guint before = all->len;
	bool fine = true;

	r.prompt_cache = g_strdup(cache);
	r.open = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	for (int i = 0; fine && i < t->nr_lines; i++)
		fine = take_line(&r, &t->lines[i], error);
	if (fine && !any_known(all, before)) {
		/* prose with a colon and a number somewhere */
		g_ptr_array_set_size(all, before);
	}
	g_hash_table_unref(r.open);
	g_free(r.prompt_cache);
	g_free(r.title);
	if (fine && all->len == before)
		fine = import_fail(error, t->name, 0,
				   "not recognised, "
				   "expected the files of /sys/kernel/slab/"
				   "CACHE (grep . *), slabinfo -r or "
				   "/proc/slabinfo");
	return fine;
}
