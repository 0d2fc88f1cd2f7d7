/* A checkpoint that is written while the program goes on: see storing.h. */
#include "runtime/job/storing.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/clock.h"
#include "runtime/base/thread.h"
#include "runtime/job/state.h"
#include "runtime/job/supervised.h"
#include "runtime/wire/messages.h"

static struct {
    pthread_mutex_t lock;
    pthread_cond_t over;
    bool on, complete;
    const struct store_table *store;
    struct checkpoint_behind behind;
    int number;
    uint64_t count; /* of the probe at which it was made */
} storing = {.lock = PTHREAD_MUTEX_INITIALIZER, .over = PTHREAD_COND_INITIALIZER};

static void written(void *context, const struct error *error)
{
    (void)context;
    member_stored(&job.member, storing.number, error ? error->text : NULL);
}

struct checkpoint_behind *storing_begin(const struct store_table *store, int number)
{
    pthread_mutex_lock(&storing.lock);
    while (storing.on) /* the one before is ended, which the coordinator has just been told */
        pthread_cond_wait(&storing.over, &storing.lock);
    storing.on = true;
    storing.store = store;
    storing.number = number;
    storing.count = ceiling_count(&job.member.ceiling);
    storing.behind = (struct checkpoint_behind){.listener = {written, NULL}};
    pthread_mutex_unlock(&storing.lock);
    return &storing.behind;
}

static void is_over(void)
{
    pthread_mutex_lock(&storing.lock);
    storing.on = false;
    pthread_cond_broadcast(&storing.over);
    pthread_mutex_unlock(&storing.lock);
}

void storing_called_off(void)
{
    is_over();
}

/* Process 0 tells the supervisor of a file that has its name, or is about to get it by another process. */
static void *keep(void *unused)
{
    struct error error = {0};
    int result = storing.store->settle(storing.behind.file, storing.complete, &error);
    (void)unused;
    if (!result && storing.complete && job.member.process == 0)
        supervised_saved(storing.number, storing.count);
    member_kept(&job.member, storing.number, result ? error.text : NULL);
    is_over();
    return NULL;
}

/* A file gets its name, and its directory is synced: the disk may be busy, and the control thread has to answer. */
void storing_keep(void *context, const struct order_keep *order)
{
    pthread_t thread;
    (void)context;
    pthread_mutex_lock(&storing.lock);
    bool ours = storing.on && order->number == storing.number;
    storing.complete = order->complete;
    pthread_mutex_unlock(&storing.lock);
    if (!ours)
        return;
    if (thread_start(&thread, keep, NULL))
        keep(NULL);
    else
        pthread_detach(thread);
}

void storing_end(double seconds)
{
    const struct timespec until = clock_in(CLOCK_MONOTONIC, seconds);
    int failed = 0;
    pthread_mutex_lock(&storing.lock);
    while (storing.on && !failed)
        failed = pthread_cond_clockwait(&storing.over, &storing.lock, CLOCK_MONOTONIC, &until);
    pthread_mutex_unlock(&storing.lock);
}
