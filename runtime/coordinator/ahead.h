/*
 * Constant data ahead of the window: when the joiners are ready, each rank lists at its next probe what does not change
 * while its phase iterates, and the processes move that while the ranks compute. A step of preparing an adaptation that
 * it can always do without: whatever goes wrong, all is moved in the window. Nor does it put off a resize for long:
 * what has not come in time comes in the window, while the ranks wait for it.
 */
#ifndef EPOP_COORDINATOR_AHEAD_H
#define EPOP_COORDINATOR_AHEAD_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "runtime/base/timers.h"
#include "runtime/member/plan.h"
#include "runtime/wire/messages.h"

struct adaptation;
struct coordinator;

enum ahead_state { AHEAD_NONE, AHEAD_LISTS, AHEAD_MOVES, AHEAD_DONE, AHEAD_IN_WINDOW };

/* Of the adaptation, which is above: its plan as it is so far (NULL: out of memory, which ends the job), and how it
 * goes on. */
struct ahead_calls {
    struct plan *(*plan)(struct coordinator *c);
    void (*go_on)(struct coordinator *c);
};

struct ahead {
    const struct ahead_calls *calls;
    enum ahead_state state;
    struct adaptation *adaptation; /* the pending one that it is a step of */
    int waits;                     /* processes that have not answered */
    cJSON *places;                 /* where each listens, in the order of the plan; owned */
    struct position at;            /* where the ranks have listed */
    char hash[20];                 /* of what they have listed; "": none has */
    bool something, differ;        /* a rank has something constant; they listed at different places, or other things */
    bool late;                     /* the adaptation has gone on; what comes still counts */
    struct timer limit;            /* until then */
};

/* Everybody is ready, and data may go ahead. */
void ahead_start(struct coordinator *c, struct adaptation *a, const struct ahead_calls *calls);
/* A process has listed, or says where it listens. */
void ahead_listed(struct coordinator *c, int process, const struct report_listed *report);
/* All of it has come there, or it cannot come, or what came is of no use any more. */
void ahead_came(struct coordinator *c, int process, const struct report_ahead *report);
/* A rank has ended the program, and lists nothing more. */
void ahead_rank_ended(struct coordinator *c);
/* The window opens at that place: does what came, or still comes, count there? */
bool ahead_take(struct coordinator *c, const struct position *at);
/* The adaptation is called off; it is over. */
void ahead_off(struct coordinator *c);
void ahead_forget(struct coordinator *c);

#endif
