/* One process's side of the agreement (docs/internals/architecture.md has the protocol). */
#include "runtime/member/member.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/error.h"
#include "runtime/base/hash.h"
#include "runtime/base/json.h"
#include "runtime/wire/messages.h"

int member_init(struct member *member, int process)
{
    *member = (struct member){.process = process, .muster_fd = -1};
    ceiling_init(&member->ceiling);
    atomic_init(&member->live.pc, -1);
    tally_init(&member->live.tally);
    int error = pthread_cond_init(&member->changed, NULL);
    return error ? error : pthread_mutex_init(&member->lock, NULL);
}

void member_destroy(struct member *member)
{
    epop__tally_close(&member->live.tally);
    plan_free(member->plan);
    message_free(&member->wake);
    message_free(&member->meeting);
    cJSON_free(member->requested);
    asks_destroy(&member->asks);
    muster_close(member->muster);
    pthread_cond_destroy(&member->changed);
    pthread_mutex_destroy(&member->lock);
}

static void member_tell(struct member *member, cJSON *message)
{
    if (message && member->tell)
        member->tell(member->context, message);
    cJSON_Delete(message);
}

/* The limit follows from the state. With the lock held. Returns the number of the last probe. */
static uint64_t update_ceiling(struct member *member)
{
    uint64_t shift = (uint64_t)atomic_load(&member->ceiling.shift);
    bool holds = member->asked || member->errand.errand || (member->frozen && !member->frozen_at);
    uint64_t at = member->frozen ? member->frozen_at : member->target;
    uint64_t limit = holds ? 0 : at ? at - shift : CEILING_NONE;
    return ceiling_lower(&member->ceiling, limit) + shift;
}

/* ---- The control thread ------------------------------------------------- */

static void on_freeze(struct member *member, const struct order_freeze *order)
{
    pthread_mutex_lock(&member->lock);
    member->frozen = true;
    member->frozen_at = (uint64_t)order->up_to;
    member->target = 0;
    uint64_t count = update_ceiling(member);
    bool ended = member->ended;
    pthread_mutex_unlock(&member->lock);
    cJSON *answer = json_message(REPORT(count));
    cJSON_AddNumberToObject(answer, "round", order->round);
    cJSON_AddNumberToObject(answer, "count", (double)count);
    cJSON_AddBoolToObject(answer, "ended", ended);
    member_tell(member, answer);
}

static void on_target(struct member *member, const struct order_target *order)
{
    member->frozen = false;
    member->target = (uint64_t)order->count;
    update_ceiling(member);
}

static void on_release(struct member *member)
{
    member->frozen = false;
    member->target = 0;
    member->stood = 0;
    update_ceiling(member);
}

/* It may hold at what it took for the target. */
static void on_settled(struct member *member, const struct order_settled *order)
{
    int shift = order->shift;
    atomic_store(&member->settled, order->adaptation);
    if (!shift)
        return;
    atomic_fetch_add(&member->ceiling.shift, shift);
    member->reported = 0;
    update_ceiling(member);
}

static void tell_failed(struct member *member, const char *text)
{
    cJSON *message = json_message(REPORT(failed));
    cJSON_AddStringToObject(message, "text", text);
    member_tell(member, message);
}

static void on_decide(struct member *member, const struct order_decide *order)
{
    enum action action = (enum action)order->action;
    struct plan *plan = order->plan ? plan_of(order->plan) : NULL;
    if (action == ACTION_ADAPT && !plan) {
        tell_failed(member, "a process cannot read the plan of an adaptation");
        return;
    }
    pthread_mutex_lock(&member->lock);
    if (plan) {
        plan_free(member->plan);
        member->plan = plan;
    }
    member->decision = action;
    member->decided = true;
    member->decided_at = (uint64_t)order->count;
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
static void on_position(struct member *member)
{
    const struct position at = present_position(member);
    cJSON *answer = json_message(REPORT(position));
    position_to_json(&at, answer);
    tally_tell(&member->live.tally, &member->live.iteration, answer);
    member_tell(member, answer);
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

static void on_locate(struct member *member, const struct order_locate *order)
{
    const struct position at = present_position(member);
    cJSON *answer = json_message(REPORT(located));
    cJSON_AddNumberToObject(answer, "round", order->round);
    cJSON_AddStringToObject(answer, "activity", activity(member));
    position_to_json(&at, answer);
    if (member->describe)
        member->describe(answer);
    member_tell(member, answer);
}

static void on_waits(struct member *member, const struct order_waits *order)
{
    cJSON *answer = json_message(REPORT(waits));
    cJSON_AddNumberToObject(answer, "round", order->round);
    cJSON_AddNumberToObject(answer, "count", (double)ceiling_count(&member->ceiling));
    if (member->waits)
        member->waits(answer);
    member_tell(member, answer);
}

static void on_ping(struct member *member)
{
    member_tell(member, json_message(REPORT(pong)));
}

static void on_alive(struct member *member)
{
    member_tell(member, json_message(REPORT(alive)));
}

/* Comes only where all hold. */
static void on_save(struct member *member, const struct order_save *order)
{
    pthread_mutex_lock(&member->lock);
    save_order_read(&member->order, order);
    member->saves = true;
    pthread_cond_broadcast(&member->changed);
    pthread_mutex_unlock(&member->lock);
}

static void on_heard(struct member *member)
{
    cJSON_free(member->requested);
    member->requested = NULL;
}

static void on_progress(struct member *member)
{
    member->asked = true;
    update_ceiling(member);
}

static void on_list(struct member *member, const struct order_list *order)
{
    int adaptation = order->adaptation;
    if (atomic_load(&member->nothing_constant))
        member_listed(member, adaptation, NULL, NULL, NULL);
    else
        member_send_on_errand(member, &(struct errand_order){ERRAND_LIST, adaptation, order->size});
}

/* Without memory it is as if it had not come, and the coordinator waits for no longer than its limit. */
static void keep(struct message *kept, const cJSON *said)
{
    message_free(kept);
    message_keep(kept, KIND_ORDER, said);
}

static void on_wake(struct member *member, const struct order_wake *order)
{
    keep(&member->wake, order->said);
    message_free(&member->meeting);
    member->cancelled = false;
}

static void on_meet(struct member *member, const struct order_meet *order)
{
    keep(&member->meeting, order->said);
}

static void on_call_off(struct member *member)
{
    member->cancelled = true;
}

static void on_finish(struct member *member, const struct order_finish *order)
{
    member->finish = true;
    member->status = order->status;
}

static void on_told(struct member *member, const struct order_told *order)
{
    asks_take(&member->asks, order);
}

static void on_off(struct member *member, const struct order_off *order)
{
    member->off = order->adaptation;
}

/* Without it the claims are told, as before. */
static void share_muster(struct member *member, const struct shape_muster *s)
{
    if (member->muster)
        return;
    const struct muster_share share = {s->mark, s->places, s->place, s->whole};
    member->muster = s->place ? muster_find(&share, s->pid, s->fd) : muster_make(&share, &member->muster_fd);
}

/* A rank that has gone on without the others has told of rounds already. */
static void begin_to_muster(struct member *member)
{
    member->musters = true;
    member->base = member->passed;
    if (member->called > member->base)
        muster_tell(member->muster, (uint64_t)(member->called - member->base) - 1);
}

/* A round that all of this host have come to they count themselves, unless it has to be told by now: then each of them
 * hears. */
static void on_passed(struct member *member, const struct order_passed *order)
{
    if (order->round >= 0) {
        if (member->muster)
            muster_agree(member->muster, (uint64_t)order->round);
        return;
    }
    member->passed++;
    if (order->muster)
        share_muster(member, order->muster);
    if (order->begins && member->muster)
        begin_to_muster(member);
}

static void on_aloud(struct member *member, const struct order_aloud *order)
{
    struct aloud *aloud = &member->aloud;
    aloud->all = order->all || order->places.count > ROLLCALL_BREAKS_MAX;
    aloud->count = 0;
    for (int i = 0; !aloud->all && i < order->places.count; i++) {
        const struct shape_stop_place *place = &order->places.items[i];
        aloud->places[aloud->count++] =
            (struct stop_at){.pc = place->pc, .iteration = place->iteration, .met = place->met};
    }
    if (member->muster)
        muster_ring(member->muster);
}

static void on_halt(struct member *member, const struct order_halt *order)
{
    member->stopped = order->halt;
}

/* ---- Taking messages ------------------------------------------------------ */

/* Hands what was decoded to who takes it; BARE: there is nothing in it. */
#define TAKES_ORDER(name)                                                                                              \
    static void take_##name(struct member *member, const void *order)                                                  \
    {                                                                                                                  \
        on_##name(member, (const struct order_##name *)order);                                                         \
    }
#define TAKES_BARE(name)                                                                                               \
    static void take_##name(struct member *member, const void *order)                                                  \
    {                                                                                                                  \
        (void)order;                                                                                                   \
        on_##name(member);                                                                                             \
    }
TAKES_ORDER(freeze)
TAKES_BARE(position)
TAKES_ORDER(locate)
TAKES_ORDER(waits)
TAKES_BARE(ping)
TAKES_BARE(alive)
TAKES_ORDER(target)
TAKES_BARE(release)
TAKES_ORDER(settled)
TAKES_ORDER(decide)
TAKES_ORDER(save)
TAKES_BARE(heard)
TAKES_BARE(progress)
TAKES_ORDER(list)
TAKES_ORDER(wake)
TAKES_ORDER(meet)
TAKES_BARE(call_off)
TAKES_ORDER(finish)
TAKES_ORDER(told)
TAKES_ORDER(off)
TAKES_ORDER(passed)
TAKES_ORDER(aloud)
TAKES_ORDER(halt)

/* CHANGES: called with the lock, and the program's thread looks then; ANSWERS: without. */
static const struct own_row {
    void (*take)(struct member *member, const void *order);
    enum { ANSWERS, CHANGES } how;
} own_rows[MESSAGE_IDS] = {
    [order_freeze_id] = {take_freeze, ANSWERS},     [order_position_id] = {take_position, ANSWERS},
    [order_locate_id] = {take_locate, ANSWERS},     [order_waits_id] = {take_waits, ANSWERS},
    [order_ping_id] = {take_ping, ANSWERS},         [order_alive_id] = {take_alive, ANSWERS},
    [order_target_id] = {take_target, CHANGES},     [order_release_id] = {take_release, CHANGES},
    [order_settled_id] = {take_settled, CHANGES},   [order_decide_id] = {take_decide, ANSWERS},
    [order_save_id] = {take_save, ANSWERS},         [order_heard_id] = {take_heard, CHANGES},
    [order_progress_id] = {take_progress, CHANGES}, [order_list_id] = {take_list, ANSWERS},
    [order_wake_id] = {take_wake, CHANGES},         [order_meet_id] = {take_meet, CHANGES},
    [order_call_off_id] = {take_call_off, CHANGES}, [order_finish_id] = {take_finish, CHANGES},
    [order_told_id] = {take_told, CHANGES},         [order_off_id] = {take_off, CHANGES},
    [order_passed_id] = {take_passed, CHANGES},     [order_halt_id] = {take_halt, CHANGES},
    [order_aloud_id] = {take_aloud, CHANGES},
};

static void take_own(struct member *member, const struct own_row *row, const void *order)
{
    if (row->how == ANSWERS) {
        row->take(member, order);
        return;
    }
    pthread_mutex_lock(&member->lock);
    row->take(member, order);
    pthread_cond_broadcast(&member->changed);
    pthread_mutex_unlock(&member->lock);
}

/* False: no table knows it. */
static bool take_other(struct member *member, const struct message *message)
{
    for (int i = 0; i < member->table_count; i++) {
        const struct message_table *t = &member->tables[i];
        const struct message_row *row = message_row(t->rows, t->count, message->id);
        if (row)
            row->take(t->context, message->is);
        if (row)
            return true;
    }
    return false;
}

void member_understand(struct member *member, const struct message_row *rows, size_t count, void *context)
{
    member->tables[member->table_count++] = (struct message_table){rows, count, context};
}

/* The rank could not take part, and would wait for ever for what it was told. */
static void member_refuse(struct member *member, const struct message *message, const struct error *why)
{
    if (message->id == order_decide_id || message->id == order_save_id)
        tell_failed(member, why->text);
    else
        message_refuse(why);
}

void member_receive(struct member *member, const cJSON *json)
{
    struct message message;
    struct error why;
    if (!message_decode(&message, KIND_ORDER, json, &why)) {
        member_refuse(member, &message, &why);
    } else if (own_rows[message.id].take) {
        take_own(member, &own_rows[message.id], message.is);
    } else if (!take_other(member, &message)) {
        error_set(&why, ERROR_FAILED, "a message '%s' is not for this process", json_text(json, "op"));
        message_refuse(&why);
    }
    message_free(&message);
}

/* ---- Ahead of the window ------------------------------------------------- */

void member_send_on_errand(struct member *member, const struct errand_order *order)
{
    pthread_mutex_lock(&member->lock);
    member->errand = *order;
    update_ceiling(member);
    pthread_cond_broadcast(&member->changed);
    pthread_mutex_unlock(&member->lock);
}

void member_listed(struct member *member, int adaptation, const struct position *at, const struct constants *constants,
                   cJSON *place)
{
    char hash[17];
    cJSON *message = json_message(REPORT(listed));
    cJSON_AddNumberToObject(message, "adaptation", adaptation);
    if (place)
        cJSON_AddItemToObject(message, "place", place);
    if (at) {
        snprintf(hash, sizeof hash, "%016llx", (unsigned long long)constants->hash);
        cJSON_AddNumberToObject(message, "constants", (double)constants->bytes);
        cJSON_AddStringToObject(message, "hash", hash);
        position_to_json(at, message);
    }
    member_tell(member, message);
}

void member_ahead(struct member *member, int adaptation, const struct error *failure, int64_t bytes)
{
    cJSON *message = json_message(REPORT(ahead));
    cJSON_AddNumberToObject(message, "adaptation", adaptation);
    if (failure)
        cJSON_AddStringToObject(message, "failure", failure->text);
    if (failure && failure->code == ERROR_TIMEOUT)
        cJSON_AddTrueToObject(message, "unreachable");
    if (!failure)
        cJSON_AddNumberToObject(message, "bytes", (double)bytes);
    member_tell(member, message);
}

/* ---- The program's thread ----------------------------------------------- */

/* With the lock held. What it takes is no waiting for others. True if there was something to do. */
static bool run_errand(struct member *member, const struct position *at)
{
    double begin = monotonic_seconds();
    const struct errand_order order = member->errand;
    if (!order.errand)
        return false;
    member->errand.errand = ERRAND_NONE;
    update_ceiling(member);
    pthread_mutex_unlock(&member->lock);
    if (member->run_errand)
        member->run_errand(member->context, &order, at);
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

/* Seconds to the next poke. */
static double poke_in(int waits)
{
    static const double first = 0.0002, longest = 0.005;
    return waits < 5 ? first * (1 << waits) : longest;
}

void member_wait_poking(struct member *member, int *waits)
{
    if (!member->poke) {
        pthread_cond_wait(&member->changed, &member->lock);
        return;
    }
    struct timespec until = clock_in(CLOCK_MONOTONIC, poke_in(*waits));
    if (pthread_cond_clockwait(&member->changed, &member->lock, CLOCK_MONOTONIC, &until) == ETIMEDOUT) {
        ++*waits;
        pthread_mutex_unlock(&member->lock);
        member->poke(member->context);
        pthread_mutex_lock(&member->lock);
    }
}

bool member_idle(struct member *member, const bool *quit)
{
    pthread_mutex_lock(&member->lock);
    while (!*quit && !member->finish && !member->target && !member->asked && !member->errand.errand)
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

/* "I am at the target": with the lock held, once per probe. True if it let the lock go meanwhile. */
static bool report_at(struct member *member, uint64_t count, const struct position *at, int needs)
{
    if (member->reported == count)
        return false;
    member->reported = count;
    cJSON *message = json_message(REPORT(arrived));
    cJSON_AddNumberToObject(message, "count", (double)count);
    position_to_json(at, message);
    tally_tell(&member->live.tally, &member->live.iteration, message);
    cJSON_AddNumberToObject(message, "needs", needs);
    cJSON_AddNumberToObject(message, "held", monotonic_seconds() - member->held);
    pthread_mutex_unlock(&member->lock);
    member_tell(member, message);
    pthread_mutex_lock(&member->lock);
    return true;
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
        bool at_end = member->frozen && count >= member->frozen_at;
        if (!at_end && !at_target && !needs)
            break;
        if (!member->frozen && report_at(member, count, at, needs))
            continue; /* an order may have come */
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
    member_tell(member, json_message(REPORT(ended)));
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
    while (!member->finish && !member->wake.is)
        pthread_cond_wait(&member->changed, &member->lock);
    /* Woken and told to finish at once: the other joiners may be in the middle of joining and wait for this one. */
    enum task task = member->wake.is ? TASK_JOIN : TASK_FINISH;
    pthread_mutex_unlock(&member->lock);
    return task;
}

bool member_meet(struct member *member, int adaptation, const cJSON *ports, struct message *meeting)
{
    cJSON *message = json_message(REPORT(meet));
    cJSON_AddNumberToObject(message, "adaptation", adaptation);
    if (ports)
        cJSON_AddItemToObject(message, "ports", cJSON_Duplicate(ports, 1));
    member_tell(member, message);
    pthread_mutex_lock(&member->lock);
    while (!member->cancelled && !member->finish && !member->meeting.is)
        pthread_cond_wait(&member->changed, &member->lock);
    *meeting = member->meeting;
    member->meeting = (struct message){0};
    pthread_mutex_unlock(&member->lock);
    return meeting->is;
}

void member_describes(struct member *member, cJSON *described)
{
    if (!described)
        return;
    cJSON *message = json_message(REPORT(describes));
    for (cJSON *item; (item = cJSON_DetachItemFromArray(described, 0));)
        cJSON_AddItemToObject(message, item->string, item);
    cJSON_Delete(described);
    member_tell(member, message);
}

void member_ready(struct member *member, int adaptation, const char *failure, const char *port)
{
    cJSON *message = json_message(REPORT(ready));
    cJSON_AddNumberToObject(message, "adaptation", adaptation);
    if (port)
        cJSON_AddStringToObject(message, "port", port);
    if (failure)
        cJSON_AddStringToObject(message, "failure", failure);
    member_tell(member, message);
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
    message_free(&member->wake);
    pthread_mutex_unlock(&member->lock);
    return joined;
}

void member_linked(struct member *member, int adaptation)
{
    cJSON *message = json_message(REPORT(linked));
    cJSON_AddNumberToObject(message, "adaptation", adaptation);
    member_tell(member, message);
}

void member_connected(struct member *member, int adaptation, const char *failure)
{
    cJSON *message = json_message(REPORT(connected));
    cJSON_AddNumberToObject(message, "adaptation", adaptation);
    if (failure)
        cJSON_AddStringToObject(message, "failure", failure);
    member_tell(member, message);
}

void member_committed(struct member *member, int adaptation, double stall, int64_t bytes)
{
    cJSON *message = json_message(REPORT(committed));
    cJSON_AddNumberToObject(message, "adaptation", adaptation);
    cJSON_AddNumberToObject(message, "stall", stall);
    cJSON_AddNumberToObject(message, "bytes", (double)bytes);
    member_tell(member, message);
}

void member_saved(struct member *member, const struct saved *saved)
{
    cJSON *message = json_message(REPORT(saved));
    cJSON_AddNumberToObject(message, "number", saved->number);
    cJSON_AddNumberToObject(message, "bytes", (double)saved->bytes);
    if (saved->linked)
        cJSON_AddTrueToObject(message, "linked");
    if (saved->failure)
        cJSON_AddStringToObject(message, "failure", saved->failure);
    member_tell(member, message);
}

static void tell_of_copy(struct member *member, cJSON *message, int number, const char *failure)
{
    cJSON_AddNumberToObject(message, "number", number);
    if (failure)
        cJSON_AddStringToObject(message, "failure", failure);
    member_tell(member, message);
}

void member_stored(struct member *member, int number, const char *failure)
{
    tell_of_copy(member, json_message(REPORT(stored)), number, failure);
}

void member_kept(struct member *member, int number, const char *failure)
{
    tell_of_copy(member, json_message(REPORT(kept)), number, failure);
}

/* The world goes, and another host's ranks may be in the next one. With the lock held. */
static void leave_muster(struct member *member)
{
    muster_close(member->muster);
    member->muster = NULL;
    member->muster_fd = -1;
    member->musters = false;
}

void member_parked(struct member *member, bool reusable)
{
    pthread_mutex_lock(&member->lock);
    member->frozen = member->asked = member->decided = member->saves = false;
    member->errand.errand = ERRAND_NONE;
    member->target = member->reported = 0;
    member->called = member->passed = 0;
    member->stopped = false;
    leave_muster(member);
    update_ceiling(member);
    pthread_mutex_unlock(&member->lock);
    cJSON *message = json_message(REPORT(parked));
    cJSON_AddBoolToObject(message, "reusable", reusable);
    member_tell(member, message);
}

void member_report_progress(struct member *member, const epop_progress_t *progress, double mpi_seconds)
{
    const struct position at = present_position(member);
    cJSON *message = json_message(REPORT(progress));
    cJSON_AddNumberToObject(message, "pc", at.pc);
    cJSON_AddNumberToObject(message, "visit", (double)at.visit);
    cJSON_AddNumberToObject(message, "iteration", (double)progress->iteration);
    cJSON_AddNumberToObject(message, "bound", (double)progress->bound);
    if (mpi_seconds >= 0) {
        cJSON_AddNumberToObject(message, "mpi_seconds", mpi_seconds);
        cJSON_AddNumberToObject(message, "clock", monotonic_seconds());
    }
    member_tell(member, message);
}

void member_stretch(struct member *member, const struct stretch_log *log, int from)
{
    member_tell(member, stretch_log_to_json(log, from));
}

void member_hosts(struct member *member)
{
    member_tell(member, json_message(REPORT(hosts)));
}

void member_gone(struct member *member)
{
    member_tell(member, json_message(REPORT(gone)));
}

/* ---- Roll calls --------------------------------------------------------------------------------- */

#define ROLLCALL_PATIENCE 1.0   /* seconds for those that are late */
#define ROLLCALL_LEAD     10000 /* claims that a rank may be ahead */

/* The program's thread makes one. */
struct call {
    const struct claim *claim;
    struct muster *muster; /* where it is compared; NULL: by the coordinator */
    uint64_t round;        /* there */
    bool behind;           /* this rank had gone on without the others before */
    double until;          /* it waits */
};

static struct call begin_call(struct member *member, const struct claim *claim)
{
    struct call call = {.claim = claim, .until = monotonic_seconds() + ROLLCALL_PATIENCE};
    pthread_mutex_lock(&member->lock);
    if (claim->window)
        leave_muster(member);
    call.behind = member->called > member->passed;
    member->called++;
    if (member->musters) {
        call.muster = member->muster;
        call.round = (uint64_t)(member->called - member->base) - 1;
    }
    pthread_mutex_unlock(&member->lock);
    return call;
}

/* ---- What is claimed ---- */

static uint64_t hash_of_claim(const struct claim *claim)
{
    const int64_t at[] = {claim->at.pc, claim->at.visit, claim->at.iteration};
    return hash_bytes(hash_bytes(HASH_BEGIN, at, sizeof at), claim->words, strlen(claim->words));
}

static bool stops_at(const struct stop_at *place, const struct claim *claim)
{
    return claim->begins && place->pc == claim->at.pc && place->met != claim->at.visit &&
           (place->iteration < 0 || place->iteration == claim->at.iteration);
}

static bool has_to_tell(struct member *member, const struct claim *claim)
{
    pthread_mutex_lock(&member->lock);
    bool tells = member->aloud.all;
    for (int i = 0; i < member->aloud.count; i++)
        tells = tells || stops_at(&member->aloud.places[i], claim);
    pthread_mutex_unlock(&member->lock);
    return tells;
}

/* ---- By the coordinator ---- */

static void add_muster(struct member *member, const struct call *call, cJSON *message)
{
    pthread_mutex_lock(&member->lock);
    if (member->muster)
        cJSON_AddStringToObject(message, "muster", muster_mark(member->muster));
    if (member->muster_fd >= 0)
        cJSON_AddNumberToObject(message, "fd", member->muster_fd);
    if (call->muster)
        cJSON_AddNumberToObject(message, "round", (double)call->round);
    pthread_mutex_unlock(&member->lock);
}

/* for_host: all ranks of this host claim the same. */
static void tell_claim(struct member *member, const struct call *call, bool for_host)
{
    char address[32];
    const struct claim *claim = call->claim;
    cJSON *message = json_message(REPORT(claim));
    position_to_json(&claim->at, message);
    cJSON_AddBoolToObject(message, "window", claim->window);
    cJSON_AddBoolToObject(message, "begins", claim->begins);
    cJSON_AddStringToObject(message, "words", claim->words);
    if (claim->block) {
        snprintf(address, sizeof address, "%p", claim->block);
        cJSON_AddStringToObject(message, "block", address);
    }
    add_muster(member, call, message);
    if (for_host)
        cJSON_AddTrueToObject(message, "host");
    member_tell(member, message);
}

/* ---- In the muster ---- */

/* MPI may need this process meanwhile, as in member_wait_poking. */
static enum muster_end wait_for_muster(struct member *member, const struct call *call, enum muster_end end)
{
    bool asked = false;
    for (int waits = 0; end == MUSTER_OPEN; waits++) {
        uint32_t bell = muster_bell(call->muster);
        if (has_to_tell(member, call->claim) || monotonic_seconds() >= call->until)
            return muster_tell(call->muster, call->round);
        if (!asked && muster_asks(call->muster, call->round)) {
            tell_claim(member, call, true);
            asked = true;
        }
        end = muster_wait(call->muster, call->round, bell, poke_in(waits));
        if (end == MUSTER_OPEN && member->poke)
            member->poke(member->context);
    }
    return end;
}

/* Have all claimed the same? If not, the claim is to be told. */
static bool musters_alike(struct member *member, const struct call *call)
{
    bool tells = call->behind || has_to_tell(member, call->claim);
    enum muster_end end = tells ? muster_tell(call->muster, call->round)
                                : muster_come(call->muster, call->round, hash_of_claim(call->claim));
    if (wait_for_muster(member, call, end) != MUSTER_ALIKE)
        return false;
    pthread_mutex_lock(&member->lock);
    member->passed++;
    pthread_mutex_unlock(&member->lock);
    return true;
}

/* ---- All ---- */

/* Does this rank still wait for the others? Not when it had gone on without them before. With the lock held. */
static bool waits_for_claims(const struct member *member, const struct call *call)
{
    int64_t lead = member->called - member->passed;
    if (lead <= 0)
        return false;
    return member->stopped || lead > ROLLCALL_LEAD || (!call->behind && monotonic_seconds() < call->until);
}

void member_rollcall(struct member *member, const struct claim *claim)
{
    struct call call = begin_call(member, claim);
    int pokes = 0;
    if (call.muster && musters_alike(member, &call))
        return;
    tell_claim(member, &call, false);
    pthread_mutex_lock(&member->lock);
    while (waits_for_claims(member, &call)) {
        member_wait_poking(member, &pokes);
        if (member->stopped)
            call.until = monotonic_seconds() + ROLLCALL_PATIENCE;
    }
    pthread_mutex_unlock(&member->lock);
}
