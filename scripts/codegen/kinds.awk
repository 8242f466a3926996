# SPDX-License-Identifier: GPL-2.0-or-later
#
# From a disassembly and qemu's log of executed addresses: how many instructions
# of each kind each function of the probe executed between its two marks.

FNR == 1 { file++ }

file == 1 && /^[0-9a-f]+ <.*>:/ {
	fn = $2
	gsub(/[<>:]/, "", fn)
	address = $1
	sub(/^0+/, "", address)
	if (fn == "mark_begin")
		begin = address
	if (fn == "mark_end")
		end = address
	next
}

file == 1 && /^ *[0-9a-f]+:/ {
	address = $1
	sub(/:$/, "", address)
	op = $2
	arg = $0
	sub(/^ *[0-9a-f]+:[ \t]+[^ \t]+[ \t]*/, "", arg)
	name = fn
	sub(/\..*/, "", name)
	of[address] = name
	kind[address] = arch == "x86_64" ? x86(op, arg) : arm(op, arg)
	next
}

file == 2 && match($0, /\[[0-9a-f]+\/[0-9a-f]+\//) {
	split(substr($0, RSTART + 1, RLENGTH - 2), part, "/")
	address = part[2]
	sub(/^0+/, "", address)
	if (address == begin)
		on = 1
	if (address == end)
		exit
	if (!on)
		next
	f = of[address]
	# the thunk's ret belongs to who returns through it
	if (f == "__x86_return_thunk") {
		if (last ~ /^(op_|obj_|fix_|new_|free_group)/)
			count[last " call"]++
		next
	}
	last = f
	if (f ~ /^(op_|obj_|fix_|new_|free_group)/)
		count[f " " kind[address]]++
}

END {
	for (k in count)
		print k, count[k]
}

function x86(op, arg)
{
	if (op ~ /^(call|ret)/ || arg ~ /__x86_return_thunk/)
		return "call"
	if (op ~ /^(push|pop)/ || arg ~ /\(%rsp\)/ || arg ~ /, %rsp$/)
		return "stack"
	if (op ~ /^mov/ && arg ~ /^%[a-z0-9]+, %[a-z0-9]+$/)
		return "move"
	return op ~ /^(j|nop)/ ? "branch" : "work"
}

function arm(op, arg)
{
	if (op ~ /^(bl|blr|ret)$/)
		return "call"
	if (op ~ /^(paci|auti)/ || (op == "hint" && arg ~ /^#(25|29)$/))
		return "frame"
	if (arg ~ /x29/)
		return "frame"
	if (arg ~ /sp/)
		return "stack"
	if (op == "mov" && arg ~ /^[xw][0-9]+, [xw][0-9]+$/)
		return "move"
	return op ~ /^(b|b\..*|cb.*|tb.*|nop)$/ ? "branch" : "work"
}
