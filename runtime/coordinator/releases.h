/*
 * Releases that cannot be carried out at once: requests that came while another adaptation was pending, and hosts
 * that were told to end by SIGTERM. What has gathered when the pending adaptation is through becomes one.
 */
#ifndef EPOP_COORDINATOR_RELEASES_H
#define EPOP_COORDINATOR_RELEASES_H

#include <stdbool.h>

#include "runtime/base/host.h"
#include "runtime/base/timers.h"
#include "runtime/wire/messages.h"

struct coordinator;
struct release;

struct releases {
    struct release *first; /* in the order of their coming; owned */
    bool posted;           /* it is on its way that they are looked at */
    bool said;             /* that the hosts which were told to end cannot leave yet */
    struct timer again;    /* set: these are not tried before */
};

/* Takes a request that only releases, if it has to be taken here: something is pending, or it ends that. Then the
 * request's answer comes from here. */
bool releases_take(struct coordinator *c, void *handle, const struct request_resize *request);

/* How many wait. */
int releases_count(const struct coordinator *c);

/* A joined process was told to end, and its host with it. */
void releases_told(struct coordinator *c, int process);
/* Is the pending adaptation for such hosts? */
bool releases_must(const struct coordinator *c);

/* The event RELEASES: carries out those that wait, if they can be now. */
void releases_carry_out(struct coordinator *c);

/* All that wait hear why nothing comes of it. */
void releases_end(struct coordinator *c, const char *code, const char *reason);

#endif
