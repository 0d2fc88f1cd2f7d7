/*
 * Connecting the ranks with the joining ones before they stand still, where the backend can do that beside the program:
 * the last step of preparing an adaptation (adaptation.h), to which it says how that went.
 */
#ifndef EPOP_COORDINATOR_PRECONNECT_H
#define EPOP_COORDINATOR_PRECONNECT_H

#include <stdbool.h>

#include "runtime/base/timers.h"
#include "runtime/wire/messages.h"

struct adaptation;
struct coordinator;

struct preconnect {
    bool off; /* it failed in this world, and is not tried again in it */
    struct timer limit;
};

void preconnect_init(struct coordinator *c);
/* Everybody is ready: connects ahead of the window if that can be; false if not. */
bool preconnect_start(struct coordinator *c);
/* Connections are being made. */
bool preconnect_goes_on(const struct coordinator *c);
void preconnect_linked(struct coordinator *c, int process, const struct report_linked *report);
void preconnect_connected(struct coordinator *c, const char *failure);
/* The adaptation is off. */
void preconnect_off(struct coordinator *c, const struct adaptation *a);
void preconnect_new_world(struct coordinator *c);

#endif
