/* What squeue and sinfo print, in formats of ours, read back. Pure. */
#ifndef SCHEDULER_SLURM_TEXT_H
#define SCHEDULER_SLURM_TEXT_H

#include "runtime/base/error.h"
#include "scheduler/slurm/module.h"

/*
 * Fields are parted by TEXT_FIELD. The last two are the user's own words, which may hold anything: so a record begins
 * with TEXT_FIELD, a number that nobody can know beforehand, and TEXT_FIELD; what follows up to the next such beginning
 * belongs to it. Times in seconds since 1970 (SLURM_TIME_FORMAT=%s).
 */
#define TEXT_FIELD "\x1f"
#define TEXT_SQUEUE                                                                                                    \
    "%A" TEXT_FIELD "%U" TEXT_FIELD "%T" TEXT_FIELD "%D" TEXT_FIELD "%N" TEXT_FIELD "%n" TEXT_FIELD "%P" TEXT_FIELD    \
    "%Q" TEXT_FIELD "%l" TEXT_FIELD "%V" TEXT_FIELD "%S" TEXT_FIELD "%r" TEXT_FIELD "%k" TEXT_FIELD "%j"
#define TEXT_SINFO "%N" TEXT_FIELD "%T" TEXT_FIELD "%c" TEXT_FIELD "%R" TEXT_FIELD "%p" TEXT_FIELD "%a"

/* The text is cut into its fields meanwhile. -1: a record is not as it should be; some may have been given. */
int text_jobs(char *text, const char *mark, const struct slurm_sink *sink, void *to, struct error *error);
int text_nodes(char *text, const struct slurm_sink *sink, void *to, struct error *error);

#endif
