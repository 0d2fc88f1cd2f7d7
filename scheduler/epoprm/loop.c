/* One thread, poll and timers: see loop.h. */
#include "scheduler/epoprm/loop.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/base/clock.h"

static const double longest = 60; /* seconds */

void loop_init(struct loop *loop)
{
    *loop = (struct loop){0};
    timers_init(&loop->timers, monotonic_seconds);
}

void loop_free(struct loop *loop)
{
    free(loop->items);
    loop->items = NULL;
    loop->count = loop->room = 0;
}

int loop_add(struct loop *loop, struct watched *watched)
{
    if (array_reserve(&loop->items, &loop->room, loop->count + 1, sizeof *loop->items))
        return -1;
    loop->items[loop->count++] = watched;
    return 0;
}

/* Its place stays until the round is over: others must not move meanwhile. */
void loop_drop(struct loop *loop, struct watched *watched)
{
    for (size_t i = 0; i < loop->count; i++)
        if (loop->items[i] == watched)
            loop->items[i] = NULL;
}

static void close_gaps(struct loop *loop)
{
    size_t kept = 0;
    for (size_t i = 0; i < loop->count; i++)
        if (loop->items[i])
            loop->items[kept++] = loop->items[i];
    loop->count = kept;
}

static void fill(const struct loop *loop, struct pollfd *fds)
{
    for (size_t i = 0; i < loop->count; i++)
        fds[i] = (struct pollfd){.fd = loop->items[i]->fd, .events = loop->items[i]->events};
}

/* Those that are added meanwhile have their turn in the next round. */
static void call(struct loop *loop, const struct pollfd *fds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct watched *watched = loop->items[i];
        if (fds[i].revents && watched && watched->fd == fds[i].fd)
            watched->ready(watched->context, fds[i].revents);
    }
}

static int turn(struct loop *loop, struct pollfd *fds, struct error *error)
{
    size_t count = loop->count;
    fill(loop, fds);
    int ready = poll(fds, (nfds_t)count, (int)ceil(timers_next(&loop->timers, longest) * 1000));
    if (ready < 0 && errno != EINTR)
        return error_set(error, ERROR_FAILED, "waiting for requests: %s", strerror(errno));
    if (ready > 0)
        call(loop, fds, count);
    timers_run(&loop->timers);
    return 0;
}

int loop_run(struct loop *loop, void (*between)(void *context), void *context, struct error *error)
{
    struct pollfd *fds = NULL;
    size_t room = 0;
    int failed = 0;
    while (!loop->over && !failed) {
        if (between)
            between(context);
        close_gaps(loop);
        if (array_reserve(&fds, &room, loop->count + 1, sizeof *fds))
            failed = error_memory(error);
        else if (!loop->over)
            failed = turn(loop, fds, error);
    }
    free(fds);
    return failed;
}
