/*
 * What an attendant does for those who are connected with it: it keeps what it was asked and answered, ends the job
 * step by step, and tells all of them what happens.
 */
#include "scheduler/attend/service.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/json.h"
#include "runtime/wire/loop.h"
#include "runtime/wire/messages.h"

/* ---- What was asked ----------------------------------------------------------------------------- */

struct question {
    struct question *next;
    struct asked *asked;
    int64_t id;
    double seconds;
    cJSON *answer; /* NULL: it waits */
    struct event *late;
    bool forgotten; /* before it was answered */
};

enum { KEPT_MOST = 1000 }; /* answers: one that never forgets does not fill the memory */

static cJSON *refusal(const char *code, const char *reason)
{
    cJSON *answer = cJSON_CreateObject();
    cJSON_AddFalseToObject(answer, "ok");
    cJSON_AddStringToObject(answer, "code", code);
    cJSON_AddStringToObject(answer, "reason", reason);
    return answer;
}

/* NULL: it was not asked, or is forgotten. */
static struct question *find_question(const struct asked *asked, int64_t id)
{
    for (struct question *one = asked->first; one; one = one->next)
        if (one->id == id && !one->forgotten)
            return one;
    return NULL;
}

static void drop_question(struct asked *asked, struct question *one)
{
    for (struct question **at = &asked->first; *at; at = &(*at)->next)
        if (*at == one) {
            *at = one->next;
            break;
        }
    event_free(one->late);
    cJSON_Delete(one->answer);
    free(one);
}

static void settle_question(struct question *one, cJSON *answer)
{
    struct asked *asked = one->asked;
    evtimer_del(one->late);
    one->answer = answer;
    if (one->forgotten)
        drop_question(asked, one);
    else
        asked->answered(asked->context, one->id, one->answer);
}

/* Of two with this id one is forgotten, and was asked before the other. */
static void answer_question(struct asked *asked, int64_t id, cJSON *answer)
{
    for (struct question *one = asked->first; one; one = one->next)
        if (one->id == id && !one->answer) {
            settle_question(one, answer);
            return;
        }
    cJSON_Delete(answer);
}

static void on_question_late(evutil_socket_t fd, short what, void *context)
{
    struct question *one = context;
    (void)fd, (void)what;
    char reason[80];
    snprintf(reason, sizeof reason, "the job did not answer within %g s", one->seconds);
    answer_question(one->asked, one->id, refusal("timeout", reason));
}

static void keep_few(struct asked *asked)
{
    int count = 0;
    struct question *oldest = NULL;
    for (struct question *one = asked->first; one; one = one->next) {
        count++;
        if (!oldest && one->answer)
            oldest = one;
    }
    if (count > KEPT_MOST && oldest)
        drop_question(asked, oldest);
}

/* A new one, which is answered with `timeout` after so many seconds. NULL: no memory. */
static struct question *add_question(struct asked *asked, int64_t id, double seconds)
{
    struct question *one = calloc(1, sizeof *one), **last = &asked->first;
    if (!one || !(one->late = evtimer_new(asked->base, on_question_late, one))) {
        free(one);
        return NULL;
    }
    keep_few(asked);
    while (*last)
        last = &(*last)->next;
    *last = one;
    one->asked = asked;
    one->id = id;
    one->seconds = seconds;
    wire_timer_set(one->late, seconds);
    return one;
}

/* {"ok":false,"code":code,"reason":reason} to all that wait. */
static void refuse_all(struct asked *asked, const char *code, const char *reason)
{
    for (struct question *one = asked->first, *next; one; one = next) {
        next = one->next;
        if (!one->answer)
            settle_question(one, refusal(code, reason));
    }
}

static void forget_question(struct asked *asked, int64_t id)
{
    struct question *one = find_question(asked, id);
    if (!one)
        return;
    if (one->answer)
        drop_question(asked, one);
    else
        one->forgotten = true;
}

/* [{"id":1,"answer":{...}}, ...], in the order of asking. */
static cJSON *questions_json(const struct asked *asked)
{
    cJSON *list = cJSON_CreateArray();
    for (const struct question *one = asked->first; one; one = one->next) {
        if (one->forgotten)
            continue;
        cJSON *json = cJSON_CreateObject();
        cJSON_AddNumberToObject(json, "id", (double)one->id);
        cJSON_AddItemToObject(json, "answer", one->answer ? cJSON_Duplicate(one->answer, 1) : cJSON_CreateNull());
        cJSON_AddItemToArray(list, json);
    }
    return list;
}

/* ---- The steps to the job's end ----------------------------------------------------------------- */

/* Seconds for the answer to force, for the end that it makes, which is that of a job that fails, and after SIGTERM. */
static const double taken = 1.5, forced = 6, terminated = 2;

enum { OWN_NUMBER = -1 };

static void take_step(struct ending *e, enum ending_step step, double seconds)
{
    e->step = step;
    wire_timer_set(e->next, seconds);
}

static int ask_to_stop(struct ending *e, bool force)
{
    cJSON *request = json_message(REQUEST(stop));
    if (force) {
        cJSON_AddTrueToObject(request, "force");
        cJSON_AddStringToObject(request, "asker", "its resource manager");
    }
    int failed = plane_ask(e->plane, OWN_NUMBER, request);
    cJSON_Delete(request);
    return failed;
}

static void terminate_job(struct ending *e, double seconds)
{
    if (e->terminate)
        e->terminate(e->context);
    take_step(e, ENDING_TERMINATE, seconds);
}

static void force_stop(struct ending *e)
{
    if (ask_to_stop(e, true))
        terminate_job(e, terminated);
    else
        take_step(e, ENDING_FORCE, taken);
}

static void on_step_late(evutil_socket_t fd, short what, void *context)
{
    struct ending *e = context;
    (void)fd, (void)what;
    if (e->step == ENDING_STOP)
        force_stop(e);
    else if (e->step == ENDING_FORCE)
        terminate_job(e, terminated);
    else if (e->step == ENDING_TERMINATE) {
        e->step = ENDING_KILL;
        if (e->kill)
            e->kill(e->context);
    }
}

/* -1: no memory. */
static int open_ending(struct ending *e, struct event_base *base, struct plane *plane)
{
    e->plane = plane;
    e->next = evtimer_new(base, on_step_late, e);
    return e->next ? 0 : -1;
}

static void hurry_ending(struct ending *e, double grace)
{
    bool waits = e->step == ENDING_STOP || e->step == ENDING_TERMINATE;
    if (waits && grace < wire_timer_left(e->next))
        wire_timer_set(e->next, grace);
}

/* Seconds until force is used. Again: only if that is sooner. */
static void begin_ending(struct ending *e, double grace)
{
    if (e->step != ENDING_NOT)
        hurry_ending(e, grace);
    else if (ask_to_stop(e, false))
        terminate_job(e, grace);
    else
        take_step(e, ENDING_STOP, grace);
}

/* The job's answer to being stopped: one that it refuses is not waited for. */
static void take_stop_answer(struct ending *e, const cJSON *answer)
{
    if (e->step == ENDING_STOP && !json_true(answer, "ok"))
        force_stop(e);
    else if (e->step == ENDING_FORCE && !json_true(answer, "ok"))
        terminate_job(e, terminated);
    else if (e->step == ENDING_FORCE)
        take_step(e, ENDING_FORCE, forced);
}

/* It has ended. */
static void close_ending(struct ending *e)
{
    e->step = ENDING_OVER;
    evtimer_del(e->next);
}

/* ---- Telling ------------------------------------------------------------------------------------ */

static const double usual = 10, longest = 86400; /* seconds for an answer; 86400: a day */

static const struct wire_limits limits = {.line = 1 << 20, .unsent = 16 << 20};

struct peer {
    struct peer *next;
    struct service *service;
    struct wire_line *line;
};

static cJSON *event_line(const char *name)
{
    cJSON *line = cJSON_CreateObject();
    cJSON_AddStringToObject(line, "event", name);
    return line;
}

static cJSON *answer_line(int64_t id, const cJSON *answer)
{
    cJSON *line = cJSON_CreateObject();
    cJSON_AddNumberToObject(line, "id", (double)id);
    cJSON_AddItemToObject(line, "answer", cJSON_Duplicate(answer, 1));
    return line;
}

/* One that does not take what it is told is given up by its line. `line` is freed. */
static void say_to_peer(const struct peer *peer, cJSON *line)
{
    wire_line_send(peer->line, line);
    cJSON_Delete(line);
}

static void tell_peers(struct service *s, cJSON *line)
{
    size_t length;
    char *text = wire_line_text(line, &length);
    for (const struct peer *peer = s->peers; text && peer; peer = peer->next)
        wire_line_send_text(peer->line, text, length);
    cJSON_free(text);
    cJSON_Delete(line);
}

static void greet_peer(struct service *s, const struct peer *peer)
{
    cJSON *hello = event_line("hello");
    cJSON_AddNumberToObject(hello, "version", 1);
    cJSON_AddStringToObject(hello, "state", s->ended ? "ended" : "running");
    cJSON_AddBoolToObject(hello, "attached", s->plane.state == PLANE_ATTACHED);
    if (s->plane.state == PLANE_ATTACHED)
        cJSON_AddStringToObject(hello, "job", s->plane.job.id);
    cJSON_AddItemToObject(hello, "asked", questions_json(&s->asked));
    cJSON_AddItemToObject(hello, "ended", s->ended ? cJSON_Duplicate(s->ended, 1) : cJSON_CreateNull());
    if (s->ended)
        s->told = true;
    say_to_peer(peer, hello);
}

/* ---- The end ------------------------------------------------------------------------------------ */

void service_leave(struct service *s)
{
    s->over = true;
    wire_wake(s->base);
}

static void leave_when_all_is_sent(struct service *s)
{
    bool sent = s->told;
    for (const struct peer *peer = s->peers; sent && peer; peer = peer->next)
        sent = wire_line_is_sent(peer->line);
    if (sent)
        service_leave(s);
}

void service_ended(struct service *s, cJSON *ended)
{
    cJSON *line = event_line("ended");
    s->ended = ended;
    cJSON_AddItemToObject(line, "ended", cJSON_Duplicate(ended, 1));
    plane_close(&s->plane);
    refuse_all(&s->asked, "ended", "the job has ended");
    close_ending(&s->ending);
    if (s->peers)
        s->told = true;
    tell_peers(s, line);
    leave_when_all_is_sent(s);
}

void service_end(struct service *s, double grace)
{
    begin_ending(&s->ending, grace);
}

/* ---- The control plane -------------------------------------------------------------------------- */

static void on_answered(void *context, int64_t id, const cJSON *answer)
{
    tell_peers(context, answer_line(id, answer));
}

static void on_attached(void *context, const char *job)
{
    cJSON *line = event_line("attached");
    cJSON_AddStringToObject(line, "job", job);
    tell_peers(context, line);
}

static void on_detached(void *context)
{
    struct service *s = context;
    refuse_all(&s->asked, "ended", "the job's control plane has gone");
    tell_peers(s, event_line("detached"));
}

static void on_event(void *context, const cJSON *what)
{
    cJSON *line = event_line("job");
    cJSON_AddItemToObject(line, "what", cJSON_Duplicate(what, 1));
    tell_peers(context, line);
}

/* Below 0: it was asked by the attendant itself. */
static void on_answer(void *context, int64_t number, cJSON *answer)
{
    struct service *s = context;
    if (number > 0) {
        answer_question(&s->asked, number, answer);
        return;
    }
    if (number == OWN_NUMBER)
        take_stop_answer(&s->ending, answer);
    else if (s->answered)
        s->answered(s->answered_context, number, answer);
    cJSON_Delete(answer);
}

/* ---- What it is asked --------------------------------------------------------------------------- */

static void complain_to_peer(const struct peer *peer, const char *reason)
{
    cJSON *line = event_line("refused");
    cJSON_AddStringToObject(line, "reason", reason);
    say_to_peer(peer, line);
}

static double seconds_of(const cJSON *line, const char *name, double otherwise)
{
    return fmin(fmax(json_number(line, name, otherwise), 0), longest);
}

static void ask_job(struct service *s, int64_t id, const cJSON *line)
{
    const cJSON *request = cJSON_GetObjectItemCaseSensitive(line, "request");
    if (s->ended)
        answer_question(&s->asked, id, refusal("ended", "the job has ended"));
    else if (!json_text(request, "op"))
        answer_question(&s->asked, id, refusal("refused", "it is no request: it has no op"));
    else if (plane_ask(&s->plane, id, request))
        answer_question(&s->asked, id, refusal("refused", "the job has no control plane, or none yet"));
}

static void end_job(struct service *s, int64_t id, const cJSON *line)
{
    cJSON *answer = cJSON_CreateObject();
    cJSON_AddTrueToObject(answer, "ok");
    cJSON_AddStringToObject(answer, "code", s->ended ? "ended" : "accepted");
    if (!s->ended)
        begin_ending(&s->ending, seconds_of(line, "grace", usual));
    answer_question(&s->asked, id, answer);
}

static void forget_answers(struct service *s, const cJSON *line)
{
    const cJSON *id;
    cJSON_ArrayForEach(id, cJSON_GetObjectItemCaseSensitive(line, "ids"))
    {
        if (cJSON_IsNumber(id))
            forget_question(&s->asked, (int64_t)id->valuedouble);
    }
}

/* One that was asked before is not done again. */
static void do_once(struct service *s, const struct peer *peer, const char *what, const cJSON *line)
{
    int64_t id = json_int64(line, "id", 0);
    const struct question *before = find_question(&s->asked, id);
    if (id < 1)
        complain_to_peer(peer, "ask and end need an id, which is a number above 0");
    else if (before && before->answer)
        say_to_peer(peer, answer_line(id, before->answer));
    else if (before)
        return;
    else if (!add_question(&s->asked, id, seconds_of(line, "timeout", usual)))
        complain_to_peer(peer, "out of memory");
    else if (!strcmp(what, "ask"))
        ask_job(s, id, line);
    else
        end_job(s, id, line);
}

static void on_line(void *context, const cJSON *line)
{
    const struct peer *peer = context;
    struct service *s = peer->service;
    const char *what = json_text(line, "do");
    if (what && (!strcmp(what, "ask") || !strcmp(what, "end")))
        do_once(s, peer, what, line);
    else if (what && !strcmp(what, "forget"))
        forget_answers(s, line);
    else
        complain_to_peer(peer, "it says nothing to do: ask, end or forget");
}

static void on_nonsense(void *context, const char *text)
{
    (void)text;
    complain_to_peer(context, "that is no line of JSON");
}

/* ---- Who talks to it ---------------------------------------------------------------------------- */

static void on_sent(void *context)
{
    const struct peer *peer = context;
    leave_when_all_is_sent(peer->service);
}

static void on_gone(void *context, const char *why)
{
    struct peer *peer = context, **at = &peer->service->peers;
    struct service *s = peer->service;
    (void)why;
    while (*at != peer)
        at = &(*at)->next;
    *at = peer->next;
    wire_line_close(peer->line);
    free(peer);
    if (s->gone)
        s->gone(s->context);
    leave_when_all_is_sent(s);
}

static const struct wire_line_ops peer_ops = {
    .message = on_line, .nonsense = on_nonsense, .gone = on_gone, .sent = on_sent};

static void add_peer(struct service *s, struct peer *peer)
{
    peer->service = s;
    peer->next = s->peers;
    s->peers = peer;
    greet_peer(s, peer);
    leave_when_all_is_sent(s);
}

void service_add_line(struct service *s, struct wire_line *line)
{
    struct peer *peer = calloc(1, sizeof *peer);
    if (!peer) {
        wire_line_close(line);
        return;
    }
    peer->line = line;
    wire_line_hand(line, &limits, WIRE_MEMBERS, &peer_ops, peer);
    add_peer(s, peer);
}

void service_add_fd(struct service *s, int fd)
{
    struct peer *peer = calloc(1, sizeof *peer);
    if (!peer)
        close(fd);
    else if (!(peer->line = wire_line_new(s->base, fd, &limits, &peer_ops, peer)))
        free(peer);
    else
        add_peer(s, peer);
}

/* ---- Its life ----------------------------------------------------------------------------------- */

int service_open(struct service *s, const char *batch, const char *id, struct error *error)
{
    static const struct plane_ops ops = {on_attached, on_detached, on_event, on_answer};
    s->base = wire_base_new();
    if (!s->base)
        return error_memory(error);
    s->asked.base = s->base;
    s->asked.answered = on_answered;
    s->asked.context = s;
    s->plane.base = s->base;
    s->plane.batch = batch;
    s->plane.id = id;
    s->plane.ops = &ops;
    s->plane.context = s;
    return open_ending(&s->ending, s->base, &s->plane) ? error_memory(error) : plane_open(&s->plane, error);
}

int service_run(struct service *s, struct error *error)
{
    return wire_wait(s->base, &s->over, -1) ? 0 : error_set(error, ERROR_FAILED, "cannot wait for anything any more");
}
