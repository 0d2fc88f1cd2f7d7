/* A listening socket: see listener.h. */
#include "scheduler/epoprm/listener.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

static const double rest = 0.1; /* seconds */

static void go_on(void *context)
{
    struct listener *listener = context;
    listener->watched.events = POLLIN;
}

/* Who cannot be taken stays in front of the door, which would be heard all the time. */
static void knock(void *context, short events)
{
    struct listener *listener = context;
    int fd;
    (void)events;
    while ((fd = accept4(listener->watched.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0)
        listener->take(listener->context, fd);
    if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
        return;
    listener->watched.events = 0;
    timers_set(&listener->loop->timers, &listener->rest, rest);
}

int listener_begin(struct listener *listener, struct loop *loop, int fd, void (*take)(void *context, int fd),
                   void *context)
{
    *listener = (struct listener){.loop = loop, .take = take, .context = context};
    listener->watched = (struct watched){.fd = fd, .events = POLLIN, .ready = knock, .context = listener};
    timer_init(&listener->rest, go_on, listener, NULL);
    return loop_add(loop, &listener->watched);
}

void listener_end(struct listener *listener)
{
    timers_cancel(&listener->loop->timers, &listener->rest);
    loop_drop(listener->loop, &listener->watched);
}
