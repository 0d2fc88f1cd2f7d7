/* The daemon's one thread: it waits for descriptors and timers, and calls who asked for them. */
#ifndef SCHEDULER_EPOPRM_LOOP_H
#define SCHEDULER_EPOPRM_LOOP_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/base/error.h"
#include "runtime/base/timers.h"

struct watched {
    int fd;       /* -1: not watched */
    short events; /* of poll(); may be changed at any time */
    void (*ready)(void *context, short events);
    void *context;
};

struct loop {
    struct timers timers; /* monotonic */
    struct watched **items;
    size_t count, room;
    bool over; /* set: loop_run returns */
};

void loop_init(struct loop *loop);
void loop_free(struct loop *loop);

/* The structure is the caller's, and stays where it is until loop_drop, which may be called from any function that the
 * loop calls. -1: no memory. */
int loop_add(struct loop *loop, struct watched *watched);
void loop_drop(struct loop *loop, struct watched *watched);

/* Until `over`. `between`, if not NULL, is called each time before it waits. -1: poll failed. */
int loop_run(struct loop *loop, void (*between)(void *context), void *context, struct error *error);

#endif
