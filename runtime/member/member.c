/* One process's side of the agreement: see member.h, and docs/architecture.md for the protocol. */
#include "runtime/member/member.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/member/json.h"
#include "runtime/member/rollcall.h"

int64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

double monotonic_seconds(void)
{
    return (double)monotonic_ns() * 1e-9;
}

int member_init(struct member *member, int process)
{
    *member = (struct member){.process = process};
    ceiling_init(&member->ceiling);
    atomic_init(&member->where.pc, -1);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    int error = pthread_cond_init(&member->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    return error ? error : pthread_mutex_init(&member->lock, NULL);
}

void member_destroy(struct member *member)
{
    plan_free(member->plan);
    cJSON_Delete(member->wake);
    cJSON_Delete(member->meeting);
    cJSON_free(member->requested);
    pthread_cond_destroy(&member->changed);
    pthread_mutex_destroy(&member->lock);
}

static void tell(struct member *member, cJSON *message)
{
    if (message && member->tell)
        member->tell(member->context, message);
    cJSON_Delete(message);
}

/* The limit follows from the state. With the lock held. Returns the probes counted so far. */
static uint64_t update_ceiling(struct member *member)
{
    uint64_t limit = member->frozen || member->asked ? 0 : member->target ? member->target : CEILING_NONE;
    return ceiling_lower(&member->ceiling, limit);
}

/* ---- The control thread ------------------------------------------------- */

static void on_freeze(struct member *member, const cJSON *message)
{
    pthread_mutex_lock(&member->lock);
    member->frozen = true;
    member->target = 0;
    uint64_t count = update_ceiling(member);
    bool ended = member->ended;
    pthread_mutex_unlock(&member->lock);

    cJSON *answer = json_message("count");
    cJSON_AddNumberToObject(answer, "round", json_int(message, "round", 0));
    cJSON_AddNumberToObject(answer, "count", (double)count);
    cJSON_AddBoolToObject(answer, "ended", ended);
    tell(member, answer);
}

static void on_target(struct member *member, const cJSON *message)
{
    member->frozen = false;
    member->target = (uint64_t)json_int64(message, "count", 0);
    update_ceiling(member);
}

static void on_release(struct member *member)
{
    member->frozen = false;
    member->target = 0;
    member->stood = 0;
    update_ceiling(member);
}

static void on_decide(struct member *member, const cJSON *message)
{
    const char *action = json_text(message, "action");
    const cJSON *plan = cJSON_GetObjectItemCaseSensitive(message, "plan");
    member->decision = ACTION_CONTINUE;
    if (action && !strcmp(action, "stop"))
        member->decision = ACTION_STOP;
    if (plan) {
        plan_free(member->plan);
        member->plan = plan_from_json(plan);
        member->decision = ACTION_ADAPT;
    }
    member->decided = true;
    member->decided_at = (uint64_t)json_int64(message, "count", 0);
    member->target = 0;
    update_ceiling(member);
}

static struct position present_position(const struct member *member)
{
    return (struct position){
        .pc = atomic_load_explicit(&member->where.pc, memory_order_relaxed),
        .visit = atomic_load_explicit(&member->where.visit, memory_order_relaxed),
        .iteration = atomic_load_explicit(&member->where.iteration, memory_order_relaxed),
    };
}

/* For status, and for the size rule of the phase that rank 0 is in. */
static void on_position(struct member *member)
{
    const struct position at = present_position(member);
    cJSON *answer = json_message("position");
    position_to_json(&at, answer);
    tell(member, answer);
}

/* In words, for people. */
static const char *activity(struct member *member)
{
    pthread_mutex_lock(&member->lock);
    bool ended = member->ended, holding = member->holding;
    pthread_mutex_unlock(&member->lock);
    if (ended)
        return "ended";
    return !atomic_load(&member->where.program) ? "standby" : holding ? "holding" : "running";
}

static void on_where(struct member *member, const cJSON *message)
{
    const struct position at = present_position(member);
    cJSON *answer = json_message("place");
    cJSON_AddNumberToObject(answer, "round", json_int(message, "round", 0));
    cJSON_AddStringToObject(answer, "activity", activity(member));
    position_to_json(&at, answer);
    if (member->describe)
        member->describe(answer);
    tell(member, answer);
}

void member_receive(struct member *member, const cJSON *message)
{
    const char *op = json_text(message, "op");
    if (!op)
        return;
    if (!strcmp(op, "freeze")) {
        on_freeze(member, message);
        return;
    }
    if (!strcmp(op, "position")) {
        on_position(member);
        return;
    }
    if (!strcmp(op, "where")) {
        on_where(member, message);
        return;
    }
    if (!strcmp(op, "ping")) {
        tell(member, json_message("pong"));
        return;
    }
    pthread_mutex_lock(&member->lock);
    if (!strcmp(op, "target")) {
        on_target(member, message);
    } else if (!strcmp(op, "release")) {
        on_release(member);
    } else if (!strcmp(op, "decide")) {
        on_decide(member, message);
    } else if (!strcmp(op, "heard")) {
        cJSON_free(member->requested);
        member->requested = NULL;
    } else if (!strcmp(op, "progress")) {
        member->asked = true;
        update_ceiling(member);
    } else if (!strcmp(op, "wake")) {
        cJSON_Delete(member->wake);
        member->wake = cJSON_Duplicate(message, 1);
        cJSON_Delete(member->meeting);
        member->meeting = NULL;
        member->cancelled = false;
    } else if (!strcmp(op, "meet")) {
        cJSON_Delete(member->meeting);
        member->meeting = cJSON_Duplicate(message, 1);
    } else if (!strcmp(op, "cancel")) {
        member->cancelled = true;
    } else if (!strcmp(op, "finish")) {
        member->finish = true;
        member->status = json_int(message, "status", 0);
    } else if (!member_rollcall_receive(member, op, message) && member->other) {
        member->other(message);
    }
    pthread_cond_broadcast(&member->changed);
    pthread_mutex_unlock(&member->lock);
}

/* ---- The program's thread ----------------------------------------------- */

/* What the program asked for, until the coordinator has heard it; NULL: nothing. Takes the text. */
static void keep_request(struct member *member, char *text)
{
    pthread_mutex_lock(&member->lock);
    cJSON_free(member->requested);
    member->requested = text;
    pthread_mutex_unlock(&member->lock);
}

static bool awaits_hearing(struct member *member, const char *text)
{
    pthread_mutex_lock(&member->lock);
    bool same = member->requested && !strcmp(text, member->requested);
    pthread_mutex_unlock(&member->lock);
    return same;
}

int member_request(struct member *member, cJSON *message)
{
    char *text = cJSON_PrintUnformatted(message);
    int result = text ? 0 : -1;
    if (text && awaits_hearing(member, text)) {
        cJSON_free(text);
    } else if (text) {
        keep_request(member, text); /* before it is sent: the answer may come at once */
        result = member->tell(member->context, message);
        if (result)
            keep_request(member, NULL);
    }
    cJSON_Delete(message);
    return result;
}

void member_wait_poking(struct member *member, int *waits)
{
    static const long first = 200 * 1000, longest = 5 * 1000 * 1000;
    long pause = *waits < 5 ? first << *waits : longest;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += pause;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (pthread_cond_timedwait(&member->changed, &member->lock, &until) == ETIMEDOUT && member->poke) {
        ++*waits;
        pthread_mutex_unlock(&member->lock);
        member->poke(member->context);
        pthread_mutex_lock(&member->lock);
    }
}

/* "I am at the target": with the lock held, once per probe. */
static void report_at(struct member *member, uint64_t count, const struct position *at, int needs)
{
    if (member->reported == count)
        return;
    member->reported = count;
    cJSON *message = json_message("at");
    cJSON_AddNumberToObject(message, "count", (double)count);
    position_to_json(at, message);
    cJSON_AddNumberToObject(message, "needs", needs);
    cJSON_AddNumberToObject(message, "held", monotonic_seconds() - member->held);
    pthread_mutex_unlock(&member->lock);
    tell(member, message);
    pthread_mutex_lock(&member->lock);
}

/* True when the decision for probe `count` is there; takes it. */
static bool take_decision(struct member *member, uint64_t count, enum action *action)
{
    if (!member->decided || member->decided_at != count)
        return false;
    *action = member->decision;
    member->decided = false;
    return true;
}

enum action member_hold(struct member *member, const struct position *at, int needs)
{
    enum action action = ACTION_CONTINUE;
    int waits = 0;
    bool decided;
    pthread_mutex_lock(&member->lock);
    uint64_t count = atomic_load(&member->ceiling.count);
    member->held = monotonic_seconds() - member->stood;
    member->holding = true;
    while (!(decided = take_decision(member, count, &action))) {
        if (member->asked) {
            member->asked = false;
            update_ceiling(member);
            action = ACTION_PROGRESS;
            break;
        }
        bool at_target = member->target && count >= member->target;
        if (!member->frozen && !at_target && !needs)
            break;
        if (!member->frozen)
            report_at(member, count, at, needs);
        if (!member->decided)
            member_wait_poking(member, &waits);
    }
    member->holding = false;
    if (action != ACTION_PROGRESS)
        member->stood = decided ? 0 : monotonic_seconds() - member->held;
    pthread_mutex_unlock(&member->lock);
    return action;
}

void member_end(struct member *member)
{
    int waits = 0;
    pthread_mutex_lock(&member->lock);
    member->ended = true;
    pthread_mutex_unlock(&member->lock);
    tell(member, json_message("ended"));
    pthread_mutex_lock(&member->lock);
    while (!member->finish)
        member_wait_poking(member, &waits);
    pthread_mutex_unlock(&member->lock);
}

enum task member_standby(struct member *member)
{
    pthread_mutex_lock(&member->lock);
    while (!member->finish && !member->wake)
        pthread_cond_wait(&member->changed, &member->lock);
    /* Woken and told to finish at once: the other joiners may be in the middle of joining and wait for this one. */
    enum task task = member->wake ? TASK_JOIN : TASK_FINISH;
    pthread_mutex_unlock(&member->lock);
    return task;
}

cJSON *member_meet(struct member *member, int adaptation, const cJSON *ports)
{
    cJSON *message = json_message("meet");
    cJSON_AddNumberToObject(message, "adaptation", adaptation);
    if (ports)
        cJSON_AddItemToObject(message, "ports", cJSON_Duplicate(ports, 1));
    tell(member, message);
    pthread_mutex_lock(&member->lock);
    while (!member->cancelled && !member->finish && !member->meeting)
        pthread_cond_wait(&member->changed, &member->lock);
    cJSON *meeting = member->meeting;
    member->meeting = NULL;
    pthread_mutex_unlock(&member->lock);
    return meeting;
}

void member_ready(struct member *member, int adaptation, const char *failure, const char *port)
{
    cJSON *message = json_message("ready");
    cJSON_AddNumberToObject(message, "adaptation", adaptation);
    if (port)
        cJSON_AddStringToObject(message, "port", port);
    if (failure)
        cJSON_AddStringToObject(message, "failure", failure);
    tell(member, message);
}

bool member_await_window(struct member *member)
{
    pthread_mutex_lock(&member->lock);
    while (!member->cancelled && !member->finish && !(member->decided && member->decision == ACTION_ADAPT))
        pthread_cond_wait(&member->changed, &member->lock);
    bool joined = member->decided && member->decision == ACTION_ADAPT && member->plan;
    if (joined) {
        member->decided = false;
        member->held = monotonic_seconds();
        atomic_store(&member->ceiling.count, member->plan->count);
        member->called = member->passed = 0;
    }
    cJSON_Delete(member->wake);
    member->wake = NULL;
    pthread_mutex_unlock(&member->lock);
    return joined;
}

void member_linked(struct member *member, int adaptation)
{
    cJSON *message = json_message("linked");
    cJSON_AddNumberToObject(message, "adaptation", adaptation);
    tell(member, message);
}

void member_connected(struct member *member, int adaptation, const char *failure)
{
    cJSON *message = json_message("connected");
    cJSON_AddNumberToObject(message, "adaptation", adaptation);
    if (failure)
        cJSON_AddStringToObject(message, "failure", failure);
    tell(member, message);
}

void member_committed(struct member *member, int adaptation, double stall)
{
    cJSON *message = json_message("committed");
    cJSON_AddNumberToObject(message, "adaptation", adaptation);
    cJSON_AddNumberToObject(message, "stall", stall);
    tell(member, message);
}

void member_parked(struct member *member, bool reusable)
{
    pthread_mutex_lock(&member->lock);
    member->frozen = member->asked = member->decided = false;
    member->target = member->reported = 0;
    member->called = member->passed = 0;
    member->stopped = false;
    update_ceiling(member);
    pthread_mutex_unlock(&member->lock);
    cJSON *message = json_message("parked");
    cJSON_AddBoolToObject(message, "reusable", reusable);
    tell(member, message);
}

void member_report_progress(struct member *member, const epop_progress_t *progress, double mpi_seconds)
{
    cJSON *message = json_message("progress");
    cJSON_AddNumberToObject(message, "iteration", (double)progress->iteration);
    cJSON_AddNumberToObject(message, "bound", (double)progress->bound);
    if (mpi_seconds >= 0) {
        cJSON_AddNumberToObject(message, "mpi_seconds", mpi_seconds);
        cJSON_AddNumberToObject(message, "clock", monotonic_seconds());
    }
    tell(member, message);
}

void member_hosts(struct member *member)
{
    tell(member, json_message("hosts"));
}

void member_gone(struct member *member)
{
    tell(member, json_message("gone"));
}
