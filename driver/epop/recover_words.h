/*
 * What the job says to `epop --recover` (runtime/control/supervisor.h): where it is, and how it ends. One job at a
 * time: each start has a secret of its own, so that what is left of the last one is not heard.
 */
#ifndef DRIVER_RECOVER_WORDS_H
#define DRIVER_RECOVER_WORDS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#include "runtime/base/error.h"

enum { WORDS_MOST = 16, WORDS_LINE = 1024, WORDS_TEXT = 420, WORDS_SAVED = 4 };

enum word { WORD_NONE, WORD_ENDED, WORD_FAILED, WORD_FAULT, WORD_FITS };

/* Where it was last. */
struct words_place {
    unsigned long long count; /* probes */
    int size, pc;
    long long iteration;
    char element[128];
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

struct words {
    int listener;
    char token[40];
    struct caller {
        int fd; /* -1: none */
        char line[WORDS_LINE];
        size_t used;
        bool known;
    } callers[WORDS_MOST];
    int chief; /* index of process 0's connection, -1: there is none (any more) */
    bool begun;
    enum word word; /* the first */
    int status;
    char text[WORDS_TEXT];
    struct words_place place;
    struct words_state state;
    struct words_saved saved[WORDS_SAVED]; /* the newest first */
};

/* Sets EPOP_SUPERVISOR in this process's environment. anywhere: also other hosts are heard. 0, or -1 with text. */
int words_open(struct words *words, bool anywhere, struct error *error);
void words_close(struct words *words);

/* What to poll for: fills fds, which has room for WORDS_MOST + 1. How many. */
int words_fds(const struct words *words, struct pollfd *fds);
/* Takes all that is there. */
void words_take(struct words *words);

/* One line to process 0, without its end. */
void words_tell(const struct words *words, const char *line);

/* It has begun, and process 0 is gone. */
bool words_is_lost(const struct words *words);

#endif
