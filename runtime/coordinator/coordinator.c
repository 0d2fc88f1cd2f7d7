/* The coordinator's thread: what arrives, and when an agreement is due. See coordinator.h. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/backends/binding.h"
#include "runtime/coordinator/queue.h"
#include "runtime/coordinator/rollcall.h"
#include "runtime/coordinator/state.h"
#include "runtime/coordinator/stops.h"
#include "runtime/member/json.h"
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

/* ---- What arrives --------------------------------------------------------- */

/* All processes must run the same: a rank with another program would compute something else, unnoticed. A joiner that
 * was called off already is on its way out. */
static void check_identity(struct coordinator *c, struct process *p, const char *identity)
{
    char text[480];
    p->identified = identity != NULL;
    if (!identity || !c->identity[0] || !strcmp(identity, c->identity))
        return;
    if (p->state == PROCESS_RETURNING && c->config.backend->ends)
        return;
    snprintf(text, sizeof text, "the process with pid %d on %s is not like the others: it has %s, they have %s", p->pid,
             p->host, identity, c->identity);
    if (p->state == PROCESS_JOINING && c->adaptation)
        adaptation_drop(c, ADAPTATION_FAILED, "failed", text);
    else
        c->config.ops->fatal(c->config.context, text);
}

static int process_number(const struct coordinator *c, const struct process *p)
{
    return (int)(p - c->processes);
}

static void on_hello(struct coordinator *c, struct process *p, const cJSON *message)
{
    const char *host = json_text(message, "host"), *identity = json_text(message, "identity");
    const char *cores = json_text(message, "cores");
    snprintf(p->host, sizeof p->host, "%s", host ? host : "?");
    p->pid = json_int(message, "pid", 0);
    p->here = true;
    p->bound = cores != NULL;
    if (cores)
        binding_parse(cores, &p->cores);
    if (p == &c->processes[0])
        snprintf(c->identity, sizeof c->identity, "%s", identity ? identity : "");
    check_identity(c, p, identity);
    if (p->state == PROCESS_RETURNING) /* it came too late to hear that its joining is off */
        send_to(c, process_number(c, p), json_message("cancel"));
    adaptation_start_joiners(c);
}

/* A block failed somewhere. The first text is the one that is printed. */
static void on_failed(struct coordinator *c, const cJSON *message)
{
    const char *text = json_text(message, "text");
    c->config.ops->fatal(c->config.context, text ? text : "a process failed");
}

/* As a block that failed; but a joiner with a launch of its own is missed like any that dies. A process that dumps its
 * memory first is waited for, though not for ever. */
static void on_crashed(struct coordinator *c, int process, const cJSON *message)
{
    const char *text = json_text(message, "text");
    enum process_state state = c->processes[process].state;
    bool joiner = c->config.backend->ends && (state == PROCESS_JOINING || state == PROCESS_RETURNING);
    if (c->dumping >= 0)
        return;
    if (!joiner && !json_true(message, "core")) {
        c->config.ops->fatal(c->config.context, text);
        return;
    }
    c->config.ops->say(c->config.context, text, !joiner);
    if (joiner)
        send_to(c, process, json_message("dump"));
    else
        dump_begin(c, process);
}

static void on_message(struct coordinator *c, int process, const cJSON *message)
{
    const char *op = json_text(message, "op");
    if (!op || process < 0 || process >= c->process_count)
        return;
    if (!strcmp(op, "hello"))
        on_hello(c, &c->processes[process], message);
    else if (!strcmp(op, "count"))
        agreement_count(c, process, message);
    else if (!strcmp(op, "at"))
        agreement_at(c, process, message);
    else if (!strcmp(op, "ended"))
        agreement_ended(c, process);
    else if (!strcmp(op, "meet"))
        adaptation_meet(c, process, message);
    else if (!strcmp(op, "unstarted"))
        adaptation_unstarted(c, message);
    else if (!strcmp(op, "ready"))
        adaptation_ready(c, process, message);
    else if (!strcmp(op, "pong"))
        c->processes[process].answered = true;
    else if (!strcmp(op, "linked"))
        linking_linked(c, message);
    else if (!strcmp(op, "connected"))
        adaptation_connected(c, process, message);
    else if (!strcmp(op, "gone"))
        process_gone(c, process);
    else if (!strcmp(op, "hosts"))
        process_hosts(c, process);
    else if (!strcmp(op, "committed"))
        adaptation_committed(c, message);
    else if (!strcmp(op, "parked"))
        process_parked(c, process, message);
    else if (!strcmp(op, "position"))
        position_came(c, process, message);
    else if (!strcmp(op, "place"))
        survey_came(c, process, message);
    else if (!strcmp(op, "progress"))
        progress_came(c, message);
    else if (!strcmp(op, "here"))
        rollcall_here(c, process, message);
    else if (!strcmp(op, "breach") && json_text(message, "text"))
        rollcall_breach(c, json_text(message, "text"));
    else if (!strcmp(op, "failed"))
        on_failed(c, message);
    else if (!strcmp(op, "crashed"))
        on_crashed(c, process, message);
    else if (!strcmp(op, "request")) {
        handle_program_request(c, process, message);
        send_to(c, process, json_message("heard"));
    }
}

static void on_abandoned(struct coordinator *c, void *handle)
{
    struct adaptation *a = c->adaptation;
    if (a && a->handle == handle)
        answer(c, &a->handle, refusal("failed", "the requester has gone"));
    survey_abandon(c, handle);
    if (c->pause_handle == handle)
        answer(c, &c->pause_handle, refusal("failed", "the requester has gone"));
    stops_abandoned(c, handle);
}

/* One that stood by. Has it been chosen, and not been woken yet? */
static void parked_is_gone(struct coordinator *c, int process)
{
    struct adaptation *a = c->adaptation;
    c->processes[process].state = PROCESS_GONE;
    c->processes[process].dispensable = true;
    for (int j = 0; a && a->state == ADAPTATION_PREPARING && !a->started && j < a->parked; j++)
        if (a->joiners[j] == process) {
            adaptation_drop(c, ADAPTATION_FAILED, "failed", "a process that stood by, and was to join, is gone");
            return;
        }
}

/* A process is gone without a word. In one launch that is the process manager's business too, but it need not
 * notice (a stopped network, cleanup switched off), and the ranks that are left would hang. */
static void on_lost(struct coordinator *c, int process)
{
    struct process *p = &c->processes[process];
    struct adaptation *a = c->adaptation;
    char text[200];
    bool own_launch = c->config.backend->ends;
    if (process == c->dumping)
        c->config.ops->fatal(c->config.context, NULL);
    if (own_launch && p->state == PROCESS_RETURNING)
        p->state = PROCESS_GONE;
    if (own_launch && p->state == PROCESS_STANDBY)
        parked_is_gone(c, process);
    if (c->finished || p->state == PROCESS_LOST || (own_launch && p->state == PROCESS_GONE))
        return;
    bool in_window = a && a->state == ADAPTATION_WINDOW, merges = a && a->linking == LINKING_MERGES;
    bool can_do_without = !(in_window || merges) || (in_window && a->connected == 0 && c->config.backend->kill);
    if (p->state == PROCESS_JOINING && own_launch && a && can_do_without) {
        snprintf(text, sizeof text, "a joining process (pid %d on %s) is gone", p->pid, p->host);
        p->state = PROCESS_GONE;
        if (in_window)
            adaptation_end_joiners(c); /* the old ranks' connect then fails, and they go on */
        else
            adaptation_drop(c, ADAPTATION_FAILED, "failed", text);
        return;
    }
    p->state = PROCESS_LOST;
    snprintf(text, sizeof text, "process %d (rank %d, pid %d on %s) is gone; the job cannot go on without it", process,
             p->rank, p->pid, p->host);
    c->config.ops->fatal(c->config.context, text);
}

void carry_out(struct coordinator *c, struct event *event)
{
    switch (event->type) {
    case EVENT_MESSAGE:
        on_message(c, event->process, event->json);
        break;
    case EVENT_REQUEST:
        handle_request(c, event->handle, event->json);
        break;
    case EVENT_ABANDONED:
        on_abandoned(c, event->handle);
        break;
    case EVENT_LOST:
        on_lost(c, event->process);
        break;
    case EVENT_BACKEND:
        c->config.backend->event(c, event->handle, event->process);
        break;
    }
    cJSON_Delete(event->json);
    free(event);
}

/* Does it depend on where rank 0 is? At the end nobody is asked any more. */
static bool needs_position(const struct coordinator *c, const struct event *event)
{
    const char *op = event->json ? json_text(event->json, "op") : NULL;
    if (!op || c->finished)
        return false;
    return event->type == EVENT_REQUEST ? !strcmp(op, "status") || !strcmp(op, "resize") : !strcmp(op, "request");
}

static void dispatch(struct coordinator *c, struct event *event)
{
    if (needs_position(c, event))
        position_wait(c, event);
    else
        carry_out(c, event);
}

/* ---- When something is due ------------------------------------------------ */

static bool world_is_here(const struct coordinator *c)
{
    for (int r = 0; r < c->size; r++)
        if (!c->processes[c->world[r]].here)
            return false;
    return true;
}

/* But for those that were called off and may never come, and those that have a number, and are not started: the end of
 * the program forestalls that. */
static bool all_are_here(const struct coordinator *c, bool in_time)
{
    bool to_start = c->adaptation && !c->adaptation->started;
    for (int p = 0; p < c->process_count; p++) {
        enum process_state state = c->processes[p].state;
        bool comes =
            state != PROCESS_GONE && (in_time || state != PROCESS_RETURNING) && !(to_start && state == PROCESS_JOINING);
        if (!c->processes[p].here && comes)
            return false;
    }
    return true;
}

static int count_ended(const struct coordinator *c)
{
    int ended = 0;
    for (int r = 0; r < c->size; r++)
        ended += c->processes[c->world[r]].ended;
    return ended;
}

/* Is there a reason to bring all ranks together? */
static bool wants_agreement(const struct coordinator *c)
{
    const struct adaptation *a = c->adaptation;
    if (a && (a->state == ADAPTATION_WINDOW || is_for_phase(a)))
        return false;
    if (c->stopping)
        return !c->stop_sent;
    if (c->pausing)
        return !c->paused;
    return a && a->state == ADAPTATION_PREPARED && monotonic_seconds() >= c->last_commit + c->config.min_interval;
}

static void finish(struct coordinator *c)
{
    if (c->adaptation)
        adaptation_drop(c, ADAPTATION_CANCELLED, "failed", "the program has ended");
    answer(c, &c->pause_handle, refusal("failed", "the program has ended"));
    stops_refuse_waiting(c, "the program has ended");
    c->finished = true;
    position_give_up(c);
    survey_give_up(c);
    int status =
        c->config.ops->ended ? c->config.ops->ended(c->config.context, c->stop_sent ? c->stopped_by : NULL) : 0;
    publish(c, "finished", NULL, NULL);
    for (int p = 0; p < c->process_count; p++) {
        cJSON *message = json_message("finish");
        cJSON_AddNumberToObject(message, "status", status);
        send_to(c, p, message);
    }
}

/* The launcher's exit status would be a matter of chance if a signal just killed the processes. */
static void check_signals(struct coordinator *c)
{
    if (c->interrupted)
        c->config.ops->fatal(c->config.context, "interrupted (SIGINT)");
    else if (c->terminations > 1)
        c->config.ops->fatal(c->config.context, "told to end for a second time (SIGTERM): ends at once");
    else if (c->terminations)
        request_stop(c, "SIGTERM");
}

static void advance(struct coordinator *c)
{
    double now = monotonic_seconds();
    struct adaptation *a = c->adaptation;
    check_signals(c);
    dump_look(c);
    if (c->survey.open && now > c->survey.deadline)
        survey_give_up(c);
    if (c->finished)
        return;
    watchdog_look(c);
    progress_show(c);
    if (c->waiting && now > c->position_deadline)
        position_give_up(c);
    if (c->stops.how != NOT_STOPPED)
        return; /* while the ranks are stopped nothing else is due */
    if (now >= rollcall_deadline(c))
        rollcall_check(c);
    if (a && a->state == ADAPTATION_PREPARING && !c->paused && now > a->deadline)
        adaptation_drop(c, ADAPTATION_FAILED, "timeout", "the joining processes were not ready in time");
    if (c->agreement == AGREEMENT_FREEZING && now > c->freeze_deadline)
        agreement_timeout(c);
    if (a && c->adaptation == a && a->state == ADAPTATION_WINDOW && a->unconnected && now > a->connect_deadline)
        adaptation_connect_timeout(c);
    if (linking_goes_on(c) && now > c->adaptation->connect_deadline)
        linking_timeout(c);
    if (c->check_later)
        agreement_check(c);

    if (c->adaptation == a && (linking_goes_on(c) || (a && a->state == ADAPTATION_WINDOW)))
        return; /* ranks that are through may have ended already; the others will say that they are through */
    /* A process that is not attached yet would not hear of the end, and find nobody to attach to. */
    bool ended = count_ended(c) == c->size;
    if (ended && !c->end_deadline)
        c->end_deadline = now + c->config.finish_timeout;
    if (ended && all_are_here(c, now < c->end_deadline))
        finish(c);
    else if (c->agreement == AGREEMENT_NONE && wants_agreement(c) && world_is_here(c))
        agreement_start(c);
    else if (c->agreement == AGREEMENT_GATE && !c->paused)
        agreement_decide(c);
}

/* When advance has to look again though nothing arrives: seconds from now. */
static double next_deadline(const struct coordinator *c)
{
    double now = monotonic_seconds(), wait = dump_wait(c);
    const struct adaptation *a = c->adaptation;
    if (c->survey.open && c->survey.deadline - now < wait)
        wait = c->survey.deadline - now;
    if (watchdog_wait(c) < wait)
        wait = watchdog_wait(c);
    if (c->end_deadline > now && c->end_deadline - now < wait)
        wait = c->end_deadline - now;
    if (progress_wait(c) < wait)
        wait = progress_wait(c);
    if (c->waiting && c->position_deadline - now < wait)
        wait = c->position_deadline - now;
    if (c->stops.how != NOT_STOPPED)
        return wait > 0 ? wait + 0.001 : 0.001;
    if (rollcall_deadline(c) - now < wait)
        wait = rollcall_deadline(c) - now;
    if (a && a->state == ADAPTATION_PREPARING && !c->paused && a->deadline - now < wait)
        wait = a->deadline - now;
    if (c->agreement == AGREEMENT_FREEZING && c->freeze_deadline - now < wait)
        wait = c->freeze_deadline - now;
    if (a && (linking_goes_on(c) || (a->state == ADAPTATION_WINDOW && a->unconnected)) &&
        a->connect_deadline - now < wait)
        wait = a->connect_deadline - now;
    if (a && c->agreement == AGREEMENT_GATE && !c->paused && a->ping_deadline - now < wait)
        wait = a->ping_deadline - now;
    double apart = c->last_commit + c->config.min_interval - now;
    if (a && a->state == ADAPTATION_PREPARED && apart > 0 && apart < wait)
        wait = apart;
    return wait > 0 ? wait + 0.001 : 0.001;
}

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
        dispatch(c, event);
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
        look_and_wait(c, next_deadline(c));
        drain(c);
        advance(c);
    }
    double deadline = monotonic_seconds() + c->config.finish_timeout;
    while (count_stuck(c) && monotonic_seconds() < deadline) {
        look_and_wait(c, deadline - monotonic_seconds());
        check_signals(c);
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
