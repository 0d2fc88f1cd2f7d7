/*
 * Nodes that stay idle are switched off by a command of the site, and switched on again when jobs wait for them, as
 * Slurm does by SuspendProgram and ResumeProgram.
 */
#ifndef SCHEDULER_HOSTS_IDLE_H
#define SCHEDULER_HOSTS_IDLE_H

#include "scheduler/hosts/state.h"

/* Seconds that --suspend-after says. -1: an error says what is wrong with it, or with the two commands. */
int hosts_idle_begin(struct hosts *hosts, struct error *error);
void hosts_idle_end(struct hosts *hosts);

/* Each second: those that have been idle for long enough are switched off while no job waits, and those that do not
 * come back are given up. */
void hosts_idle_look(struct hosts *hosts);
/* When the policy has been asked: as many are switched on as waiting jobs lack. */
void hosts_idle_wake(struct hosts *hosts);

/* The reason of a node that is off, in the journal, too. */
extern const char hosts_idle_off[];

#endif
