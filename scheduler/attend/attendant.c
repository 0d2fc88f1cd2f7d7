/* What an attendant is asked, and what it tells: see attendant.h. schema/attend.schema.json has the lines. */
#include "scheduler/attend/attendant.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/json.h"
#include "runtime/wire/loop.h"

static const double usual = 10, longest = 86400; /* seconds for an answer; 86400: a day */
static const struct wire_limits limits = {.line = 1 << 20, .unsent = 16 << 20};

struct peer {
    struct peer *next;
    struct attendant *attendant;
    struct wire_line *line;
};

/* ---- Telling ----------------------------------------------------------------------------------- */

static cJSON *event(const char *name)
{
    cJSON *line = cJSON_CreateObject();
    cJSON_AddStringToObject(line, "event", name);
    return line;
}

/* One that does not take what it is told is given up by its line. `line` is freed. */
static void say(const struct peer *peer, cJSON *line)
{
    wire_line_send(peer->line, line);
    cJSON_Delete(line);
}

static void tell(struct attendant *a, cJSON *line)
{
    size_t length;
    char *text = wire_line_text(line, &length);
    for (const struct peer *peer = a->peers; text && peer; peer = peer->next)
        wire_line_send_text(peer->line, text, length);
    cJSON_free(text);
    cJSON_Delete(line);
}

static void greet(struct attendant *a, const struct peer *peer)
{
    cJSON *hello = event("hello");
    cJSON_AddNumberToObject(hello, "version", 1);
    cJSON_AddStringToObject(hello, "state", a->ended ? "ended" : "running");
    cJSON_AddBoolToObject(hello, "attached", a->plane.state == PLANE_ATTACHED);
    if (a->plane.state == PLANE_ATTACHED)
        cJSON_AddStringToObject(hello, "job", a->plane.job.id);
    cJSON_AddItemToObject(hello, "asked", asked_json(&a->asked));
    cJSON_AddItemToObject(hello, "ended", a->ended ? cJSON_Duplicate(a->ended, 1) : cJSON_CreateNull());
    if (a->ended)
        a->told = true;
    say(peer, hello);
}

/* ---- The end ----------------------------------------------------------------------------------- */

void attendant_leave(struct attendant *a)
{
    a->over = true;
    wire_wake(a->base);
}

static void leave_when_all_is_sent(struct attendant *a)
{
    bool sent = a->told;
    for (const struct peer *peer = a->peers; sent && peer; peer = peer->next)
        sent = wire_line_is_sent(peer->line);
    if (sent)
        attendant_leave(a);
}

void attendant_ended(struct attendant *a, cJSON *ended)
{
    cJSON *line = event("ended");
    a->ended = ended;
    cJSON_AddItemToObject(line, "ended", cJSON_Duplicate(ended, 1));
    plane_close(&a->plane);
    asked_refuse_all(&a->asked, "ended", "the job has ended");
    ending_over(&a->ending);
    if (a->peers)
        a->told = true;
    tell(a, line);
    leave_when_all_is_sent(a);
}

static cJSON *answer_line(int64_t id, const cJSON *answer)
{
    cJSON *line = cJSON_CreateObject();
    cJSON_AddNumberToObject(line, "id", (double)id);
    cJSON_AddItemToObject(line, "answer", cJSON_Duplicate(answer, 1));
    return line;
}

static void on_answered(void *context, int64_t id, const cJSON *answer)
{
    tell(context, answer_line(id, answer));
}

/* ---- The control plane ------------------------------------------------------------------------- */

static void on_attached(void *context, const char *job)
{
    cJSON *line = event("attached");
    cJSON_AddStringToObject(line, "job", job);
    tell(context, line);
}

static void on_detached(void *context)
{
    struct attendant *a = context;
    asked_refuse_all(&a->asked, "ended", "the job's control plane has gone");
    tell(a, event("detached"));
}

static void on_event(void *context, const cJSON *what)
{
    cJSON *line = event("job");
    cJSON_AddItemToObject(line, "what", cJSON_Duplicate(what, 1));
    tell(context, line);
}

/* Below 0: it was asked by the attendant itself. */
static void on_answer(void *context, int64_t number, cJSON *answer)
{
    struct attendant *a = context;
    if (number > 0) {
        asked_answer(&a->asked, number, answer);
        return;
    }
    ending_answered(&a->ending, answer);
    cJSON_Delete(answer);
}

/* ---- What it is asked -------------------------------------------------------------------------- */

static void complain(const struct peer *peer, const char *reason)
{
    cJSON *line = event("refused");
    cJSON_AddStringToObject(line, "reason", reason);
    say(peer, line);
}

static double seconds_of(const cJSON *line, const char *name, double otherwise)
{
    return fmin(fmax(json_number(line, name, otherwise), 0), longest);
}

static void ask(struct attendant *a, int64_t id, const cJSON *line)
{
    const cJSON *request = cJSON_GetObjectItemCaseSensitive(line, "request");
    if (a->ended)
        asked_answer(&a->asked, id, asked_refusal("ended", "the job has ended"));
    else if (!json_text(request, "op"))
        asked_answer(&a->asked, id, asked_refusal("refused", "it is no request: it has no op"));
    else if (plane_ask(&a->plane, id, request))
        asked_answer(&a->asked, id, asked_refusal("refused", "the job has no control plane, or none yet"));
}

static void end(struct attendant *a, int64_t id, const cJSON *line)
{
    cJSON *answer = cJSON_CreateObject();
    cJSON_AddTrueToObject(answer, "ok");
    cJSON_AddStringToObject(answer, "code", a->ended ? "ended" : "accepted");
    if (!a->ended)
        ending_begin(&a->ending, seconds_of(line, "grace", usual));
    asked_answer(&a->asked, id, answer);
}

static void forget(struct attendant *a, const cJSON *line)
{
    const cJSON *id;
    cJSON_ArrayForEach(id, cJSON_GetObjectItemCaseSensitive(line, "ids"))
    {
        if (cJSON_IsNumber(id))
            asked_forget(&a->asked, (int64_t)id->valuedouble);
    }
}

/* One that was asked before is not done again. */
static void do_once(struct attendant *a, const struct peer *peer, const char *what, const cJSON *line)
{
    int64_t id = json_int64(line, "id", 0);
    const struct question *before = asked_find(&a->asked, id);
    if (id < 1)
        complain(peer, "ask and end need an id, which is a number above 0");
    else if (before && before->answer)
        say(peer, answer_line(id, before->answer));
    else if (before)
        return;
    else if (!asked_add(&a->asked, id, seconds_of(line, "timeout", usual)))
        complain(peer, "out of memory");
    else if (!strcmp(what, "ask"))
        ask(a, id, line);
    else
        end(a, id, line);
}

static void on_line(void *context, const cJSON *line)
{
    const struct peer *peer = context;
    struct attendant *a = peer->attendant;
    const char *what = json_text(line, "do");
    if (what && (!strcmp(what, "ask") || !strcmp(what, "end")))
        do_once(a, peer, what, line);
    else if (what && !strcmp(what, "forget"))
        forget(a, line);
    else
        complain(peer, "it says nothing to do: ask, end or forget");
}

static void on_nonsense(void *context, const char *text)
{
    (void)text;
    complain(context, "that is no line of JSON");
}

/* ---- Who talks to it --------------------------------------------------------------------------- */

static void on_sent(void *context)
{
    const struct peer *peer = context;
    leave_when_all_is_sent(peer->attendant);
}

static void on_gone(void *context, const char *why)
{
    struct peer *peer = context, **at = &peer->attendant->peers;
    struct attendant *a = peer->attendant;
    (void)why;
    while (*at != peer)
        at = &(*at)->next;
    *at = peer->next;
    wire_line_close(peer->line);
    free(peer);
    if (a->gone)
        a->gone(a->context);
    leave_when_all_is_sent(a);
}

static const struct wire_line_ops peer_ops = {
    .message = on_line, .nonsense = on_nonsense, .gone = on_gone, .sent = on_sent};

static void add(struct attendant *a, struct peer *peer)
{
    peer->attendant = a;
    peer->next = a->peers;
    a->peers = peer;
    greet(a, peer);
    leave_when_all_is_sent(a);
}

void attendant_talk(struct attendant *a, struct wire_line *line)
{
    struct peer *peer = calloc(1, sizeof *peer);
    if (!peer) {
        wire_line_close(line);
        return;
    }
    peer->line = line;
    wire_line_hand(line, &limits, WIRE_MEMBERS, &peer_ops, peer);
    add(a, peer);
}

void attendant_take(struct attendant *a, int fd)
{
    struct peer *peer = calloc(1, sizeof *peer);
    if (!peer)
        close(fd);
    else if (!(peer->line = wire_line_new(a->base, fd, &limits, &peer_ops, peer)))
        free(peer);
    else
        add(a, peer);
}

/* ---- Its life ---------------------------------------------------------------------------------- */

int attendant_open(struct attendant *a, const char *batch, const char *id, struct error *error)
{
    static const struct plane_ops ops = {on_attached, on_detached, on_event, on_answer};
    a->base = wire_base_new();
    if (!a->base)
        return error_memory(error);
    a->asked.base = a->base;
    a->asked.answered = on_answered;
    a->asked.context = a;
    a->plane.base = a->base;
    a->plane.batch = batch;
    a->plane.id = id;
    a->plane.ops = &ops;
    a->plane.context = a;
    return ending_open(&a->ending, a->base, &a->plane) ? error_memory(error) : plane_open(&a->plane, error);
}

int attendant_run(struct attendant *a, struct error *error)
{
    return wire_wait(a->base, &a->over, -1) ? 0 : error_set(error, ERROR_FAILED, "cannot wait for anything any more");
}
