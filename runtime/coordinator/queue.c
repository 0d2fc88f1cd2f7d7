/* The coordinator's queue: see queue.h. Posting is the part of coordinator.h that any thread may call. */
#include "runtime/coordinator/queue.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

static void post(struct coordinator *c, struct event event)
{
    struct event *copy = malloc(sizeof *copy);
    if (!copy) {
        cJSON_Delete(event.json);
        return;
    }
    *copy = event;
    pthread_mutex_lock(&c->lock);
    if (c->last)
        c->last->next = copy;
    else
        c->first = copy;
    c->last = copy;
    pthread_mutex_unlock(&c->lock);
    sem_post(&c->wake);
}

void coordinator_message(struct coordinator *c, int process, const cJSON *message)
{
    post(c, (struct event){.type = EVENT_MESSAGE, .process = process, .json = cJSON_Duplicate(message, 1)});
}

void coordinator_request(struct coordinator *c, void *handle, const cJSON *request)
{
    post(c, (struct event){.type = EVENT_REQUEST, .handle = handle, .json = cJSON_Duplicate(request, 1)});
}

void coordinator_abandoned(struct coordinator *c, void *handle)
{
    post(c, (struct event){.type = EVENT_ABANDONED, .handle = handle});
}

void coordinator_lost(struct coordinator *c, int process)
{
    post(c, (struct event){.type = EVENT_LOST, .process = process});
}

void coordinator_post_backend(struct coordinator *c, void *handle, int status)
{
    post(c, (struct event){.type = EVENT_BACKEND, .handle = handle, .process = status});
}

void coordinator_terminate(struct coordinator *c)
{
    c->terminations++;
    sem_post(&c->wake);
}

void coordinator_interrupt(struct coordinator *c)
{
    c->interrupted = true;
    sem_post(&c->wake);
}

struct event *queue_take(struct coordinator *c)
{
    pthread_mutex_lock(&c->lock);
    struct event *event = c->first;
    if (event) {
        c->first = event->next;
        if (!c->first)
            c->last = NULL;
    }
    pthread_mutex_unlock(&c->lock);
    return event;
}

void queue_wait(struct coordinator *c, double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)seconds;
    until.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (sem_timedwait(&c->wake, &until) && errno == EINTR)
        ;
}
