/* The coordinator's queue. */
#include "runtime/coordinator/events.h"

#include <errno.h>
#include <stdlib.h>

#include "runtime/base/clock.h"
#include "runtime/coordinator/state.h"

void events_init(struct events *e)
{
    pthread_mutex_init(&e->lock, NULL);
    sem_init(&e->wake, 0, 0);
    for (int i = 0; i < EVENTS_RESERVE; i++) {
        e->reserve[i].next = e->spare;
        e->spare = &e->reserve[i];
    }
}

void events_destroy(struct events *e)
{
    sem_destroy(&e->wake);
    pthread_mutex_destroy(&e->lock);
}

static bool is_reserve(const struct events *e, const struct event *event)
{
    return event >= e->reserve && event < e->reserve + EVENTS_RESERVE;
}

/* With the lock held. */
static struct event *take_spare(struct events *e)
{
    struct event *event = e->spare;
    if (event)
        e->spare = event->next;
    return event;
}

static void append(struct events *e, struct event *event)
{
    bool asked = event->type == EVENT_REQUEST || event->type == EVENT_ABANDONED;
    struct event_queue *queue = asked ? &e->requests : &e->own;
    event->next = NULL;
    *(queue->first ? &queue->last->next : &queue->first) = event;
    queue->last = event;
}

/* With the lock held. */
static struct event_queue *next_queue(struct events *e)
{
    bool own = e->own.first && (!e->requests.first || e->in_a_row < EVENTS_IN_A_ROW);
    e->in_a_row = own && e->requests.first ? e->in_a_row + 1 : 0;
    return own ? &e->own : &e->requests;
}

/* An event that was lost unnoticed, such as the loss of a process, would be a job that hangs: then it ends. */
void events_post(struct events *e, struct event event)
{
    struct event *copy = malloc(sizeof *copy);
    pthread_mutex_lock(&e->lock);
    if (!copy)
        copy = take_spare(e);
    if (copy) {
        *copy = event;
        append(e, copy);
    } else {
        e->missed = true;
        cJSON_Delete(event.json);
        free(event.processes);
    }
    pthread_mutex_unlock(&e->lock);
    sem_post(&e->wake);
}

void events_free(struct events *e, struct event *event)
{
    cJSON_Delete(event->json);
    free(event->processes);
    if (!is_reserve(e, event)) {
        free(event);
        return;
    }
    pthread_mutex_lock(&e->lock);
    event->next = e->spare;
    e->spare = event;
    pthread_mutex_unlock(&e->lock);
}

void events_post_backend(struct coordinator *c, void *handle, int status)
{
    events_post(&c->events, (struct event){.type = EVENT_BACKEND, .handle = handle, .process = status});
}

void events_terminate(struct events *e)
{
    e->terminations++;
    sem_post(&e->wake);
}

void events_interrupt(struct events *e)
{
    e->interrupted = true;
    sem_post(&e->wake);
}

struct event *events_take(struct events *e)
{
    pthread_mutex_lock(&e->lock);
    struct event_queue *queue = next_queue(e);
    struct event *event = queue->first;
    if (event)
        queue->first = event->next;
    pthread_mutex_unlock(&e->lock);
    return event;
}

void events_wait(struct events *e, double seconds)
{
    struct timespec until = clock_in(CLOCK_MONOTONIC, seconds);
    while (sem_clockwait(&e->wake, CLOCK_MONOTONIC, &until) && errno == EINTR)
        ;
    while (!sem_trywait(&e->wake)) /* all that has come is taken at once */
        ;
}
