/*
 * What the job says to `epop --recover` (runtime/control/supervisor.h): where it is, and how it ends. One job at a
 * time: each start has a socket and a secret of its own, so that what is left of the last one is not heard.
 */
#ifndef DRIVER_RECOVER_WORDS_H
#define DRIVER_RECOVER_WORDS_H

#include <cjson/cJSON.h>
#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "runtime/base/error.h"
#include "runtime/wire/proof.h"

enum { WORDS_TEXT = 420, WORDS_SAVED = 4 };

enum word { WORD_NONE, WORD_ENDED, WORD_FAILED, WORD_FAULT, WORD_FITS };

/* Where it was last. */
struct words_place {
    unsigned long long count; /* probes */
    int size, pc;
    long long iteration;
};

/* What it was started again from. */
struct words_state {
    char from[24]; /* "memory", "file" or "beginning"; "": it does not run yet */
    int number;
    double time;
};

/* A whole checkpoint, made by this start. */
struct words_saved {
    int number; /* 0: there is none */
    unsigned long long count;
};

struct caller;

struct words {
    struct event_base *base; /* all is heard while it runs */
    struct wire_listener *here, *network;
    char path[400], token[PROOF_MAX];
    TAILQ_HEAD(callers, caller) callers;
    struct caller *chief; /* process 0's connection; NULL: there is none (any more) */
    bool started, begun;  /* process 0 has, before it has MPI; and then */
    enum word word;       /* the first */
    int status;
    char text[WORDS_TEXT];
    struct words_place place;
    struct words_state state;
    struct words_saved saved[WORDS_SAVED]; /* the newest first */
};

/* Sets EPOP_SUPERVISOR in this process's environment. anywhere: also other hosts are heard. The structure stays where
 * it is until words_close. 0, or -1 with text. */
int words_open(struct words *words, bool anywhere, struct error *error);
/* What was heard stays. */
void words_close(struct words *words);

/* Hears all that is there, without waiting. */
void words_hear(struct words *words);

/* To process 0. */
void words_tell(const struct words *words, const cJSON *message);

/* It has begun, and process 0 is gone. */
bool words_is_lost(const struct words *words);

#endif
