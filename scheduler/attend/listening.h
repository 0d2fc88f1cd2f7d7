/* The socket in the job's directory, at which daemons connect. Only processes of the same user are heard. */
#ifndef SCHEDULER_ATTEND_LISTENING_H
#define SCHEDULER_ATTEND_LISTENING_H

#include "runtime/base/error.h"
#include "scheduler/epoprm/listener.h"

struct listening {
    struct listener listener;
    char *path;
    void (*take)(void *context, int fd);
    void *context;
};

/* `to` gets each connection. A socket of an attendant before is replaced. */
int listening_open(struct listening *listening, struct loop *loop, const char *directory,
                   void (*to)(void *context, int fd), void *context, struct error *error);
void listening_close(struct listening *listening);

#endif
