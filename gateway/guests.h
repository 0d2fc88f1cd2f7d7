/*
 * Who may attach. PMIx tells the user that a tool says it is; the kernel knows whose sockets are connected to our port.
 * A connection of another user, or one whose process has closed it again, lets nobody in as long as it is there.
 */
#ifndef EPOP_GATEWAY_GUESTS_H
#define EPOP_GATEWAY_GUESTS_H

#include <stdbool.h>

/* The server listens at that port of 127.0.0.1. */
void guests_port(int port);

/* Nobody else is there. May one more come in? Each that did so before has a connection of its own. */
bool guests_admit(void);

struct guests_seen {
    bool guest;    /* one that was let in */
    bool stranger; /* one that will not be */
};
struct guests_seen guests_look(void);

#endif
