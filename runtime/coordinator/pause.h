/* That epopctl wants the ranks to hold, and how far that is. It is decided at a probe on which they agree
 * (agreement.h). */
#ifndef EPOP_COORDINATOR_PAUSE_H
#define EPOP_COORDINATOR_PAUSE_H

#include <stdbool.h>

#include "runtime/member/plan.h"

struct coordinator;

struct pause {
    bool asked, on; /* asked stays while it is on */
    int times;      /* that it was over, or withdrawn */
    void *handle;   /* who waits for it; NULL: nobody */
    double since;   /* monotonic */
};

/* Does it want the ranks to come together? */
bool pause_is_wanted(const struct coordinator *c);

void pause_ask(struct coordinator *c, void *handle);
/* All ranks hold there. */
void pause_reached(struct coordinator *c, const struct position *at);
/* The ranks go on, or do not come together: whoever waits hears why. */
void pause_end(struct coordinator *c, const char *code, const char *reason);
void pause_abandoned(struct coordinator *c, const void *handle);

#endif
