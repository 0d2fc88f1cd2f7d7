/* SIGXFSZ: see limit.h. The signal comes to the thread that writes. */
#include "runtime/checkpoint/limit.h"

#include <pthread.h>
#include <time.h>

static void only_limit(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGXFSZ);
}

static bool is_pending(void)
{
    sigset_t pending;
    return !sigpending(&pending) && sigismember(&pending, SIGXFSZ) == 1;
}

struct limit_before limit_hold(void)
{
    sigset_t set;
    struct limit_before before = {.pending = is_pending()};
    only_limit(&set);
    pthread_sigmask(SIG_BLOCK, &set, &before.mask);
    return before;
}

void limit_release(const struct limit_before *before)
{
    sigset_t set;
    const struct timespec now = {0};
    only_limit(&set);
    while (!before->pending && is_pending() && sigtimedwait(&set, NULL, &now) == SIGXFSZ)
        continue;
    pthread_sigmask(SIG_SETMASK, &before->mask, NULL);
}
