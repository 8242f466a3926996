/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which slab objects a hackbench task and channel own: counted in perf traces
 * of a 6.18 kernel (one group, 40 children of a dynamically linked binary with
 * 28 VMAs), allocations between fork and the start signal divided by 40. Sizes
 * are the kernel's object_size. test_hackbench.c compares with those traces.
 */
#include "workloads/hackbench.h"

const struct hackbench_object hackbench_task_objects[] = {
	/* copied by dup_mmap() */
	{ "vm_area_struct", 192, 0, 0, 28, 1 },
	{ "anon_vma_chain", 64, 0, 0, 27, 0 },
	{ "anon_vma", 104, 0, SLAB_RCU | SLAB_CTOR, 13, 0 },
	{ "maple_node", 256, 256, 0, 4, 0 },
	{ "mm_struct", 1408, 0, SLAB_HW_ALIGN, 1, 0 },
	/* copy_process() */
	{ "task_struct", 5824, 64, SLAB_HW_ALIGN, 1, 1 },
	{ "signal_cache", 1088, 0, SLAB_HW_ALIGN, 1, 0 },
	{ "sighand_cache", 2112, 0, SLAB_HW_ALIGN | SLAB_RCU | SLAB_CTOR, 1,
	  0 },
	{ "pid", 144, 0, SLAB_HW_ALIGN, 1, 1 },
	{ "cred_jar", 184, 0, SLAB_HW_ALIGN, 1, 1 },
	{ "lsm_blob_16", 16, 0, 0, 1, 1 },
	{ "fs_cache", 56, 0, SLAB_HW_ALIGN, 1, 0 },
	/* dup_fd() */
	{ "files_cache", 704, 0, SLAB_HW_ALIGN, 1, 0 },
	{ "kmalloc-cg-64", 64, 64, 0, 1, 0 },
	{ "kmalloc-cg-2k", 2048, 2048, 0, 1, 0 },
	{ "kmalloc-cg-96", 96, 8, 0, 1, 0 },
	/* the kernel stack's vm_struct and page array */
	{ "kmalloc-96", 96, 8, 0, 1, 1 },
	{ "kmalloc-32", 32, 32, 0, 1, 1 },
	{ NULL }
};

const struct hackbench_object hackbench_pipe_objects[] = {
	{ "filp", 184, 0, SLAB_HW_ALIGN | SLAB_RCU, 2, 2 },
	{ "lsm_file_cache", 24, 0, 0, 2, 2 },
	{ "dentry", 192, 0, SLAB_RECLAIM, 1, 1 },
	{ "inode_cache", 632, 0, SLAB_RECLAIM | SLAB_CTOR, 1, 1 },
	{ "lsm_inode_cache", 40, 0, 0, 1, 1 },
	{ "kmalloc-cg-192", 192, 64, 0, 1, 1 },
	{ "kmalloc-cg-1k", 1024, 1024, 0, 1, 1 },
	{ NULL }
};

const struct hackbench_object hackbench_socket_objects[] = {
	{ "filp", 184, 0, SLAB_HW_ALIGN | SLAB_RCU, 2, 2 },
	{ "lsm_file_cache", 24, 0, 0, 2, 2 },
	{ "dentry", 192, 0, SLAB_RECLAIM, 2, 2 },
	{ "sock_inode_cache", 768, 0,
	  SLAB_HW_ALIGN | SLAB_RECLAIM | SLAB_CTOR, 2, 2 },
	{ "lsm_inode_cache", 40, 0, 0, 2, 2 },
	{ "UNIX", 1024, 0, SLAB_HW_ALIGN, 2, 2 },
	{ NULL }
};
