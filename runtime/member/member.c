/* One process's side of the agreement: see member.h, and docs/architecture.md for the protocol. */
#include "runtime/member/member.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/error.h"
#include "runtime/base/json.h"
#include "runtime/wire/messages.h"

int member_init(struct member *member, int process)
{
    *member = (struct member){.process = process};
    ceiling_init(&member->ceiling);
    atomic_init(&member->live.pc, -1);
    tally_init(&member->live.tally);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    int error = pthread_cond_init(&member->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    return error ? error : pthread_mutex_init(&member->lock, NULL);
}

void member_destroy(struct member *member)
{
    epop__tally_close(&member->live.tally);
    plan_free(member->plan);
    cJSON_Delete(member->wake);
    cJSON_Delete(member->meeting);
    cJSON_free(member->requested);
    asks_destroy(&member->asks);
    pthread_cond_destroy(&member->changed);
    pthread_mutex_destroy(&member->lock);
}

static void tell(struct member *member, cJSON *message)
{
    if (message && member->tell)
        member->tell(member->context, message);
    cJSON_Delete(message);
}

/* The limit follows from the state. With the lock held. Returns the number of the last probe. */
static uint64_t update_ceiling(struct member *member)
{
    uint64_t shift = (uint64_t)atomic_load(&member->ceiling.shift);
    bool holds = member->frozen || member->asked || member->errand;
    uint64_t limit = holds ? 0 : member->target ? member->target - shift : CEILING_NONE;
    return ceiling_lower(&member->ceiling, limit) + shift;
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
    cJSON *answer = json_message(MESSAGE_COUNT);
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

static void on_release(struct member *member, const cJSON *message)
{
    (void)message;
    member->frozen = false;
    member->target = 0;
    member->stood = 0;
    update_ceiling(member);
}

/* It may hold at what it took for the target. */
static void on_settled(struct member *member, const cJSON *message)
{
    int shift = json_int(message, "shift", 0);
    atomic_store(&member->settled, json_int(message, "adaptation", 0));
    if (!shift)
        return;
    atomic_fetch_add(&member->ceiling.shift, shift);
    member->reported = 0;
    update_ceiling(member);
}

static void tell_failed(struct member *member, const char *text)
{
    cJSON *message = json_message(MESSAGE_FAILED);
    cJSON_AddStringToObject(message, "text", text);
    tell(member, message);
}

/* 0, or -1: there is none of that name. */
static int action_of(const char *name, enum action *action)
{
    static const char *const names[] = {
        [ACTION_CONTINUE] = "continue", [ACTION_ADAPT] = "adapt", [ACTION_STOP] = "stop"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i])) {
            *action = (enum action)i;
            return 0;
        }
    return -1;
}

/* What is decided, and for an adaptation its plan. 0, or -1 with text. */
static int read_decision(const cJSON *message, enum action *action, struct plan **plan, struct error *error)
{
    const char *name = json_text(message, "action");
    const cJSON *json = cJSON_GetObjectItemCaseSensitive(message, "plan");
    if (action_of(name, action))
        return error_set(error, ERROR_FAILED, "a process does not know the action '%.40s' of a decision", name);
    if (*action == ACTION_ADAPT && !(*plan = plan_from_json(json)))
        return error_set(error, ERROR_FAILED, "a process cannot read the plan of an adaptation");
    return 0;
}

static void on_decide(struct member *member, const cJSON *message)
{
    enum action action = ACTION_CONTINUE;
    struct plan *plan = NULL;
    struct error error;
    if (read_decision(message, &action, &plan, &error)) { /* it would wait for its decision for ever */
        tell_failed(member, error.text);
        return;
    }
    pthread_mutex_lock(&member->lock);
    if (plan) {
        plan_free(member->plan);
        member->plan = plan;
    }
    member->decision = action;
    member->decided = true;
    member->decided_at = (uint64_t)json_int64(message, "count", 0);
    member->target = 0;
    update_ceiling(member);
    pthread_cond_broadcast(&member->changed);
    pthread_mutex_unlock(&member->lock);
}

static struct position present_position(const struct member *member)
{
    return (struct position){
        .pc = atomic_load_explicit(&member->live.pc, memory_order_relaxed),
        .visit = atomic_load_explicit(&member->live.visit, memory_order_relaxed),
        .iteration = atomic_load_explicit(&member->live.iteration, memory_order_relaxed),
    };
}

/* For status, and for the size rule of the phase that rank 0 is in. */
static void on_position(struct member *member, const cJSON *message)
{
    (void)message;
    const struct position at = present_position(member);
    cJSON *answer = json_message(MESSAGE_POSITION);
    position_to_json(&at, answer);
    tally_tell(&member->live.tally, &member->live.iteration, answer);
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
    return !atomic_load(&member->live.program) ? "standby" : holding ? "holding" : "running";
}

static void on_locate(struct member *member, const cJSON *message)
{
    const struct position at = present_position(member);
    cJSON *answer = json_message(MESSAGE_LOCATED);
    cJSON_AddNumberToObject(answer, "round", json_int(message, "round", 0));
    cJSON_AddStringToObject(answer, "activity", activity(member));
    position_to_json(&at, answer);
    if (member->describe)
        member->describe(answer);
    tell(member, answer);
}

static void on_waits(struct member *member, const cJSON *message)
{
    cJSON *answer = json_message(MESSAGE_WAITS);
    cJSON_AddNumberToObject(answer, "round", json_int(message, "round", 0));
    cJSON_AddNumberToObject(answer, "count", (double)ceiling_count(&member->ceiling));
    if (member->waits)
        member->waits(answer);
    tell(member, answer);
}

static void on_ping(struct member *member, const cJSON *message)
{
    (void)message;
    tell(member, json_message(MESSAGE_PONG));
}

static void on_alive(struct member *member, const cJSON *message)
{
    (void)message;
    tell(member, json_message(MESSAGE_ALIVE));
}

/* Comes only where all hold. */
static void on_checkpoint(struct member *member, const cJSON *message)
{
    struct save_order order;
    if (save_order_from_json(message, &order)) {
        tell_failed(member, "a process cannot read the order to make a checkpoint");
        return;
    }
    pthread_mutex_lock(&member->lock);
    member->order = order;
    member->saves = true;
    pthread_cond_broadcast(&member->changed);
    pthread_mutex_unlock(&member->lock);
}

static void on_heard(struct member *member, const cJSON *message)
{
    (void)message;
    cJSON_free(member->requested);
    member->requested = NULL;
}

static void on_progress(struct member *member, const cJSON *message)
{
    (void)message;
    member->asked = true;
    update_ceiling(member);
}

static void on_list(struct member *member, const cJSON *message)
{
    int adaptation = json_int(message, "adaptation", 0);
    if (atomic_load(&member->nothing_constant))
        member_listed(member, adaptation, NULL, NULL, NULL);
    else
        member_send_on_errand(member, ERRAND_LIST, adaptation);
}

static void keep(cJSON **kept, const cJSON *message)
{
    cJSON_Delete(*kept);
    *kept = message ? cJSON_Duplicate(message, 1) : NULL;
}

static void on_wake(struct member *member, const cJSON *message)
{
    keep(&member->wake, message);
    keep(&member->meeting, NULL);
    member->cancelled = false;
}

static void on_meet(struct member *member, const cJSON *message)
{
    keep(&member->meeting, message);
}

static void on_call_off(struct member *member, const cJSON *message)
{
    (void)message;
    member->cancelled = true;
}

static void on_finish(struct member *member, const cJSON *message)
{
    member->finish = true;
    member->status = json_int(message, "status", 0);
}

static void on_told(struct member *member, const cJSON *message)
{
    asks_take(&member->asks, message);
}

static void on_off(struct member *member, const cJSON *message)
{
    member->off = json_int(message, "adaptation", 0);
}

static void on_passed(struct member *member, const cJSON *message)
{
    (void)message;
    member->passed++;
}

static void on_halt(struct member *member, const cJSON *message)
{
    member->stopped = json_true(message, "halt");
}

/* ---- Taking messages ------------------------------------------------------ */

/* `change` is called with the lock, and the program's thread looks then; `answer` without. */
static const struct own_row {
    struct message_form form;
    void (*answer)(struct member *member, const cJSON *message);
    void (*change)(struct member *member, const cJSON *message);
} own_rows[] = {
    {{MESSAGE_FREEZE, {{"round", cJSON_Number}}}, on_freeze, NULL},
    {{MESSAGE_POSITION, {{0}}}, on_position, NULL},
    {{MESSAGE_LOCATE, {{"round", cJSON_Number}}}, on_locate, NULL},
    {{MESSAGE_WAITS, {{"round", cJSON_Number}}}, on_waits, NULL},
    {{MESSAGE_PING, {{0}}}, on_ping, NULL},
    {{MESSAGE_ALIVE, {{0}}}, on_alive, NULL},
    {{MESSAGE_TARGET, {{"count", cJSON_Number}}}, NULL, on_target},
    {{MESSAGE_RELEASE, {{0}}}, NULL, on_release},
    {{MESSAGE_SETTLED, {{"adaptation", cJSON_Number}, {"shift", cJSON_Number}}}, NULL, on_settled},
    {{MESSAGE_DECIDE, {{"action", cJSON_String}, {"count", cJSON_Number}}}, on_decide, NULL},
    {{MESSAGE_SAVE, {{"number", cJSON_Number}, {"level", cJSON_String}}}, on_checkpoint, NULL},
    {{MESSAGE_HEARD, {{0}}}, NULL, on_heard},
    {{MESSAGE_PROGRESS, {{0}}}, NULL, on_progress},
    {{MESSAGE_LIST, {{"adaptation", cJSON_Number}}}, on_list, NULL},
    {{MESSAGE_WAKE, {{"adaptation", cJSON_Number}}}, NULL, on_wake},
    {{MESSAGE_MEET, {{"ports", cJSON_Array}}}, NULL, on_meet},
    {{MESSAGE_CALL_OFF, {{0}}}, NULL, on_call_off},
    {{MESSAGE_FINISH, {{"status", cJSON_Number}}}, NULL, on_finish},
    {{MESSAGE_TOLD, {{"id", cJSON_Number}}}, NULL, on_told},
    {{MESSAGE_OFF, {{"adaptation", cJSON_Number}}}, NULL, on_off},
    {{MESSAGE_PASSED, {{0}}}, NULL, on_passed},
    {{MESSAGE_HALT, {{"halt", MESSAGE_BOOL}}}, NULL, on_halt},
};

static void take_own(struct member *member, const struct own_row *row, const cJSON *message)
{
    if (row->answer) {
        row->answer(member, message);
        return;
    }
    pthread_mutex_lock(&member->lock);
    row->change(member, message);
    pthread_cond_broadcast(&member->changed);
    pthread_mutex_unlock(&member->lock);
}

/* False: no table knows it. */
static bool take_other(struct member *member, const cJSON *message, struct error *why)
{
    for (int i = 0; i < member->table_count; i++) {
        const struct message_table *t = &member->tables[i];
        const struct message_row *row = message_find(t->rows, t->count, sizeof *t->rows, message);
        if (row && message_fits(&row->form, message, why))
            row->take(t->context, message);
        if (row)
            return true;
    }
    return false;
}

void member_understand(struct member *member, const struct message_row *rows, size_t count, void *context)
{
    member->tables[member->table_count++] = (struct message_table){rows, count, context};
}

void member_receive(struct member *member, const cJSON *message)
{
    const struct own_row *row = message_find(own_rows, sizeof own_rows / sizeof *own_rows, sizeof *own_rows, message);
    struct error why = {0};
    if (row && message_fits(&row->form, message, &why))
        take_own(member, row, message);
    else if (!row && !take_other(member, message, &why))
        message_unknown(message, &why);
    if (why.code)
        message_refuse(&why);
}

/* ---- Ahead of the window ------------------------------------------------- */

void member_send_on_errand(struct member *member, enum errand errand, int adaptation)
{
    pthread_mutex_lock(&member->lock);
    member->errand = errand;
    member->errand_for = adaptation;
    update_ceiling(member);
    pthread_cond_broadcast(&member->changed);
    pthread_mutex_unlock(&member->lock);
}

void member_listed(struct member *member, int adaptation, const struct position *at, const struct constants *constants,
                   cJSON *place)
{
    char hash[17];
    cJSON *message = json_message(MESSAGE_LISTED);
    cJSON_AddNumberToObject(message, "adaptation", adaptation);
    if (place)
        cJSON_AddItemToObject(message, "place", place);
    if (at) {
        snprintf(hash, sizeof hash, "%016llx", (unsigned long long)constants->hash);
        cJSON_AddNumberToObject(message, "constants", (double)constants->bytes);
        cJSON_AddStringToObject(message, "hash", hash);
        position_to_json(at, message);
    }
    tell(member, message);
}

void member_ahead(struct member *member, int adaptation, const struct error *failure, int64_t bytes)
{
    cJSON *message = json_message(MESSAGE_AHEAD);
    cJSON_AddNumberToObject(message, "adaptation", adaptation);
    if (failure)
        cJSON_AddStringToObject(message, "failure", failure->text);
    if (failure && failure->code == ERROR_TIMEOUT)
        cJSON_AddTrueToObject(message, "unreachable");
    if (!failure)
        cJSON_AddNumberToObject(message, "bytes", (double)bytes);
    tell(member, message);
}

/* ---- The program's thread ----------------------------------------------- */

/* With the lock held. What it takes is no waiting for others. True if there was something to do. */
static bool run_errand(struct member *member, const struct position *at)
{
    double begin = monotonic_seconds();
    enum errand errand = member->errand;
    int adaptation = member->errand_for;
    if (!errand)
        return false;
    member->errand = ERRAND_NONE;
    update_ceiling(member);
    pthread_mutex_unlock(&member->lock);
    if (member->run_errand)
        member->run_errand(member->context, errand, adaptation, at);
    pthread_mutex_lock(&member->lock);
    member->held += monotonic_seconds() - begin;
    return true;
}

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
    static const double first = 0.0002, longest = 0.005;
    if (!member->poke) {
        pthread_cond_wait(&member->changed, &member->lock);
        return;
    }
    struct timespec until = clock_in(CLOCK_MONOTONIC, *waits < 5 ? first * (1 << *waits) : longest);
    if (pthread_cond_timedwait(&member->changed, &member->lock, &until) == ETIMEDOUT) {
        ++*waits;
        pthread_mutex_unlock(&member->lock);
        member->poke(member->context);
        pthread_mutex_lock(&member->lock);
    }
}

bool member_idle(struct member *member, const bool *quit)
{
    pthread_mutex_lock(&member->lock);
    while (!*quit && !member->finish && !member->target && !member->asked && !member->errand)
        pthread_cond_wait(&member->changed, &member->lock);
    bool goes_on = !*quit && !member->finish;
    pthread_mutex_unlock(&member->lock);
    return goes_on;
}

void member_wake(struct member *member, bool *flag)
{
    pthread_mutex_lock(&member->lock);
    *flag = true;
    pthread_cond_broadcast(&member->changed);
    pthread_mutex_unlock(&member->lock);
}

/* "I am at the target": with the lock held, once per probe. */
static void report_at(struct member *member, uint64_t count, const struct position *at, int needs)
{
    if (member->reported == count)
        return;
    member->reported = count;
    cJSON *message = json_message(MESSAGE_ARRIVED);
    cJSON_AddNumberToObject(message, "count", (double)count);
    position_to_json(at, message);
    tally_tell(&member->live.tally, &member->live.iteration, message);
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

/* What is to be done at this probe without a decision, and then to hold on. */
static bool take_errand(struct member *member, enum action *action)
{
    if (member->saves)
        *action = ACTION_CHECKPOINT;
    else if (member->asked)
        *action = ACTION_PROGRESS;
    else
        return false;
    *(member->saves ? &member->saves : &member->asked) = false;
    update_ceiling(member);
    return true;
}

enum action member_hold(struct member *member, const struct position *at, int needs)
{
    enum action action = ACTION_CONTINUE;
    int waits = 0;
    bool decided;
    pthread_mutex_lock(&member->lock);
    uint64_t count = ceiling_count(&member->ceiling);
    member->held = monotonic_seconds() - member->stood;
    member->holding = true;
    while (!(decided = take_decision(member, count, &action))) {
        if (take_errand(member, &action))
            break;
        if (run_errand(member, at))
            continue;
        count = ceiling_count(&member->ceiling); /* which may have been settled meanwhile */
        bool at_target = member->target && count >= member->target;
        if (!member->frozen && !at_target && !needs)
            break;
        if (!member->frozen)
            report_at(member, count, at, needs);
        if (!member->decided)
            member_wait_poking(member, &waits);
    }
    member->holding = false;
    if (action != ACTION_PROGRESS && action != ACTION_CHECKPOINT)
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
    tell(member, json_message(MESSAGE_ENDED));
    pthread_mutex_lock(&member->lock);
    while (!member->finish)
        member_wait_poking(member, &waits);
    pthread_mutex_unlock(&member->lock);
}

bool member_is_finished(struct member *member)
{
    pthread_mutex_lock(&member->lock);
    bool finished = member->finish;
    pthread_mutex_unlock(&member->lock);
    return finished;
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
    cJSON *message = json_message(MESSAGE_MEET);
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
    cJSON *message = json_message(MESSAGE_READY);
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
        if (!run_errand(member, NULL))
            pthread_cond_wait(&member->changed, &member->lock);
    bool joined = member->decided && member->decision == ACTION_ADAPT && member->plan;
    if (joined) {
        member->decided = false;
        member->held = monotonic_seconds();
        atomic_store(&member->ceiling.count, member->plan->count);
        atomic_store(&member->ceiling.shift, 0);
        member->called = member->passed = 0;
    }
    cJSON_Delete(member->wake);
    member->wake = NULL;
    pthread_mutex_unlock(&member->lock);
    return joined;
}

void member_linked(struct member *member, int adaptation)
{
    cJSON *message = json_message(MESSAGE_LINKED);
    cJSON_AddNumberToObject(message, "adaptation", adaptation);
    tell(member, message);
}

void member_connected(struct member *member, int adaptation, const char *failure)
{
    cJSON *message = json_message(MESSAGE_CONNECTED);
    cJSON_AddNumberToObject(message, "adaptation", adaptation);
    if (failure)
        cJSON_AddStringToObject(message, "failure", failure);
    tell(member, message);
}

void member_committed(struct member *member, int adaptation, double stall, int64_t bytes)
{
    cJSON *message = json_message(MESSAGE_COMMITTED);
    cJSON_AddNumberToObject(message, "adaptation", adaptation);
    cJSON_AddNumberToObject(message, "stall", stall);
    cJSON_AddNumberToObject(message, "bytes", (double)bytes);
    tell(member, message);
}

void member_saved(struct member *member, const struct saved *saved)
{
    cJSON *message = json_message(MESSAGE_SAVED);
    cJSON_AddNumberToObject(message, "number", saved->number);
    cJSON_AddNumberToObject(message, "bytes", (double)saved->bytes);
    if (saved->failure)
        cJSON_AddStringToObject(message, "failure", saved->failure);
    tell(member, message);
}

static void tell_of_copy(struct member *member, cJSON *message, int number, const char *failure)
{
    cJSON_AddNumberToObject(message, "number", number);
    if (failure)
        cJSON_AddStringToObject(message, "failure", failure);
    tell(member, message);
}

void member_stored(struct member *member, int number, const char *failure)
{
    tell_of_copy(member, json_message(MESSAGE_STORED), number, failure);
}

void member_kept(struct member *member, int number, const char *failure)
{
    tell_of_copy(member, json_message(MESSAGE_KEPT), number, failure);
}

void member_parked(struct member *member, bool reusable)
{
    pthread_mutex_lock(&member->lock);
    member->frozen = member->asked = member->decided = member->saves = false;
    member->errand = ERRAND_NONE;
    member->target = member->reported = 0;
    member->called = member->passed = 0;
    member->stopped = false;
    update_ceiling(member);
    pthread_mutex_unlock(&member->lock);
    cJSON *message = json_message(MESSAGE_PARKED);
    cJSON_AddBoolToObject(message, "reusable", reusable);
    tell(member, message);
}

void member_report_progress(struct member *member, const epop_progress_t *progress, double mpi_seconds)
{
    const struct position at = present_position(member);
    cJSON *message = json_message(MESSAGE_PROGRESS);
    cJSON_AddNumberToObject(message, "pc", at.pc);
    cJSON_AddNumberToObject(message, "visit", (double)at.visit);
    cJSON_AddNumberToObject(message, "iteration", (double)progress->iteration);
    cJSON_AddNumberToObject(message, "bound", (double)progress->bound);
    if (mpi_seconds >= 0) {
        cJSON_AddNumberToObject(message, "mpi_seconds", mpi_seconds);
        cJSON_AddNumberToObject(message, "clock", monotonic_seconds());
    }
    tell(member, message);
}

void member_stretch(struct member *member, const struct stretch_log *log, int from)
{
    tell(member, stretch_log_to_json(log, from));
}

void member_hosts(struct member *member)
{
    tell(member, json_message(MESSAGE_HOSTS));
}

void member_gone(struct member *member)
{
    tell(member, json_message(MESSAGE_GONE));
}
