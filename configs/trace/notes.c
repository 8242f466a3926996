/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "configs/trace/trace.h"

const char *const trace_kind_names[NR_TRACE_KINDS] = {
	[TRACE_KMALLOC] = "kmalloc",
	[TRACE_KFREE] = "kfree",
	[TRACE_CACHE_ALLOC] = "kmem_cache_alloc",
	[TRACE_CACHE_FREE] = "kmem_cache_free",
};

const struct trace_note_desc trace_note_table[NR_TRACE_NOTES] = {
	[NOTE_BLANK] = { "blank", "blank lines", NOTE_IS_LINE },
	[NOTE_COMMENT] = { "comment", "comment and header lines",
			   NOTE_IS_LINE },
	[NOTE_BANNER] = { "banner", "lines of the tool about the file",
			  NOTE_IS_LINE },
	[NOTE_STACK] = { "stack", "lines of call chains", NOTE_IS_LINE },
	[NOTE_FUNCTION] = { "function", "lines of the function tracers",
			    NOTE_IS_LINE },
	[NOTE_OTHER_EVENT] = { "other_event", "events that are not kmem's",
			       NOTE_IS_LINE },
	[NOTE_OTHER_TEXT] = { "other_text", "lines that are no trace record",
			      NOTE_IS_LINE },
	[NOTE_LONG_LINE] = { "long_line", "lines longer than 1 MiB, cut there",
			     NOTE_IS_LINE },
	[NOTE_LOST_MARK] = { "lost_mark", "lines that say events were lost",
			     NOTE_IS_LINE },

	[NOTE_CUT] = { "cut", "records cut in the middle", NOTE_IS_SKIP },
	[NOTE_BAD_FIELD] = { "bad_field", "records with an unreadable field",
			     NOTE_IS_SKIP },
	[NOTE_HIDDEN_POINTER] = { "hidden_pointer",
				  "records whose pointer the kernel hid",
				  NOTE_IS_SKIP },
	[NOTE_NULL_FREE] = { "null_free", "frees of NULL: nothing to do",
			     NOTE_IS_SKIP },
	[NOTE_FAILED_ALLOC] = { "failed_alloc",
				"allocations that failed on that machine",
				NOTE_IS_SKIP },
	[NOTE_UNSEEN_FREE] = { "unseen_free",
			       "frees of objects allocated before the trace",
			       NOTE_IS_SKIP },
	[NOTE_SIZE_RANGE] = { "size_range",
			      "objects of a size that no cache serves",
			      NOTE_IS_SKIP },
	[NOTE_NO_MEMORY] = { "no_memory",
			     "events of objects that the simulated machine "
			     "had no memory for",
			     NOTE_IS_SKIP },

	[NOTE_JOINED] = { "joined", "records put together from several lines",
			  NOTE_IS_MEND },
	[NOTE_MAIL] = { "mail", "lines freed of a mail's quoting or encoding",
			NOTE_IS_MEND },
	[NOTE_NO_TIME] = { "no_time",
			   "records without a time stamp: as the one before",
			   NOTE_IS_MEND },
	[NOTE_NO_CPU] = { "no_cpu", "records without a CPU: taken as CPU 0",
			  NOTE_IS_MEND },
	[NOTE_REORDERED] = { "reordered", "records moved back to their time",
			     NOTE_IS_MEND },
	[NOTE_TIME_RAISED] = { "time_raised",
			       "time stamps raised because time went back",
			       NOTE_IS_MEND },
	[NOTE_SIZE_GUESSED] = { "size_guessed",
				"allocations with one of the two sizes missing",
				NOTE_IS_MEND },
	[NOTE_GFP_UNKNOWN] = { "gfp_unknown",
			       "allocations with gfp flags not known",
			       NOTE_IS_MEND },
	[NOTE_GFP_ABSENT] = { "gfp_absent",
			      "allocations without gfp flags: GFP_KERNEL",
			      NOTE_IS_MEND },
	[NOTE_NAME_ALTERED] = { "name_altered",
				"cache names shortened or made fit for a file",
				NOTE_IS_MEND },
	[NOTE_LOST_FREE] = { "lost_free",
			     "allocations of a live address: its free was "
			     "lost and is made up for",
			     NOTE_IS_MEND },
	[NOTE_OTHER_NAME] = { "other_name",
			      "frees that name another cache than the "
			      "allocation: freed where allocated",
			      NOTE_IS_MEND },
	[NOTE_CPU_MAPPED] = { "cpu_mapped",
			      "events of CPUs that the machine lacks, moved",
			      NOTE_IS_MEND },
	[NOTE_NODE_MAPPED] = { "node_mapped",
			       "allocations on nodes that the machine lacks: "
			       "on any",
			       NOTE_IS_MEND },
	[NOTE_PREALLOCATED] = { "preallocated",
				"frees of earlier objects, allocated before "
				"the replay",
				NOTE_IS_MEND },

	[NOTE_LOST_EVENTS] = { "lost_events",
			       "events that the recording says it lost",
			       NOTE_IS_FACT },
	[NOTE_HASHED] = { "hashed", "records with hashed pointers",
			  NOTE_IS_FACT },
	[NOTE_UNNAMED] = { "unnamed",
			   "kmem_cache_alloc without a name: cache by size",
			   NOTE_IS_FACT },
	[NOTE_SIZE_CHANGED] = { "size_changed",
				"allocations of another size than their "
				"cache's first",
				NOTE_IS_FACT },
};

GQuark trace_error_quark(void)
{
	return g_quark_from_static_string("slubsim-trace-error");
}

uint64_t trace_notes_skipped(const struct trace_notes *n)
{
	uint64_t sum = 0;

	for (int i = 0; i < NR_TRACE_NOTES; i++)
		if (trace_note_table[i].class == NOTE_IS_SKIP)
			sum += n->count[i];
	return sum;
}
