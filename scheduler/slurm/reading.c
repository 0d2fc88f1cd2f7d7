/* The thread that reads Slurm: see reading.h. */
#include "scheduler/slurm/reading.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/thread.h"

static const double period_module = 0.1, period_commands = 0.5, period_away = 1; /* seconds */

static void tell(const struct reading *reading)
{
    uint64_t one = 1;
    if (write(reading->news, &one, sizeof one) < 0)
        return; /* it is readable already */
}

static void rest(struct reading *reading)
{
    double period = reading->away ? period_away : reading->reader.module ? period_module : period_commands;
    struct timespec until = clock_in(CLOCK_MONOTONIC, period);
    while (!reading->hurry && !reading->over)
        if (pthread_cond_clockwait(&reading->poked, &reading->lock, CLOCK_MONOTONIC, &until))
            break;
    reading->owed = reading->hurry;
    reading->hurry = false;
}

static void take(struct reading *reading, int result, struct slurm_view *view, double begun, const struct error *why)
{
    bool was_away = reading->away;
    reading->away = result < 0;
    if (result < 0)
        reading->why = *why;
    else
        reading->begun = begun;
    if (!result) {
        if (reading->fresh)
            view_free(reading->fresh);
        free(reading->fresh);
        reading->fresh = view;
    } else {
        free(view);
    }
    if (!result || was_away != reading->away || reading->owed)
        tell(reading);
}

static void *run(void *argument)
{
    struct reading *reading = argument;
    bool again = true;
    pthread_mutex_lock(&reading->lock);
    while (!reading->over) {
        struct slurm_view *view = calloc(1, sizeof *view);
        struct error why;
        double begun = monotonic_seconds();
        pthread_mutex_unlock(&reading->lock);
        int result = view ? queue_reader_read(&reading->reader, again, view, &why) : error_memory(&why);
        pthread_mutex_lock(&reading->lock);
        again = result < 0;
        take(reading, result, view, begun, &why);
        rest(reading);
    }
    pthread_mutex_unlock(&reading->lock);
    return NULL;
}

int reading_begin(struct reading *reading, const struct queue_reader *reader, struct error *error)
{
    *reading = (struct reading){.reader = *reader, .news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    pthread_mutex_init(&reading->lock, NULL);
    pthread_cond_init(&reading->poked, NULL);
    int failed = reading->news < 0 ? errno : thread_start(&reading->thread, run, reading);
    return failed ? error_set(error, ERROR_FAILED, "reading Slurm: %s", strerror(failed)) : 0;
}

void reading_end(struct reading *reading)
{
    struct timespec until = clock_in(CLOCK_MONOTONIC, 2);
    pthread_mutex_lock(&reading->lock);
    reading->over = true;
    pthread_cond_signal(&reading->poked);
    pthread_mutex_unlock(&reading->lock);
    if (pthread_clockjoin_np(reading->thread, NULL, CLOCK_MONOTONIC, &until))
        pthread_detach(reading->thread); /* the process ends now */
}

void reading_hurry(struct reading *reading)
{
    pthread_mutex_lock(&reading->lock);
    reading->hurry = true;
    pthread_cond_signal(&reading->poked);
    pthread_mutex_unlock(&reading->lock);
}

struct slurm_view *reading_take(struct reading *reading, double *asked, bool *away, struct error *why)
{
    uint64_t count;
    if (read(reading->news, &count, sizeof count) < 0)
        count = 0;
    pthread_mutex_lock(&reading->lock);
    struct slurm_view *view = reading->fresh;
    reading->fresh = NULL;
    *asked = reading->begun;
    *away = reading->away;
    if (reading->away)
        *why = reading->why;
    pthread_mutex_unlock(&reading->lock);
    return view;
}
