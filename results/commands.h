/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commands of results/, for the table in sim/main.c. */
#ifndef RESULTS_COMMANDS_H
#define RESULTS_COMMANDS_H

#include "sim/command.h"

extern const struct command cmd_run, cmd_script, cmd_validate;

#endif
