/*
 * The guard: a process between the attendant and the job's command, which everything that the command leaves behind
 * falls to (PR_SET_CHILD_SUBREAPER). So it knows when nothing of the job is left on this host, and can end all of it,
 * also when the attendant has been killed: then it does that by itself, and writes ended.json.
 */
#ifndef SCHEDULER_ATTEND_GUARD_H
#define SCHEDULER_ATTEND_GUARD_H

#include <cjson/cJSON.h>
#include <sys/types.h>

#include "runtime/base/error.h"
#include "scheduler/attend/jobdir.h"

enum guard_word {
    GUARD_RUNS = 1, /* the command has begun */
    GUARD_NOT,      /* it could not: stage and number say why */
    GUARD_ENDED,    /* it has ended, and all that it left: number is the status of waitpid, left what would not end */
};
enum guard_stage { STAGE_DIRECTORY = 1, STAGE_OUTPUT, STAGE_COMMAND };

struct guard_message {
    int word, stage, number, left;
};

struct guard {
    pid_t pid;
    int fd; /* its messages come here; -1: it is gone */
};

/* Forks it; it waits for guard_go. While this process has no other threads. `directory`: the job's. */
int guard_start(struct guard *guard, const struct launch *launch, const char *directory, struct error *error);
void guard_go(const struct guard *guard);
/* SIGTERM, with SIGCONT, to the command's process group. */
void guard_terminate(const struct guard *guard);
/* SIGKILL to all of the job. */
void guard_kill(const struct guard *guard);
/* 1: a message; 0: none yet; -1: it has died, and fd is closed. */
int guard_read(struct guard *guard, struct guard_message *message);

/* As ended.json has it: what a message that is not GUARD_RUNS means. */
cJSON *guard_ended(const struct guard_message *message, const struct launch *launch);

#endif
