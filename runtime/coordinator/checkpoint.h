/*
 * Checkpoints: who wants one, and how far it is. All ranks save where they hold by an agreement (agreement.h),
 * before anything else is decided there; then they stay at the same probe, and the coordinator decides what comes
 * next. So a checkpoint can be made in a pause, and one that was asked for before a stop is made before the job
 * ends. With --checkpoint-async the ranks only copy their data, and the file is written while they go on.
 */
#ifndef EPOP_COORDINATOR_CHECKPOINT_H
#define EPOP_COORDINATOR_CHECKPOINT_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "runtime/base/timers.h"
#include "runtime/member/plan.h"
#include "runtime/wire/messages.h"

struct coordinator;
struct waiter;

/* ---- Files that stay ----------------------------------------------------------------------------- */

/* Which files of checkpoints may go when a new one is complete: all but the newest, and those that these link to. */

struct rotation_file {
    int number;
    int base; /* the file that it links to for its constant arrays; itself or 0: none */
};

struct rotation {
    struct rotation_file *files; /* complete, in the order of their numbers */
    size_t count, room;
};

void rotation_destroy(struct rotation *rotation);
/* A new one is complete. 0, or -1: out of memory. */
int rotation_add(struct rotation *rotation, int number, int base);
/* The next one that may go if `keep` are to stay, which is taken out of the list; 0: none. */
int rotation_next(struct rotation *rotation, int keep);

/* ---- Written while the ranks go on --------------------------------------------------------------- */

/*
 * A checkpoint that is written while the ranks go on: each of them has made a copy, of which a thread in its process
 * says when it is on disk, whether that process has a rank still or not. When all are, the process that was rank 0
 * gives the file its name, and only then it is complete.
 */

/* From a process. */
void behind_stored(struct coordinator *c, int process, const struct report_stored *report);
void behind_kept(struct coordinator *c, int process, const struct report_kept *report);
/* Its connection is closed, and the job goes on. */
void behind_lost(struct coordinator *c, int process);

/* The program has ended everywhere: is there a file to wait for? Not for ever. */
bool behind_holds_end(struct coordinator *c);
/* Does the end of the program wait for one? */
bool behind_is_awaited(const struct coordinator *c);

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
    struct saving behind; /* it is written while they go on */
    struct timer end;     /* how long the end waits for it */
    struct checkpoint last;
    struct {
        int number; /* of the one that has the constant arrays; 0: none */
        struct position at;
    } base[SAVE_LEVELS];
    struct rotation rotation;
};

void checkpoint_request(struct coordinator *c, void *handle, const struct request_checkpoint *request);
/* The same from every rank counts once. */
void checkpoint_program(struct coordinator *c);

/* Is one asked for that can begin? */
bool checkpoint_is_due(const struct coordinator *c);
/* Is one asked for that begins when the one before is on disk? */
bool checkpoint_is_deferred(const struct coordinator *c);
bool checkpoint_is_on(const struct coordinator *c);
/* All ranks hold there. */
void checkpoint_begin(struct coordinator *c, const struct position *at);
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
