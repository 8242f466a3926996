/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workloads/programs.h"

struct programs {
	struct machine *m;
	cpu_program *program; /* by CPU id */
	void **arg;
};

struct programs *programs_new(struct machine *m)
{
	struct programs *p = g_new(struct programs, 1);
	int nr = machine_topology(m)->nr_cpu_ids;

	p->m = m;
	p->program = g_new0(cpu_program, nr);
	p->arg = g_new0(void *, nr);
	return p;
}

void programs_set(struct programs *p, int cpu, cpu_program program, void *arg)
{
	g_assert(machine_cpu(p->m, cpu) && !p->program[cpu]);
	p->program[cpu] = program;
	p->arg[cpu] = arg;
}

void programs_run(struct programs *p)
{
	machine_run(p->m, p->program, p->arg);
	g_free(p->program);
	g_free(p->arg);
	g_free(p);
}

bool programs_out_of_memory(GError **error)
{
	g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOMEM,
		    "the simulated machine's memory is used up");
	return false;
}
