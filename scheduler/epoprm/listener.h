/* A listening socket on a loop: takes those who come, and rests for a while where the process has no descriptor left.
 */
#ifndef SCHEDULER_EPOPRM_LISTENER_H
#define SCHEDULER_EPOPRM_LISTENER_H

#include "scheduler/epoprm/loop.h"

struct listener {
    struct loop *loop;
    struct watched watched;
    struct timer rest;
    void (*take)(void *context, int fd); /* non-blocking, closed on exec; its own from then on */
    void *context;
};

/* The descriptor, non-blocking, stays the caller's to close. -1: no memory. */
int listener_begin(struct listener *listener, struct loop *loop, int fd, void (*take)(void *context, int fd),
                   void *context);
void listener_end(struct listener *listener);

#endif
