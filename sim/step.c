/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/step.h"

#define NEVER_LOOKED UINT64_MAX

bool __step_look(const struct cpu *c, struct cpu_step *st)
{
	for (int i = 0; i < st->nr; i++) {
		struct l1_way *way = st->way[i];

		if ((way->tag | st->ignore[i]) == st->want[i])
			continue;
		way = cpu_l1_look(c, st->want[i], !st->ignore[i]);
		if (!way)
			return false;
		st->way[i] = way;
	}
	st->changes = c->l1->changes;
	return true;
}

void step_call(struct cpu *c, struct cpu_step *st, int frame, unsigned insns)
{
	st->path = cpu_child(c, frame);
	st->insns = insns;
	st->nr = 0;
}

void step_move(const struct cpu *c, struct cpu_step *st, int i, sim_addr a)
{
	st->want[i] = (a & ~(sim_addr)(SIM_LINE - 1)) | c->l1_thread;
	st->changes = NEVER_LOOKED;
}

static void step_access(const struct cpu *c, struct cpu_step *st, sim_addr a,
			uint8_t ignore)
{
	st->way[st->nr] = c->l1->ways; /* anyone: its tag will be looked at */
	st->ignore[st->nr] = ignore;
	step_move(c, st, st->nr++, a);
}

void step_read(const struct cpu *c, struct cpu_step *st, sim_addr a)
{
	step_access(c, st, a, L1_WRITABLE);
}

void step_write(const struct cpu *c, struct cpu_step *st, sim_addr a)
{
	step_access(c, st, a, 0);
}
