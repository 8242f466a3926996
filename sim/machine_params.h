/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a machine's parts cost: one struct, one table that describes it.
 *
 * Filled from configs/machines/NAME.conf, where each value has its public
 * source beside it. Times in ns are converted to cycles with freq_ghz once,
 * when the machine is built. For use of the cache-to-cache figures see
 * sim/memory.h: they are pure transfers, without the locked operation that a
 * ping-pong measurement contains.
 */
#ifndef SIM_MACHINE_PARAMS_H
#define SIM_MACHINE_PARAMS_H

#include "sim/param.h"

struct machine_params {
	double freq_ghz; /* the clock that a simulated cycle is one tick of */
	double ipc;	 /* instructions per cycle when nothing misses */

	/* Caches: sizes in KiB, latencies load-to-use in cycles. */
	int64_t l1_kib, l1_ways, l2_kib, l2_ways, l3_kib, l3_ways;
	double l2_cycles, l3_cycles;
	bool l3_inclusive; /* a clean line of another core is an L3 hit */

	/* Memory */
	double dram_local_ns, dram_remote_ns;
	int64_t remote_distance; /* SLIT value that dram_remote_ns is for */
	double mem_bw_gbs;	 /* of one node's controllers */
	int64_t miss_buffers;	 /* independent misses that overlap, per core */
	int64_t store_buffer;	 /* entries, per core */

	/* Pure transfer of a line that another cache owns, ns. */
	double c2c_smt_ns;	 /* sibling thread: same L1 */
	double c2c_l3_ns;	 /* other core, same L3 */
	double c2c_cross_l3_ns;	 /* other L3 of the socket, home here */
	double c2c_home_remote_ns; /* same, line's home in another socket */
	double c2c_socket_ns;	 /* other socket */

	/* Operations on a line that this core already owns, cycles. */
	double lock_rmw_cycles;	     /* lock add, xchg, lock cmpxchg */
	double cmpxchg16b_cycles;    /* without lock prefix */
	double lock_cmpxchg16b_cycles;
	double irq_save_restore_cycles;
	double irq_disable_enable_cycles;

	/* Streams and events */
	double copy_bytes_per_cycle;
	double clear_page_ns; /* zeroing 4 KiB that is not in a cache */
	double context_switch_us;
	double ipi_us;
};

extern const struct param_desc machine_param_table[];

#endif
