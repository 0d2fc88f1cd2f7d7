/*
 * Checkpoints: who wants one, and how far it is. All ranks save where they hold by an agreement (agreement.h), before
 * anything else is decided there; then they hold on at the same probe, and the coordinator decides what comes next. So
 * one can be made in a pause, and one that was asked for before a stop is made before the job ends. A file may be
 * written while they go on (behind.h).
 */
#ifndef EPOP_COORDINATOR_CHECKPOINT_H
#define EPOP_COORDINATOR_CHECKPOINT_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "runtime/base/timers.h"
#include "runtime/coordinator/rotation.h"
#include "runtime/member/plan.h"
#include "runtime/member/save.h"
#include "runtime/wire/messages.h"

struct coordinator;
struct waiter;

/* What the job is told of checkpoints at its start. */
struct checkpoint_config {
    double every[SAVE_LEVELS]; /* seconds from the end of one to the next; 0: only on request */
    const char *directory;     /* of the files */
    const char *name;          /* what their names begin with */
    int keep;                  /* complete files that stay; 0: all */
    bool behind;               /* files are written while the ranks go on */
    double end_timeout;        /* seconds that the end of the program waits for one */
    int number;                /* of the last one that there is already */
    int restarts;              /* of the job so far */
    const char *from;          /* what it was restarted from; NULL: it was not */
    int from_number;
    struct position from_at;
    const struct rotation_file *files; /* that there are already, the oldest first */
    size_t count;
};

/* A complete one. */
struct checkpoint {
    enum save_level level;
    int number; /* 0: there is none */
    char path[SAVE_PATH];
    struct position at;
    double time; /* since 1970 */
    bool behind;
    double seconds, stall;
    int64_t bytes;
};

/* One that is being made. */
struct saving {
    bool on;
    int missing;        /* ranks that save */
    double held, since; /* the ranks stand still, and save; monotonic */
    double stall;       /* once they go on */
    struct position at;
    struct save_order order;
    struct waiter *waiters;
    int64_t bytes;
    bool linked;   /* to the base */
    bool uncopied; /* a rank could not save, which all ranks know: nothing is written behind them */
    char failure[800];
};

struct checkpoints {
    struct {
        bool asked;
        struct waiter *waiters;
        struct timer next;
    } levels[SAVE_LEVELS];
    int number;           /* given out last */
    struct saving now;    /* the ranks save */
    struct saving behind; /* it is written while they go on; behind.c */
    struct timer end;     /* how long the end waits for it */
    struct checkpoint last;
    int base; /* the number of the file that has the constant arrays; 0: none */
    struct position base_at;
    struct rotation rotation;
};

void checkpoint_init(struct coordinator *c);
void checkpoint_destroy(struct coordinator *c);

void checkpoint_request(struct coordinator *c, void *handle, const struct request_checkpoint *request);
/* The same from every rank counts once. */
void checkpoint_program(struct coordinator *c);
void checkpoint_abandoned(struct coordinator *c, const void *handle);

/* Is one asked for that can begin? */
bool checkpoint_is_due(const struct coordinator *c);
/* Is one asked for that begins when the one before is on disk? */
bool checkpoint_is_deferred(const struct coordinator *c);
bool checkpoint_is_on(const struct coordinator *c);
/* All ranks hold there. */
void checkpoint_begin(struct coordinator *c, const struct position *at);
/* For behind.c: all that is left to do is to say how it went. */
void checkpoint_done(struct coordinator *c, struct saving *saving);
/* From a rank. */
void checkpoint_saved(struct coordinator *c, int process, const struct report_saved *report);
/* The ranks do not come together, or the program has ended: those that are asked for are off. */
void checkpoint_end(struct coordinator *c, const char *code, const char *reason);

/* The one that is written while the ranks go on, the last complete one, and what the job was restarted from, by
 * schema/control.schema.json; NULL: none. */
cJSON *checkpoint_writing_json(const struct coordinator *c);
cJSON *checkpoint_json(const struct coordinator *c);
cJSON *checkpoint_restarted_json(const struct coordinator *c);

#endif
