#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs the walk-through of configs/IMPORT.md as it is written there.
# Usage: test_import_doc.sh SLUBSIM SOURCE_ROOT
set -eu

slubsim=$(realpath "$1")
configs=$(realpath "$2")/configs
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cp "$configs"/testdata/walk/*.txt "$dir"
cp "$configs/../workloads/testdata/skb-two-cpus.trace.txt" "$dir/trace.txt"
cd "$dir"
mkdir bin
ln -s "$slubsim" bin/slubsim
PATH=$dir/bin:$PATH
SLUBSIM_CONFIGS=$configs
export PATH SLUBSIM_CONFIGS

sed -n '/^```sh$/,/^```$/{/^```/d;p}' "$configs/IMPORT.md" >commands
grep -q 'slubsim run' commands
sh -eu commands >log 2>&1 || { cat log; exit 1; }

fail() {
	echo "$1"
	cat log
	exit 1
}
# what the text says of the output
! grep -q '^ *FAILS' log || fail 'an identity fails'
grep -Eq '^ +5 .* 100\.00 ' log || fail 'CPU 5 is not all slow'
slab=sys/kernel/slab/bio-256
grep -q ' C5=' "out/v7.0/$slab/alloc_slowpath" || fail 'v7.0: CPU 5 is fast'
! grep -q ' C5=' "out/v7.1/$slab/alloc_slowpath" || fail 'v7.1: CPU 5 is slow'
# the counts of the report are what was played back
for counter in alloc free; do
	posted=$(sed -n "s/^> ${counter}_[fs][a-z]*path:\([0-9]*\) .*/\1/p" \
		slab.txt | awk '{ n += $1 } END { print n }')
	played=$(cat "out/v7.1/$slab/${counter}_fastpath" \
		"out/v7.1/$slab/${counter}_slowpath" |
		awk '{ n += $1 } END { print n }')
	[ "$posted" = "$played" ] || fail "$counter: $posted and $played"
done

# the trace: what the text says of summary and replay
grep -q '^383 of 385 kmem records replayed' log || fail 'not 383 of 385'
grep -Eq '^skbuff_head_cache .* 100\.0$' log || fail 'frees are not all remote'
slab=sys/kernel/slab/skbuff_head_cache
grep -q ' C1=96$' "replay/v6.12/$slab/free_slowpath" || fail 'v6.12: fast'
grep -q ' C1=96$' "replay/v7.1-fixed/$slab/free_fastpath" || fail 'v7.1: slow'
grep -qv '^0' "replay/v7.1-fixed/$slab/barn_put" || fail 'v7.1: no barn_put'
