/* The coordinator's thread, from its start to its end: see coordinator.h. */
#include "runtime/coordinator/coordinator.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/coordinator/arrivals.h"
#include "runtime/coordinator/due.h"
#include "runtime/coordinator/queue.h"
#include "runtime/coordinator/rollcall.h"
#include "runtime/coordinator/state.h"
#include "runtime/member/member.h"

double wall_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- Sending -------------------------------------------------------------- */

void send_to(struct coordinator *c, int process, cJSON *message)
{
    c->config.ops->send(c->config.context, process, message);
    cJSON_Delete(message);
}

void send_to_world(struct coordinator *c, cJSON *message)
{
    for (int r = 0; r < c->size; r++)
        c->config.ops->send(c->config.context, c->world[r], message);
    cJSON_Delete(message);
}

void answer(struct coordinator *c, void **handle, cJSON *reply)
{
    if (*handle)
        c->config.ops->answer(c->config.context, *handle, reply);
    *handle = NULL;
    cJSON_Delete(reply);
}

cJSON *refusal(const char *code, const char *reason)
{
    cJSON *reply = cJSON_CreateObject();
    cJSON_AddBoolToObject(reply, "ok", 0);
    cJSON_AddStringToObject(reply, "code", code);
    cJSON_AddStringToObject(reply, "reason", reason);
    return reply;
}

/* ---- The thread ----------------------------------------------------------- */

/* Processes that still run something of the program though it has ended. */
static int count_stuck(const struct coordinator *c)
{
    int stuck = 0;
    for (int p = 0; p < c->process_count; p++) {
        enum process_state state = c->processes[p].state;
        stuck += c->processes[p].here && (state == PROCESS_RETURNING || state == PROCESS_LEAVING);
    }
    if (c->config.backend->busy)
        stuck += c->config.backend->busy();
    return stuck;
}

static void drain(struct coordinator *c)
{
    for (struct event *event; (event = queue_take(c));)
        arrivals_take(c, event);
}

/* Waits for something to arrive; a backend that has launches to look after is asked when to look again. */
static void look_and_wait(struct coordinator *c, double seconds)
{
    double look = c->config.backend->tick ? c->config.backend->tick(c) : seconds;
    queue_wait(c, look < seconds ? look : seconds);
}

static void *coordinator_main(void *argument)
{
    struct coordinator *c = argument;
    while (!c->finished) {
        look_and_wait(c, due_wait(c));
        drain(c);
        due_advance(c);
    }
    double deadline = monotonic_seconds() + c->config.finish_timeout;
    while (count_stuck(c) && monotonic_seconds() < deadline) {
        look_and_wait(c, deadline - monotonic_seconds());
        due_check_signals(c);
        drain(c);
    }
    drain(c);
    return NULL;
}

/* ---- Start and end -------------------------------------------------------- */

static void coordinator_free(struct coordinator *c)
{
    cJSON_Delete(c->deferred);
    for (int p = 0; c->processes && p < c->process_count; p++) {
        rollcall_forget(&c->processes[p]);
        cJSON_Delete(c->processes[p].place);
    }
    free(c->processes);
    free(c->world);
    free(c->job);
    free(c->path);
    sem_destroy(&c->wake);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

int add_processes(struct coordinator *c, int count)
{
    int first = c->process_count;
    size_t total = (size_t)first + (size_t)count;
    struct process *processes = realloc(c->processes, total * sizeof *processes);
    if (processes)
        c->processes = processes;
    int *ranks = realloc(c->world, total * sizeof *ranks);
    if (ranks)
        c->world = ranks;
    if (!processes || !ranks)
        return -1;
    for (int p = first; p < first + count; p++)
        c->processes[p] = (struct process){.state = PROCESS_JOINING, .rank = -1};
    c->process_count = (int)total;
    return first;
}

struct coordinator *coordinator_start(const struct coordinator_config *config)
{
    struct coordinator *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->config = *config;
    pthread_mutex_init(&c->lock, NULL);
    sem_init(&c->wake, 0, 0);
    c->job = strdup(config->job);
    c->path = strdup(config->path);
    c->processes = calloc((size_t)config->processes, sizeof *c->processes);
    c->world = calloc((size_t)config->processes, sizeof *c->world);
    c->process_count = config->processes;
    if (!c->job || !c->path || !c->processes || !c->world)
        goto fail;
    for (int i = 0; config->rollcall && i < config->rollcall->count; i++)
        c->stops.places[c->stops.count++].where = config->rollcall->breaks[i];
    c->size = config->size;
    for (int p = 0; p < config->processes; p++) {
        c->processes[p].state = p < config->size ? PROCESS_RUNNING : PROCESS_STANDBY;
        c->processes[p].rank = p < config->size ? p : -1;
        c->world[p] = p;
    }
    c->started = wall_seconds();
    c->position.pc = -1;
    c->last_commit = -1e9;
    c->dumping = -1;
    c->mtct = -1;
    if (pthread_create(&c->thread, NULL, coordinator_main, c))
        goto fail;
    return c;
fail:
    coordinator_free(c);
    return NULL;
}

int coordinator_wait(struct coordinator *c)
{
    pthread_join(c->thread, NULL);
    return count_stuck(c);
}

const char *coordinator_backend_name(const struct coordinator *c)
{
    return c->config.backend->name;
}

void coordinator_destroy(struct coordinator *c)
{
    drain(c);
    coordinator_free(c);
}
