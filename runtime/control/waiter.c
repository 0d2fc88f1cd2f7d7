/*
 * One thread waits, with a time limit, for something that PMIx's progress thread reports. Either side may be
 * through first (a report can come after the time limit), so the object lives until both are.
 */
#include "runtime/control/waiter.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/base/clock.h"
#include "runtime/control/codec.h"

struct control_waiter {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int holders;
    bool reported, interrupted;
    pmix_status_t status;
    char *text;
};

struct control_waiter *control_waiter_new(void)
{
    struct control_waiter *waiter = calloc(1, sizeof *waiter);
    if (!waiter)
        return NULL;
    pthread_mutex_init(&waiter->lock, NULL);
    pthread_cond_init(&waiter->changed, NULL);
    waiter->holders = 2;
    return waiter;
}

void control_waiter_drop(struct control_waiter *waiter)
{
    pthread_mutex_lock(&waiter->lock);
    int left = --waiter->holders;
    pthread_mutex_unlock(&waiter->lock);
    if (left > 0)
        return;
    pthread_mutex_destroy(&waiter->lock);
    pthread_cond_destroy(&waiter->changed);
    free(waiter->text);
    free(waiter);
}

void control_waiter_report(struct control_waiter *waiter, pmix_status_t status, const char *text)
{
    pthread_mutex_lock(&waiter->lock);
    waiter->reported = true;
    waiter->status = status;
    waiter->text = text ? strdup(text) : NULL;
    pthread_cond_broadcast(&waiter->changed);
    pthread_mutex_unlock(&waiter->lock);
    control_waiter_drop(waiter);
}

void control_waiter_interrupt(struct control_waiter *waiter)
{
    pthread_mutex_lock(&waiter->lock);
    waiter->interrupted = true;
    pthread_cond_broadcast(&waiter->changed);
    pthread_mutex_unlock(&waiter->lock);
}

int control_waiter_wait(struct control_waiter *waiter, int timeout_ms, pmix_status_t *status, char **text)
{
    struct timespec deadline = clock_in(CLOCK_MONOTONIC, timeout_ms / 1e3);
    int result = 0;
    pthread_mutex_lock(&waiter->lock);
    while (!waiter->reported && !waiter->interrupted && result != ETIMEDOUT)
        result = pthread_cond_clockwait(&waiter->changed, &waiter->lock, CLOCK_MONOTONIC, &deadline);
    bool through = waiter->reported || waiter->interrupted;
    if (through) {
        *status = waiter->reported ? waiter->status : PMIX_ERR_LOST_CONNECTION;
        if (text) {
            *text = waiter->text;
            waiter->text = NULL;
        }
    }
    pthread_mutex_unlock(&waiter->lock);
    return through ? 0 : -1;
}

void control_waiter_answered(pmix_status_t status, pmix_info_t *info, size_t count, void *cbdata,
                             pmix_release_cbfunc_t release, void *release_cbdata)
{
    control_waiter_report(cbdata, status, control_info_text(info, count, CONTROL_KEY_ANSWER));
    if (release)
        release(release_cbdata);
}
