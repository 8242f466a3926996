/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "Did you mean": the known name that a mistyped one is nearest to.
 */
#ifndef SIM_NEAREST_H
#define SIM_NEAREST_H

/* How many characters to insert, delete or replace to get from @a to @b.
 * Names longer than 100 characters are infinitely (100) far. */
unsigned edit_distance(const char *a, const char *b);

/*
 * Keeps the nearest of the candidates offered one by one: start with
 * { .word = what was typed }. Beyond half of the word's length (3 at least)
 * a guess is no help: .name stays NULL. The first of equals wins.
 */
struct nearest {
	const char *word;
	const char *name; /* borrowed from the candidates */
	unsigned distance;
};
void nearest_offer(struct nearest *n, const char *candidate);

#endif
