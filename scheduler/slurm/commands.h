/* What the adviser does for epoprm's commands. */
#ifndef SCHEDULER_SLURM_COMMANDS_H
#define SCHEDULER_SLURM_COMMANDS_H

#include "scheduler/daemon/daemon.h"

/* The context is the adviser. */
extern const struct daemon_table commands_table;

#endif
