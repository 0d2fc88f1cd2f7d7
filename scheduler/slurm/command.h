/* Slurm's commands: run, with their output, within a time limit. */
#ifndef SCHEDULER_SLURM_COMMAND_H
#define SCHEDULER_SLURM_COMMAND_H

#include "runtime/base/error.h"

/* -1: a line says that there is no such command. */
int command_check(const char *name, struct error *error);

/* Found in PATH; argv ends with NULL. What it printed is the caller's to free. -1: there is no such command, it failed
 * (its first words are in the line), or it took longer than that many seconds. */
int command_read(const char *const *argv, double seconds, char **output, struct error *error);

#endif
