/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a fuzz target is: the function that libFuzzer calls. Each target is one
 * fuzz_*.c with that function. With clang and -Dfuzz=true it is built into a
 * libFuzzer program; always, fuzz_replay.c makes a test of it that runs the
 * saved inputs.
 */
#ifndef CONFIGS_FUZZ_H
#define CONFIGS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
