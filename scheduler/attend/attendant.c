/* What an attendant is asked, and what it tells: see attendant.h. schema/attend.schema.json has the lines. */
#include "scheduler/attend/attendant.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/json.h"

static const double usual = 10, longest = 86400; /* seconds for an answer; 86400: a day */

/* ---- Telling ----------------------------------------------------------------------------------- */

static cJSON *event(const char *name)
{
    cJSON *line = cJSON_CreateObject();
    cJSON_AddStringToObject(line, "event", name);
    return line;
}

static void tell(struct attendant *a, cJSON *line)
{
    char *text = cJSON_PrintUnformatted(line);
    if (text)
        peers_say(&a->peers, text);
    free(text);
    cJSON_Delete(line);
}

void attendant_greet(struct attendant *a, struct peer *peer)
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
    peer_say(peer, hello);
}

void attendant_ended(struct attendant *a, cJSON *ended)
{
    cJSON *line = event("ended");
    a->ended = ended;
    cJSON_AddItemToObject(line, "ended", cJSON_Duplicate(ended, 1));
    plane_close(&a->plane);
    asked_refuse_all(&a->asked, "ended", "the job has ended");
    ending_over(&a->ending);
    if (a->peers.first)
        a->told = true;
    tell(a, line);
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

static void on_event(void *context, const char *json)
{
    struct attendant *a = context;
    char *line;
    if (asprintf(&line, "{\"event\":\"job\",\"what\":%s}", json) < 0)
        return;
    peers_say(&a->peers, line);
    free(line);
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

static void complain(struct peer *peer, const char *reason)
{
    cJSON *line = event("refused");
    cJSON_AddStringToObject(line, "reason", reason);
    peer_say(peer, line);
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
static void do_once(struct attendant *a, struct peer *peer, const char *what, const cJSON *line)
{
    int64_t id = json_int64(line, "id", 0);
    const struct question *before = asked_find(&a->asked, id);
    if (id < 1)
        complain(peer, "ask and end need an id, which is a number above 0");
    else if (before && before->answer)
        peer_say(peer, answer_line(id, before->answer));
    else if (before)
        return;
    else if (!asked_add(&a->asked, id, seconds_of(line, "timeout", usual)))
        complain(peer, "out of memory");
    else if (!strcmp(what, "ask"))
        ask(a, id, line);
    else
        end(a, id, line);
}

static void on_line(void *context, struct peer *peer, const cJSON *line)
{
    struct attendant *a = context;
    const char *what = line ? json_text(line, "do") : NULL;
    if (what && (!strcmp(what, "ask") || !strcmp(what, "end")))
        do_once(a, peer, what, line);
    else if (what && !strcmp(what, "forget"))
        forget(a, line);
    else
        complain(peer, line ? "it says nothing to do: ask, end or forget" : "that is no line of JSON");
}

int attendant_open(struct attendant *a, const char *batch, const char *id, struct error *error)
{
    static const struct plane_ops ops = {on_attached, on_detached, on_event, on_answer};
    loop_init(&a->loop);
    a->peers.loop = &a->loop;
    a->peers.line = on_line;
    a->peers.context = a;
    a->asked.timers = &a->loop.timers;
    a->asked.answered = on_answered;
    a->asked.context = a;
    a->plane.loop = &a->loop;
    a->plane.batch = batch;
    a->plane.id = id;
    a->plane.ops = &ops;
    a->plane.context = a;
    ending_open(&a->ending, &a->loop, &a->plane);
    return plane_open(&a->plane, error);
}
