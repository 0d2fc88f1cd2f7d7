/* The adviser's conversation with jobs: requests, answers, connections. */
#include "scheduler/slurm/asking.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/wire/loop.h"
#include "scheduler/journal/history.h"

/* ---- Telling and waking ------------------------------------------------------------------------- */

/* A disk that is full is no reason to advise nobody. */
static void write_down(const struct adviser *adviser, const struct journal_event *event)
{
    struct error error;
    if (adviser->journal && event->job)
        journal_event_add(adviser->journal, event, &error);
}

void asking_tell(struct adviser *adviser, const struct journal_event *event)
{
    write_down(adviser, event);
    if (event->job)
        fprintf(stderr, "epoprm: job %" PRId64 ": %s: %s\n", event->job, event->kind, event->text);
    else
        fprintf(stderr, "epoprm: %s\n", event->text);
    if (adviser->listener.tell)
        adviser->listener.tell(adviser->listener.context, event);
}

void asking_say(struct adviser *adviser, const char *text)
{
    struct journal_event event = {.time = wall_seconds(), .at = -1, .kind = "daemon", .text = text};
    asking_tell(adviser, &event);
}

void asking_wake(struct adviser *adviser)
{
    if (!adviser->stale)
        wire_timer_set(adviser->again, ADVISER_APART);
    adviser->stale = true;
}

/* ---- Sending ------------------------------------------------------------------------------------ */

static const double look_every = 5, look_again = 0.5, keep = 60; /* seconds */

/* How long each may take, and how long the attendant's answer that it did may be on its way. */
static const double limits[] = {[ASK_STATUS] = 10,  [ASK_MEASURE] = 10,  [ASK_GROW] = 60,
                                [ASK_SHRINK] = 120, [ASK_BALANCE] = 120, [ASK_EARLIER] = 120};
static const double on_its_way = 15;

/* Others than those of an adviser before. */
static int64_t next_id(struct adviser *adviser)
{
    int64_t id = (int64_t)(wall_seconds() * 10000);
    adviser->last_id = id > adviser->last_id ? id : adviser->last_id + 1;
    return adviser->last_id;
}

static void send_request(struct adviser *adviser, struct advised *job, enum ask_kind kind, cJSON *request)
{
    cJSON *line = cJSON_CreateObject();
    job->ask.kind = kind;
    job->ask.id = next_id(adviser);
    job->ask.sent = monotonic_seconds();
    cJSON_AddNumberToObject(line, "id", (double)job->ask.id);
    cJSON_AddStringToObject(line, "do", "ask");
    cJSON_AddItemToObject(line, "request", request);
    cJSON_AddNumberToObject(line, "timeout", limits[kind]);
    peer_send(job->peer, line);
}

static void send_forget(struct peer *peer, int64_t id)
{
    cJSON *line = cJSON_CreateObject();
    cJSON_AddStringToObject(line, "do", "forget");
    cJSON_AddItemToArray(cJSON_AddArrayToObject(line, "ids"), cJSON_CreateNumber((double)id));
    peer_send(peer, line);
}

static void tell_step(struct adviser *adviser, const struct advised *job, const char *kind, const char *text)
{
    char *nodes = hostlist_text(&job->ask.nodes, 0);
    struct journal_event event = {.time = wall_seconds(),
                                  .at = -1,
                                  .job = job->id,
                                  .kind = kind,
                                  .text = text,
                                  .state = !strcmp(kind, "decision") ? "adapting" : "running",
                                  .from = job->ask.from,
                                  .to = job->ask.to,
                                  .nodes = nodes};
    asking_tell(adviser, &event);
    free(nodes);
}

void asking_resize(struct adviser *adviser, struct advised *job, enum ask_kind kind, struct hostlist *nodes, int from,
                   int to, const char *reason)
{
    cJSON *request = json_message("resize");
    char *list = hostlist_text(nodes, kind == ASK_GROW ? job->told.slots : 0);
    ask_over(&job->ask);
    job->ask.nodes = *nodes;
    *nodes = (struct hostlist){0};
    job->ask.from = from;
    job->ask.to = to;
    snprintf(job->reason, sizeof job->reason, "%s", reason);
    if (kind == ASK_GROW)
        cJSON_AddNumberToObject(request, "delta", job->ask.nodes.count * job->told.slots);
    cJSON_AddStringToObject(request, kind == ASK_GROW ? "add_hosts" : "release_hosts", list ? list : "");
    cJSON_AddTrueToObject(request, "wait");
    free(list);
    send_request(adviser, job, kind, request);
    tell_step(adviser, job, "decision", reason);
}

static void send_status(struct adviser *adviser, struct advised *job)
{
    send_request(adviser, job, ASK_STATUS, json_message("status"));
}

static void send_measure(struct adviser *adviser, struct advised *job)
{
    cJSON *request = json_message("measure");
    cJSON_AddStringToObject(request, "asker", "adviser");
    cJSON_AddNumberToObject(request, "keep", keep);
    send_request(adviser, job, ASK_MEASURE, request);
}

static bool is_late(const struct advised *job, double now)
{
    return job->ask.kind != ASK_NOTHING && now > job->ask.sent + limits[job->ask.kind] + on_its_way;
}

/* A connection that has lost an answer is worth nothing; the attendant makes another. */
static void give_up_job(struct advised *job)
{
    peer_close(job->peer);
    job->peer = NULL;
    job->attached = false;
    advised_ask_lost(job);
}

void asking_look(struct adviser *adviser)
{
    double now = monotonic_seconds(), next = look_every;
    for (struct advised *job = adviser->table.first; job; job = job->next) {
        if (job->peer && is_late(job, now))
            give_up_job(job);
        if (!job->peer || !job->attached)
            continue;
        if (job->ask.kind == ASK_NOTHING && now >= job->look_at)
            send_status(adviser, job);
        else if (job->ask.kind == ASK_NOTHING)
            next = fmin(next, job->look_at - now);
    }
    wire_timer_set(adviser->looks, fmax(next, 0.05));
}

/* ---- What earlier jobs of its program have shown ------------------------------------------------ */

/* Who it is by its status. NULL: it does not say so. */
static char *program_of(const cJSON *status)
{
    const cJSON *arguments = cJSON_GetObjectItemCaseSensitive(status, "arguments"), *each;
    const char *path = json_text(status, "path");
    int count = 0;
    const char **argv = path ? calloc((size_t)cJSON_GetArraySize(arguments) + 2, sizeof *argv) : NULL;
    if (!argv)
        return NULL;
    argv[count++] = path;
    cJSON_ArrayForEach(each, arguments)
    {
        if (cJSON_IsString(each))
            argv[count++] = each->valuestring;
    }
    char *program = history_program("/", argv);
    free(argv);
    return program;
}

static void tell_recalled(struct adviser *adviser, const struct advised *job, const struct history *history)
{
    char text[DECISION_REASON_MAX];
    snprintf(text, sizeof text,
             "it is known how fast jobs of this program were at %zu size%s; the last one was job %lld", history->count,
             history->count == 1 ? "" : "s", (long long)history_last(history));
    struct journal_event event = {.time = wall_seconds(), .at = -1, .job = job->id, .kind = "running", .text = text};
    asking_tell(adviser, &event);
}

/* Once, when it has said what it runs. */
static void recall_history(struct adviser *adviser, struct advised *job, const cJSON *status)
{
    const struct slurm_job *slurm = adviser->view ? view_job(adviser->view, job->id) : NULL;
    struct history history;
    struct error error;
    if (job->program || !slurm || !(job->program = program_of(status)))
        return;
    job->uid = slurm->uid;
    struct history_key key = {(int)job->uid, job->program};
    if (history_read(adviser->journal, &key, wall_seconds(), &history, &error)) {
        asking_say(adviser, error.text);
        return;
    }
    for (size_t i = 0; i < history.count && !samples_reserve(&job->told.samples); i++)
        samples_remember(&job->told.samples, &history.samples[i].sample);
    if (history.count)
        tell_recalled(adviser, job, &history);
    history_free(&history);
}

void asking_keep_history(struct adviser *adviser, const struct advised *job)
{
    struct error error;
    const struct samples *samples = &job->told.samples;
    if (!job->program || !samples->count)
        return;
    struct history_key key = {(int)job->uid, job->program};
    if (journal_begin(adviser->journal, &error) ||
        history_write(adviser->journal, &key, job->id, wall_seconds(), samples->items, samples->count, &error) ||
        journal_commit(adviser->journal, &error)) {
        journal_rollback(adviser->journal);
        asking_say(adviser, error.text);
    }
}

/* ---- Answers ------------------------------------------------------------------------------------ */

__attribute__((format(printf, 3, 4))) static void tell_running(struct adviser *adviser, const struct advised *job,
                                                               const char *format, ...)
{
    char text[DECISION_REASON_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    struct journal_event event = {.time = wall_seconds(), .at = -1, .job = job->id, .kind = "running", .text = text};
    asking_tell(adviser, &event);
}

/* Where its process sets ask for something else than before. */
static void tell_hints(struct adviser *adviser, const struct advised *job, const struct hints *before)
{
    char text[HINTS_TEXT];
    if (!hints_same(&job->told.hints, before) && hints_text(&job->told.hints, text))
        tell_running(adviser, job, "%s", text);
}

static void take_status(struct adviser *adviser, struct advised *job, const cJSON *answer)
{
    const cJSON *status = cJSON_GetObjectItemCaseSensitive(answer, "job");
    const char *state = json_text(status, "state");
    job->look_at = monotonic_seconds() + look_again;
    if (!json_true(answer, "ok") || !state)
        return;
    recall_history(adviser, job, status);
    struct hints before = job->told.hints;
    if (told_status(&job->told, status))
        return;
    tell_hints(adviser, job, &before);
    job->told.known = !strcmp(state, "running");
    job->look_at = monotonic_seconds() + (job->told.known ? look_every : look_again);
    send_measure(adviser, job);
}

/* Before the policy sees the job again. */
static void ask_for_balance(struct adviser *adviser, struct advised *job)
{
    cJSON *request = json_message("balance");
    snprintf(job->reason, sizeof job->reason, "balances first: imbalance %.2f on %d ranks", job->told.balance.last,
             job->told.ranks);
    cJSON_AddTrueToObject(request, "wait");
    balance_begins(&job->told.balance);
    send_request(adviser, job, ASK_BALANCE, request);
    tell_running(adviser, job, "%s", job->reason);
}

static void take_measure(struct adviser *adviser, struct advised *job, const cJSON *answer)
{
    double from, to;
    if (!json_true(answer, "ok") || told_measure(&job->told, cJSON_GetObjectItemCaseSensitive(answer, "measure")))
        return;
    if (job->told.change > 0)
        tell_running(adviser, job, SAMPLES_CHANGED, job->told.change);
    if (balance_outcome(&job->told.balance, &from, &to))
        tell_running(adviser, job, BALANCE_OUTCOME, from, to);
    if (job->told.balances && job->told.elastic && balance_due(&job->told.balance))
        ask_for_balance(adviser, job);
}

static void take_balance(struct adviser *adviser, struct advised *job, const struct ask *ask, const cJSON *answer)
{
    const char *why = json_text(answer, "reason");
    job->look_at = 0;
    if (json_true(answer, "ok")) {
        balance_done(&job->told.balance, ask->stall);
        samples_balanced(&job->told.samples);
        return;
    }
    balance_refused(&job->told.balance);
    tell_running(adviser, job, "it is not balanced: %.150s", why ? why : "no reason");
}

static void write_down_resize(const struct adviser *adviser, const struct advised *job, const char *why)
{
    double now = wall_seconds();
    record_resize(adviser->journal, job, now - (monotonic_seconds() - job->ask.sent), now, why);
}

/* Longer each time. */
static double seconds_of_patience(int refusals, double first)
{
    return fmin(300, first * pow(2, fmin(refusals, 10)));
}

static void take_resize(struct adviser *adviser, struct advised *job, const cJSON *answer)
{
    bool grows = job->ask.kind == ASK_GROW;
    double now = monotonic_seconds();
    char text[DECISION_REASON_MAX + 100];
    const char *why = json_text(answer, "reason");
    if (json_true(answer, "ok")) {
        snprintf(text, sizeof text, "%d -> %d nodes in %.3f s", job->ask.from, job->ask.to, now - job->ask.sent);
        job->refusals = 0;
        tell_step(adviser, job, "committed", text);
        write_down_resize(adviser, job, NULL);
    } else {
        snprintf(text, sizeof text, "%d -> %d nodes: %.180s", job->ask.from, job->ask.to, why ? why : "no reason");
        *(grows ? &job->no_grow_until : &job->no_shrink_until) =
            now + seconds_of_patience(job->refusals++, grows ? 10 : 5);
        tell_step(adviser, job, "refused", text);
        write_down_resize(adviser, job, why ? why : "no reason");
    }
}

/* What it says next, and what Slurm says next, is what is decided on. */
static void resize_over(struct adviser *adviser, struct advised *job)
{
    job->told.known = false;
    job->look_at = 0;
    adviser->changed = monotonic_seconds();
    reading_hurry(&adviser->reading);
}

static void take_answer(struct adviser *adviser, struct advised *job, int64_t id, const cJSON *answer)
{
    struct ask ask = job->ask;
    send_forget(job->peer, id);
    if (ask.kind == ASK_NOTHING || ask.id != id)
        return;
    bool resized = advised_is_busy(job) && ask.kind != ASK_BALANCE;
    if (ask.kind == ASK_GROW || ask.kind == ASK_SHRINK)
        take_resize(adviser, job, answer);
    ask_over(&job->ask);
    if (ask.kind == ASK_STATUS)
        take_status(adviser, job, answer);
    else if (ask.kind == ASK_MEASURE)
        take_measure(adviser, job, answer);
    else if (ask.kind == ASK_BALANCE)
        take_balance(adviser, job, &ask, answer);
    if (resized)
        resize_over(adviser, job);
    asking_wake(adviser);
}

/* ---- Connections -------------------------------------------------------------------------------- */

static int64_t id_of(const cJSON *object)
{
    return json_int64(object, "id", 0);
}

/* What it was asked before the connection broke, or by an adviser before: an answer that is open is waited for. */
static void take_hello(struct adviser *adviser, struct advised *job, const cJSON *line)
{
    const cJSON *asked;
    bool ours = false;
    cJSON_ArrayForEach(asked, cJSON_GetObjectItemCaseSensitive(line, "asked"))
    {
        const cJSON *answer = cJSON_GetObjectItemCaseSensitive(asked, "answer");
        int64_t id = id_of(asked);
        ours = ours || (job->ask.kind != ASK_NOTHING && job->ask.id == id);
        if (cJSON_IsObject(answer)) {
            take_answer(adviser, job, id, answer);
        } else if (job->ask.kind == ASK_NOTHING) {
            job->ask = (struct ask){.kind = ASK_EARLIER, .id = id, .sent = monotonic_seconds()};
            ours = true;
        }
    }
    if (!ours)
        advised_ask_lost(job); /* it did not arrive */
    job->attached = json_true(line, "attached");
    job->look_at = 0;
}

static void take_event(struct adviser *adviser, struct advised *job, const char *event, const cJSON *line)
{
    const cJSON *what = cJSON_GetObjectItemCaseSensitive(line, "what");
    const char *of_job = json_text(what, "event");
    if (!strcmp(event, "hello"))
        take_hello(adviser, job, line);
    else if (!strcmp(event, "attached"))
        job->attached = true, job->look_at = 0;
    else if (!strcmp(event, "ended"))
        job->attached = false;
    else if (of_job && !strcmp(of_job, "committed") && json_true(what, "balance"))
        job->ask.stall = fmax(0, json_number(what, "stall", 0));
    else if (of_job && (!strcmp(of_job, "committed") || !strcmp(of_job, "resumed")))
        job->look_at = 0; /* by itself, or by its user */
    asking_wake(adviser);
}

void asking_line(void *context, struct peer *peer, const cJSON *line)
{
    struct adviser *adviser = context;
    struct advised *job = advised_find(&adviser->table, peer->job);
    const char *event = json_text(line, "event");
    const cJSON *answer = cJSON_GetObjectItemCaseSensitive(line, "answer");
    if (!job || job->peer != peer)
        return;
    if (event)
        take_event(adviser, job, event, line);
    else if (cJSON_IsObject(answer))
        take_answer(adviser, job, id_of(line), answer);
    asking_look(adviser);
}

int asking_check(void *context, int64_t id, uid_t uid, struct error *error)
{
    const struct adviser *adviser = context;
    const struct slurm_job *job = adviser->view ? view_job(adviser->view, id) : NULL;
    if (!adviser->view || (!job && adviser->away))
        return error_set(error, ERROR_REFUSED, "Slurm does not answer the adviser yet: try again");
    if (!job || job->state != SLURM_JOB_RUNS)
        return error_set(error, ERROR_REFUSED, "Slurm has no job %" PRId64 " that runs", id);
    if (job->uid != uid)
        return error_set(error, ERROR_REFUSED, "job %" PRId64 " is not of uid %ld", id, (long)uid);
    return 0;
}

/* A connection of the same job that is still there is one that its other end has given up. */
void asking_welcome(void *context, struct peer *peer)
{
    struct adviser *adviser = context;
    struct advised *job = advised_get(&adviser->table, peer->job);
    if (!job)
        return;
    if (job->peer)
        peer_close(job->peer);
    job->peer = peer;
    job->attached = false;
    struct journal_event event = {
        .time = wall_seconds(), .at = -1, .job = job->id, .kind = "running", .text = "connected"};
    asking_tell(adviser, &event);
}

void asking_gone(void *context, struct peer *peer)
{
    struct adviser *adviser = context;
    struct advised *job = advised_find(&adviser->table, peer->job);
    if (!job || job->peer != peer)
        return;
    job->peer = NULL;
    job->attached = false;
    asking_wake(adviser);
}
