/* What is known of one adaptation, from its request on, and is kept of it for the history. */
#ifndef EPOP_COORDINATOR_RECORD_H
#define EPOP_COORDINATOR_RECORD_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "runtime/member/plan.h"

struct waiter;

enum adaptation_state {
    ADAPTATION_PREPARING,
    ADAPTATION_PREPARED, /* waits for an agreement */
    ADAPTATION_WINDOW,
    ADAPTATION_COMMITTED,
    ADAPTATION_FAILED,
    ADAPTATION_CANCELLED,
};

/* BY_PHASE: a phase was entered at a size that it does not accept. It cannot do without, and all ranks wait for it.
 * BY_OPTION: the job balances itself (--balance). */
enum requester { BY_EPOPCTL, BY_PROGRAM, BY_PHASE, BY_OPTION };

/* How far the processes are connected ahead of the window. */
enum preconnect_state {
    PRECONNECT_NONE,
    PRECONNECT_CONNECTS, /* the processes were told to connect: a joiner that dies makes it fail */
    PRECONNECT_MERGES,   /* the communicators are being made: a joiner that dies ends the job */
    PRECONNECT_DONE
};

struct adaptation {
    /* for backends: */
    int id;
    int *joiners; /* process numbers */
    int joining;
    int parked; /* the first so many of them stand by; the others have to be started */

    int from, to, requested_size;
    enum adaptation_state state;
    enum requester by;
    bool started;     /* the joiners were told to start */
    cJSON *meeting;   /* where joiners of several launches come together; owned; NULL: not known */
    char *leaves;     /* per old rank */
    bool balance;     /* nobody comes or goes: the data is dealt out anew */
    int *loads;       /* of a balance, as in its plan; owned; NULL: not known yet */
    double imbalance; /* of these: the most over the mean; 0: not known */
    struct position at;
    char element[64];
    char reason[600];
    double requested, ahead, prepared, agreed, committed; /* epoch seconds, 0: not yet; ahead: constant data moves */
    double stall;                                         /* as in struct epop_adaptation */
    int64_t bytes;       /* of data that ranks were sent by the redistribution library */
    int64_t ahead_bytes; /* of constant data, that they were sent before they stood still */
    enum preconnect_state preconnect;
    char *port;              /* where the joiners accept; owned; NULL: none */
    int unconnected;         /* processes whose connect has not been reported yet */
    int looks;               /* at a connect that takes long */
    int kills;               /* times that the joiners were ended for not answering */
    int connected, failures; /* old ranks that could connect, and that could not */
    int outstanding;         /* processes that are not through the window, or parked, yet */
    struct waiter *waiters;  /* who waits for it */
    bool held;               /* its joiners are ready, and connecting waits until it is accepted */
    bool urgent;             /* for hosts that go: it waits for no interval */
    char *hosts;             /* where joiners may be started; owned; NULL: anywhere */
};

#endif
