/* The coordinator's thread, from its start to its end, and the table of its parts. */
#include "runtime/coordinator/coordinator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/base/thread.h"
#include "runtime/coordinator/adaptation.h"
#include "runtime/coordinator/agreement.h"
#include "runtime/coordinator/arrivals.h"
#include "runtime/coordinator/changes.h"
#include "runtime/coordinator/checkpoint.h"
#include "runtime/coordinator/departures.h"
#include "runtime/coordinator/events.h"
#include "runtime/coordinator/liveness.h"
#include "runtime/coordinator/part.h"
#include "runtime/coordinator/position.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/progress.h"
#include "runtime/coordinator/releases.h"
#include "runtime/coordinator/replies.h"
#include "runtime/coordinator/requests.h"
#include "runtime/coordinator/state.h"
#include "runtime/wire/messages.h"

#define LONGEST_WAIT 3600 /* seconds */
#define RANKS_LIMIT  10   /* seconds, for ranks to go when the program has ended */

/* In the order in which they advance: what stops everything else first; process sets answer before a window holds all
 * decisions; what an adaptation that is called off hands to departures is there before these give up. */
static const struct part *const parts[] = {
    &position_part,   &debugging_part, &liveness_part, &inquiries_part,  &sets_part,       &agreement_part,
    &adaptation_part, &resize_part,    &releases_part, &departures_part, &checkpoint_part, &stop_part,
    &progress_part,   &survey_part,    &measure_part,  &balance_part,
};

/* For each part that has the call. */
#define EACH_PART(call, ...)                                                                                           \
    do {                                                                                                               \
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)                                                      \
            if (parts[i]->call)                                                                                        \
                parts[i]->call(__VA_ARGS__);                                                                           \
    } while (0)

/* ---- The end ------------------------------------------------------------------------------------- */

/* But for those that were called off and may never come, and those that have a number, and are not started: the end of
 * the program forestalls that. */
static bool all_are_attached(const struct coordinator *c, bool in_time)
{
    bool to_start = c->adaptations.pending && !adaptation_pending(c)->started;
    for (int p = 0; p < c->processes.count; p++) {
        enum process_state state = process_at(c, p)->state;
        bool comes =
            state != PROCESS_GONE && (in_time || state != PROCESS_RETURNING) && !(to_start && state == PROCESS_JOINING);
        if (!process_at(c, p)->attached && comes)
            return false;
    }
    return true;
}

/* A process that is not attached yet would not hear of the end, and find nobody to attach to. */
static bool may_finish(struct coordinator *c)
{
    struct ending *e = &c->ending;
    if (!processes_all_ended(c))
        return false;
    if (!e->begun)
        timers_set(&c->timers, &e->limit, c->config.finish_timeout);
    e->begun = true;
    return all_are_attached(c, e->limit.set);
}

static void finish(struct coordinator *c)
{
    c->ending.finished = true;
    EACH_PART(end, c, "the program has ended");
    int status = c->config.ops->ended ? c->config.ops->ended(c->config.context, c->stop.sent ? c->stop.by : NULL) : 0;
    if (!status && c->measure.unwritten)
        status = 1;
    publish_event(c, "finished", NULL, NULL);
    for (int p = 0; p < c->processes.count; p++) {
        cJSON *message = json_message(ORDER(finish));
        cJSON_AddNumberToObject(message, "status", status);
        processes_send(c, p, message);
    }
}

/* ---- The thread ---------------------------------------------------------------------------------- */

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
        EACH_PART(abandoned, c, event->handle);
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
    if (adaptation_take_committed(c))
        EACH_PART(new_world, c);
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

/* When no part has a reason to wait: the end, for which a checkpoint is waited for that is still being written, or the
 * next agreement. */
static void advance(struct coordinator *c)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i]->advance && !parts[i]->advance(c))
            return;
    if (processes_all_ended(c) && behind_holds_end(c))
        return;
    if (may_finish(c))
        finish(c);
    else
        agreement_advance(c);
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

/* ---- Any thread ---------------------------------------------------------------------------------- */

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

/* ---- Start and end ------------------------------------------------------------------------------- */

static void coordinator_free(struct coordinator *c)
{
    EACH_PART(destroy, c);
    changes_end(c);
    processes_destroy(&c->processes);
    events_destroy(&c->events);
    free(c->job);
    free(c->path);
    cJSON_Delete(c->arguments);
    free(c);
}

static void init(struct coordinator *c)
{
    timers_init(&c->timers, monotonic_seconds);
    timer_init(&c->ending.limit, NULL, c, NULL);
    events_init(&c->events);
    position_init(c, carry_out);
    EACH_PART(init, c);
}

struct coordinator *coordinator_start(const struct coordinator_config *config)
{
    struct coordinator *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->config = *config;
    c->started = wall_seconds();
    if (config->backend->ways)
        c->ways = config->backend->ways();
    init(c);
    c->job = strdup(config->job);
    c->path = strdup(config->path);
    c->arguments = json_arguments(config->arguments);
    for (int i = 0; i < config->speed_count; i++)
        speeds_add(&c->speeds, &config->speeds[i]);
    if (!c->job || !c->path || !c->arguments || processes_init(&c->processes, config->processes, config->size) ||
        changes_begin(c))
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
