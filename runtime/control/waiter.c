/*
 * One thread waits, with a time limit, for something that PMIx's progress thread reports. Either side may be
 * through first (a report can come after the time limit), so the object lives until both are.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/control/control_internal.h"

struct control_waiter {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int holders;
    int reported, interrupted;
    pmix_status_t status;
    char *text;
};

control_waiter_t *control_waiter_new(void)
{
    control_waiter_t *waiter = calloc(1, sizeof *waiter);
    pthread_condattr_t attributes;

    if (waiter == NULL)
        return NULL;
    pthread_mutex_init(&waiter->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&waiter->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    waiter->holders = 2;
    return waiter;
}

void control_waiter_drop(control_waiter_t *waiter)
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

void control_waiter_report(control_waiter_t *waiter, pmix_status_t status, const char *text)
{
    pthread_mutex_lock(&waiter->lock);
    waiter->reported = 1;
    waiter->status = status;
    waiter->text = text == NULL ? NULL : strdup(text);
    pthread_cond_broadcast(&waiter->changed);
    pthread_mutex_unlock(&waiter->lock);
    control_waiter_drop(waiter);
}

void control_waiter_interrupt(control_waiter_t *waiter)
{
    pthread_mutex_lock(&waiter->lock);
    waiter->interrupted = 1;
    pthread_cond_broadcast(&waiter->changed);
    pthread_mutex_unlock(&waiter->lock);
}

static struct timespec deadline_after(int timeout_ms)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += timeout_ms / 1000;
    at.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    if (at.tv_nsec >= 1000000000) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000;
    }
    return at;
}

int control_waiter_wait(control_waiter_t *waiter, int timeout_ms, pmix_status_t *status, char **text)
{
    struct timespec deadline = deadline_after(timeout_ms);
    int result = 0;

    pthread_mutex_lock(&waiter->lock);
    while (!waiter->reported && !waiter->interrupted && result != ETIMEDOUT)
        result = pthread_cond_timedwait(&waiter->changed, &waiter->lock, &deadline);
    int through = waiter->reported || waiter->interrupted;
    if (through) {
        *status = waiter->reported ? waiter->status : PMIX_ERR_LOST_CONNECTION;
        if (text != NULL) {
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
    if (release != NULL)
        release(release_cbdata);
}
