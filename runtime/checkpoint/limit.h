/* A file that grows beyond the process's limit (ulimit -f) is an error like others here, and no signal. */
#ifndef EPOP_CHECKPOINT_LIMIT_H
#define EPOP_CHECKPOINT_LIMIT_H

#include <signal.h>
#include <stdbool.h>

struct limit_before {
    sigset_t mask;
    bool pending;
};

/* Of the calling thread. */
struct limit_before limit_hold(void);
void limit_release(const struct limit_before *before);

#endif
