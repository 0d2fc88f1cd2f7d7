/* Where the ranks are stopped for a debugger: the breaks, meeting them, and going on. */
#ifndef EPOP_COORDINATOR_STOPS_H
#define EPOP_COORDINATOR_STOPS_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "runtime/member/claim.h"

struct coordinator;
struct process;

/* A break, and the visit of its element in which the ranks stopped there last. */
struct stop_place {
    struct breakpoint breakpoint;
    int64_t met; /* 0: none yet */
};

struct stops {
    struct stop_place places[ROLLCALL_BREAKS_MAX];
    int count;
    bool stepping; /* the ranks stop at the next iteration */
    enum { NOT_STOPPED, STOPPED_ALL, STOPPED_SOME } how;
    struct position at; /* of the last stop */
    bool announced;
    char by[96];  /* the break's text, or "step" */
    void *waiter; /* who waits for the next stop; NULL: nobody */
};

/* The breaks of the command line. */
void stops_init(struct coordinator *c);
/* Does one of the first claims meet a break? Then the ranks are stopped. */
void stops_look(struct coordinator *c);
/* Are any stopped now? */
bool stops_are_on(const struct coordinator *c);
/* All ranks have come to the same place: are they stopped there, so that none passes? */
bool stops_hold_all(struct coordinator *c);
/* Is this rank kept where it is, while the others pass? */
bool stops_keep(const struct coordinator *c, int rank);
/* Its claim has passed; kept: it is told when it goes on. */
void stops_note_kept(struct process *p, bool kept);
/* The ranks go on, as for `continue`, where they are stopped; then what they claim is to be checked. step: up to the
 * next iteration. */
void stops_release(struct coordinator *c, bool step);
/* Set one, unless it is there; 0, or -1: too many. Take one out; -1: there is none. */
int stops_add(struct coordinator *c, const struct breakpoint *b);
int stops_remove(struct coordinator *c, const struct breakpoint *b);
/* The handle hears of the next stop; -1: another waits already. */
int stops_await(struct coordinator *c, void *handle);
void stops_abandoned(struct coordinator *c, const void *handle);
/* No stop will be reached any more: whoever waits hears why. */
void stops_end(struct coordinator *c, const char *reason);
/* The breaks that are set, for the status. */
cJSON *stops_json(const struct coordinator *c);

#endif
