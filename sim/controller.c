/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/controller.h"

#include <string.h>

#include "sim/machine.h"

#define NR_WINDOWS 1024

struct window {
	uint64_t number;
	uint32_t lines;
};

struct controllers {
	size_t nr_nodes;
	uint64_t service;
	struct window *windows; /* [node * NR_WINDOWS + k] */
	uint64_t *traffic;	/* [cpu_node * nr_nodes + node], bytes */
};

struct controllers *controllers_new(size_t nr_nodes, uint64_t service)
{
	struct controllers *s = g_new0(struct controllers, 1);

	s->nr_nodes = nr_nodes;
	s->service = service;
	s->windows = g_new0(struct window, nr_nodes * NR_WINDOWS);
	s->traffic = g_new0(uint64_t, nr_nodes * nr_nodes);
	return s;
}

void controllers_free(struct controllers *s)
{
	g_free(s->windows);
	g_free(s->traffic);
	g_free(s);
}

uint64_t controller_wait(struct controllers *s, int cpu_node, int node,
			 uint64_t date)
{
	uint64_t width = s->service * CONTROLLER_WINDOW;
	uint64_t number = ((unsigned __int128)date << CYCLE_FRAC_BITS) / width;
	uint64_t served;
	struct window *w;

	s->traffic[(size_t)cpu_node * s->nr_nodes + node] += SIM_LINE;
	for (;; number++) {
		w = &s->windows[node * NR_WINDOWS + number % NR_WINDOWS];
		if (w->number < number)
			*w = (struct window){ number, 0 };
		else if (w->number > number)
			return 0; /* long ago: its window is forgotten */
		if (w->lines < CONTROLLER_WINDOW)
			break;
	}
	served = (((unsigned __int128)number * width) +
		  w->lines++ * s->service) >>
		 CYCLE_FRAC_BITS;
	return served > date ? served - date : 0;
}

void controllers_traffic(const struct controllers *s, uint64_t *bytes)
{
	memcpy(bytes, s->traffic,
	       s->nr_nodes * s->nr_nodes * sizeof(*s->traffic));
}

void controllers_reset_traffic(struct controllers *s)
{
	memset(s->traffic, 0, s->nr_nodes * s->nr_nodes * sizeof(*s->traffic));
}
