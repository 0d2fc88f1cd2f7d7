/* The coordinator's thread, from its start to its end: see coordinator.h. */
#include "runtime/coordinator/coordinator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/thread.h"
#include "runtime/coordinator/adaptation.h"
#include "runtime/coordinator/advance.h"
#include "runtime/coordinator/agreement.h"
#include "runtime/coordinator/arrivals.h"
#include "runtime/coordinator/behind.h"
#include "runtime/coordinator/changes.h"
#include "runtime/coordinator/checkpoint.h"
#include "runtime/coordinator/departures.h"
#include "runtime/coordinator/dump.h"
#include "runtime/coordinator/events.h"
#include "runtime/coordinator/fatal.h"
#include "runtime/coordinator/inquiries.h"
#include "runtime/coordinator/losses.h"
#include "runtime/coordinator/measure.h"
#include "runtime/coordinator/position.h"
#include "runtime/coordinator/preconnect.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/progress.h"
#include "runtime/coordinator/releases.h"
#include "runtime/coordinator/requests.h"
#include "runtime/coordinator/rollcall.h"
#include "runtime/coordinator/silence.h"
#include "runtime/coordinator/slurm_jobs.h"
#include "runtime/coordinator/speeds.h"
#include "runtime/coordinator/state.h"
#include "runtime/coordinator/stop.h"
#include "runtime/coordinator/stops.h"
#include "runtime/coordinator/stuck.h"
#include "runtime/coordinator/survey.h"
#include "runtime/coordinator/watchdog.h"
#include "runtime/wire/messages.h"

#define LONGEST_WAIT 3600 /* seconds */
#define RANKS_LIMIT  10   /* seconds, for ranks to go when the program has ended */

/* ---- The thread ----------------------------------------------------------- */

/* Launches whose launcher has not ended. */
static int count_busy(const struct coordinator *c)
{
    return c->config.backend->busy ? c->config.backend->busy() : 0;
}

/* Waits for something to arrive; a backend that has launches to look after is asked when to look again. */
static void look_and_wait(struct coordinator *c, double seconds)
{
    double look = c->config.backend->tick ? c->config.backend->tick(c) : seconds;
    events_wait(&c->events, look < seconds ? look : seconds);
}

/* Those that wait for rank 0's position are carried out by and by. */
static void carry_out(struct coordinator *c, struct event *event)
{
    switch (event->type) {
    case EVENT_MESSAGE:
        if (event->json)
            arrivals_message(c, event->processes ? event->processes : &event->process, event->count, event->json);
        else
            fatal_memory(c);
        break;
    case EVENT_REQUEST:
        requests_take(c, event->handle, event->json);
        break;
    case EVENT_ABANDONED:
        requests_abandoned(c, event->handle);
        break;
    case EVENT_LOST:
        losses_take(c, event->process);
        break;
    case EVENT_BACKEND:
        c->config.backend->event(c, event->handle, event->process);
        break;
    case EVENT_CLOSED:
        departures_closed(c, event->process);
        behind_lost(c, event->process);
        break;
    case EVENT_RELEASES:
        releases_carry_out(c);
        break;
    }
    events_free(&c->events, event);
    advance_world(c);
}

static void take(struct coordinator *c, struct event *event)
{
    enum request_wait waits = WAITS_NOT;
    if (event->type == EVENT_REQUEST)
        waits = requests_waits(c, event->json);
    else if (event->type == EVENT_RELEASES && !c->ending.finished)
        waits = WAITS_FOR_POSITION;
    else if (event->type == EVENT_MESSAGE && arrivals_waits(c, event->json))
        waits = WAITS_FOR_POSITION;
    if (waits == WAITS_NOT)
        carry_out(c, event);
    else
        position_wait(c, event, waits == WAITS_FOR_PROGRESS);
}

static void drain(struct coordinator *c)
{
    for (struct event *event; (event = events_take(&c->events));)
        take(c, event);
    if (c->events.missed)
        fatal_memory(c);
}

/* The launcher's exit status would be a matter of chance if a signal just killed the processes. */
static void check_signals(struct coordinator *c)
{
    if (c->events.interrupted)
        fatal(c, "interrupted (SIGINT)");
    else if (c->events.terminations > 1)
        fatal(c, "told to end for a second time (SIGTERM): ends at once");
    else if (c->events.terminations)
        requests_stop(c, "SIGTERM");
}

/* The program has ended: until all other processes have gone. Ranks may have something to write first. */
static void wait_for_all(struct coordinator *c)
{
    double begin = monotonic_seconds(), limit = c->config.finish_timeout, now = begin;
    double of_ranks = limit < RANKS_LIMIT ? RANKS_LIMIT : limit;
    while ((now < begin + limit && (departures_missed(c, false) || count_busy(c))) ||
           (now < begin + of_ranks && departures_missed(c, true))) {
        look_and_wait(c, begin + (now < begin + limit ? limit : of_ranks) - now);
        check_signals(c);
        drain(c);
        now = monotonic_seconds();
    }
    drain(c);
}

static void *coordinator_main(void *argument)
{
    struct coordinator *c = argument;
    while (!c->ending.finished) {
        look_and_wait(c, timers_next(&c->timers, LONGEST_WAIT));
        drain(c);
        check_signals(c);
        timers_run(&c->timers);
        advance(c);
    }
    wait_for_all(c);
    return NULL;
}

/* ---- Any thread ----------------------------------------------------------- */

void coordinator_messages(struct coordinator *c, const int *processes, int count, const cJSON *message)
{
    struct event event = {
        .type = EVENT_MESSAGE, .process = processes[0], .count = count, .json = cJSON_Duplicate(message, 1)};
    size_t size = sizeof *processes * (size_t)count;
    event.processes = count > 1 ? malloc(size) : NULL;
    if (event.processes) {
        memcpy(event.processes, processes, size);
    } else if (count > 1) {
        cJSON_Delete(event.json);
        event.json = NULL;
    }
    events_post(&c->events, event);
}

void coordinator_message(struct coordinator *c, int process, const cJSON *message)
{
    coordinator_messages(c, &process, 1, message);
}

void coordinator_request(struct coordinator *c, void *handle, const cJSON *request)
{
    events_post(&c->events,
                (struct event){.type = EVENT_REQUEST, .handle = handle, .json = cJSON_Duplicate(request, 1)});
}

void coordinator_abandoned(struct coordinator *c, void *handle)
{
    events_post(&c->events, (struct event){.type = EVENT_ABANDONED, .handle = handle});
}

void coordinator_lost(struct coordinator *c, int process)
{
    events_post(&c->events, (struct event){.type = EVENT_LOST, .process = process});
}

void coordinator_closed(struct coordinator *c, int process)
{
    events_post(&c->events, (struct event){.type = EVENT_CLOSED, .process = process});
}

void coordinator_terminate(struct coordinator *c)
{
    events_terminate(&c->events);
}

void coordinator_interrupt(struct coordinator *c)
{
    events_interrupt(&c->events);
}

/* ---- Start and end -------------------------------------------------------- */

static void coordinator_free(struct coordinator *c)
{
    message_free(&c->requests.deferred);
    inquiries_destroy(c);
    changes_end(c);
    cJSON_Delete(c->ahead.places);
    measure_destroy(c);
    checkpoint_destroy(c);
    processes_destroy(&c->processes);
    speeds_destroy(&c->speeds);
    events_destroy(&c->events);
    slurm_jobs_destroy(&c->slurm_jobs);
    free(c->job);
    free(c->path);
    free(c);
}

static void init(struct coordinator *c)
{
    timers_init(&c->timers, monotonic_seconds);
    events_init(&c->events);
    position_init(c, carry_out);
    adaptation_init(c);
    preconnect_init(c);
    agreement_init(c);
    stops_init(c);
    rollcall_init(c);
    silence_init(c);
    stuck_init(c);
    survey_init(c);
    stop_init(c);
    measure_init(c);
    watchdog_init(c);
    progress_init(c);
    dump_init(c);
    releases_init(c);
    departures_init(c);
    checkpoint_init(c);
    inquiries_init(c);
    advance_init(c);
}

struct coordinator *coordinator_start(const struct coordinator_config *config)
{
    struct coordinator *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->config = *config;
    c->started = wall_seconds();
    init(c);
    c->job = strdup(config->job);
    c->path = strdup(config->path);
    if (!c->job || !c->path || processes_init(&c->processes, config->processes, config->size) || changes_begin(c))
        goto fail;
    if (thread_start(&c->thread, coordinator_main, c))
        goto fail;
    return c;
fail:
    coordinator_free(c);
    return NULL;
}

bool coordinator_wait(struct coordinator *c, char *stuck, size_t size)
{
    pthread_join(c->thread, NULL);
    departures_describe_missed(c, stuck, size);
    if (!stuck[0] && count_busy(c))
        snprintf(stuck, size, "a launcher of joining processes");
    return !stuck[0];
}

const char *coordinator_backend_name(const struct coordinator *c)
{
    return c->config.backend->name;
}

const char *coordinator_job(const struct coordinator *c)
{
    return c->job;
}

void coordinator_destroy(struct coordinator *c)
{
    drain(c);
    coordinator_free(c);
}
