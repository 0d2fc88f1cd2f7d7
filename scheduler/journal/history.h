/*
 * What was measured in earlier jobs, by user, program and arguments: so the next one of a program can start where the
 * ones before were efficient. A table of the journal.
 */
#ifndef SCHEDULER_JOURNAL_HISTORY_H
#define SCHEDULER_JOURNAL_HISTORY_H

#include <epop/policy.h>
#include <stddef.h>

#include "scheduler/journal/journal.h"

/* Whose: `program` is a text for the program and its arguments, as history_program makes it. */
struct history_key {
    int user;
    const char *program;
};

struct history_sample {
    epop_policy_sample_t sample; /* `nodes` are ranks */
    int64_t job;                 /* in which it was measured */
    double time;                 /* when that ended; since 1970 */
};

struct history {
    struct history_sample *samples;
    size_t count, room;
};

/* Seconds for which a sample counts, iterations that it has at least, and how many programs are kept. */
#define HISTORY_AGE   (30 * 86400.0)
#define HISTORY_LEAST 3
#define HISTORY_MOST  1000

/* A program is the file, where `argv` names one; `cwd` is where it is called. The caller's to free; NULL: no memory. */
char *history_program(const char *cwd, const char *const *argv);

/* What still counts at that time, for history_free. */
int history_read(struct journal *journal, const struct history_key *key, double now, struct history *history,
                 struct error *error);
void history_free(struct history *history);

/* The last job of the program that is in the history; 0: none. */
int64_t history_last(const struct history *history);

/* These are what is known of the program at the end of `job`: what it was told of earlier ones and did not measure
 * itself stays theirs. `count` 0 changes nothing. */
int history_write(struct journal *journal, const struct history_key *key, int64_t job, double now,
                  const epop_policy_sample_t *samples, int count, struct error *error);

#endif
