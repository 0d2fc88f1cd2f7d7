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

/* ---- Lists of hosts ------------------------------------------------------------------------------ */

/* Lists of hosts: names with commas between them. */

/* None of them is what a launcher would take for an option. */
bool hosts_valid(const char *list);

/* The name that *at begins with, and how many processes it is to have ("n1:4"; count NULL: that is not asked for; 0:
 * not said); *at goes on to the next. False when none is left. A name that is too long is cut off. */
bool hosts_next(const char **at, char name[HOST_MAX], int *count);

/* "n1" and "n1.cluster.org" are the same host; two names with a domain are if they are equal. */
bool hosts_has(const char *list, const char *host);

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

/* That event. */
void releases_carry_out(struct coordinator *c);

/* All that wait hear why nothing comes of it. */
void releases_end(struct coordinator *c, const char *code, const char *reason);

#endif
