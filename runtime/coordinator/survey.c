/* Where every process is, for programs and in words; the job's state. */
#include "runtime/coordinator/survey.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/coordinator/adaptation.h"
#include "runtime/coordinator/debugging.h"
#include "runtime/coordinator/part.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/replies.h"
#include "runtime/coordinator/state.h"
#include "runtime/wire/messages.h"

/* ---- The job in a word --------------------------------------------------------------------------- */

enum job_state job_state(const struct coordinator *c)
{
    if (c->ending.finished)
        return JOB_IS_ENDING;
    if (c->stop.asked)
        return JOB_IS_STOPPING;
    if (halts_are_on(c))
        return JOB_IS_STOPPED;
    if (c->checkpoints.now.on)
        return JOB_IS_SAVING;
    if (c->pause.on)
        return JOB_IS_PAUSED;
    if (adaptation_is(c, ADAPTATION_WINDOW))
        return JOB_IS_ADAPTING;
    if (c->agreement.state != AGREEMENT_NONE)
        return JOB_IS_AGREEING;
    if (adaptation_pending(c))
        return JOB_IS_PREPARING;
    return processes_all_attached(c) ? JOB_IS_RUNNING : JOB_IS_STARTING;
}

const char *job_state_name(enum job_state state)
{
    static const char *const names[] = {
        [JOB_IS_STARTING] = "starting", [JOB_IS_RUNNING] = "running",   [JOB_IS_PREPARING] = "preparing",
        [JOB_IS_AGREEING] = "agreeing", [JOB_IS_ADAPTING] = "adapting", [JOB_IS_PAUSED] = "paused",
        [JOB_IS_SAVING] = "saving",     [JOB_IS_STOPPED] = "stopped",   [JOB_IS_STOPPING] = "stopping",
        [JOB_IS_ENDING] = "ending"};
    return names[state];
}

bool job_is_over(const struct coordinator *c)
{
    return c->ending.finished;
}

/* ---- Asking all ---------------------------------------------------------------------------------- */

#define ANSWER_TIMEOUT 2 /* seconds */

/* What runs the program, or is to join, or leaves. */
static bool is_listed(const struct coordinator *c, int process)
{
    const struct process *p = process_at(c, process);
    return p->rank >= 0 || p->state == PROCESS_JOINING || p->state == PROCESS_LEAVING;
}

void survey_begin(struct coordinator *c)
{
    if (c->survey.open)
        return;
    c->survey.open = true;
    c->survey.round++;
    timers_set(&c->timers, &c->survey.limit, ANSWER_TIMEOUT);
    for (int p = 0; p < c->processes.count; p++) {
        if (!is_listed(c, p) || !process_at(c, p)->attached)
            continue;
        cJSON *message = json_message(ORDER(locate));
        cJSON_AddNumberToObject(message, "round", c->survey.round);
        processes_send(c, p, message);
        process_at(c, p)->survey_asked = c->survey.round;
    }
}

void survey_request(struct coordinator *c, void *handle)
{
    if (c->ending.finished || c->survey.asker_count == SURVEY_ASKERS) {
        reply_send(
            c, &handle,
            reply_refusal("refused", c->ending.finished ? "the job is ending" : "too many ask at a time; try again"));
        return;
    }
    c->survey.askers[c->survey.asker_count++] = handle;
    survey_begin(c);
}

static void survey_abandoned(struct coordinator *c, const void *handle)
{
    for (int i = 0; i < c->survey.asker_count; i++)
        if (c->survey.askers[i] == handle) {
            reply_send(c, &c->survey.askers[i], reply_refusal("failed", "the requester has gone"));
            c->survey.askers[i] = c->survey.askers[--c->survey.asker_count];
            return;
        }
}

/* ---- The answer ---------------------------------------------------------------------------------- */

static bool answered(const struct coordinator *c, int process)
{
    return process_at(c, process)->survey_answer.is && process_at(c, process)->survey_answered == c->survey.round;
}

static void add_answer(struct coordinator *c, cJSON *json, const struct report_located *place)
{
    const struct position at = POSITION_OF(place);
    cJSON_AddStringToObject(json, "activity", place->activity);
    cJSON_AddItemToObject(json, "element", names_element_json(c, &at));
    cJSON_AddNumberToObject(json, "seconds", place->seconds);
    if (!place->mpi)
        return;
    cJSON_AddStringToObject(json, "mpi", place->mpi);
    cJSON_AddNumberToObject(json, "mpi_seconds", place->mpi_seconds);
}

static cJSON *process_json(struct coordinator *c, int process)
{
    const struct process *p = process_at(c, process);
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "process", process);
    cJSON_AddNumberToObject(json, "rank", p->rank);
    cJSON_AddStringToObject(json, "host", p->host);
    cJSON_AddNumberToObject(json, "pid", p->pid);
    cJSON_AddStringToObject(json, "state", names_process_state(p->state));
    if (answered(c, process))
        add_answer(c, json, p->survey_answer.is);
    else
        cJSON_AddStringToObject(json, "activity", "no answer");
    return json;
}

/* Ranks in their order, then the others. */
cJSON *survey_json(struct coordinator *c)
{
    cJSON *json = cJSON_CreateObject(), *list;
    cJSON_AddNumberToObject(json, "version", 1);
    cJSON_AddStringToObject(json, "job", c->job);
    cJSON_AddStringToObject(json, "program", c->config.program->name);
    cJSON_AddStringToObject(json, "state", job_state_name(job_state(c)));
    cJSON_AddNumberToObject(json, "size", c->processes.size);
    cJSON_AddNumberToObject(json, "time", wall_seconds());
    list = cJSON_AddArrayToObject(json, "processes");
    for (int r = 0; r < c->processes.size; r++)
        cJSON_AddItemToArray(list, process_json(c, c->processes.world[r]));
    for (int p = 0; p < c->processes.count; p++)
        if (process_at(c, p)->rank < 0 && is_listed(c, p))
            cJSON_AddItemToArray(list, process_json(c, p));
    return json;
}

/* All have answered, or the time is over. */
static void survey_finish(struct coordinator *c)
{
    c->survey.open = false;
    timers_cancel(&c->timers, &c->survey.limit);
    for (int i = 0; i < c->survey.asker_count; i++) {
        cJSON *reply = cJSON_CreateObject();
        cJSON_AddBoolToObject(reply, "ok", 1);
        cJSON_AddItemToObject(reply, "where", survey_json(c));
        reply_send(c, &c->survey.askers[i], reply);
    }
    c->survey.asker_count = 0;
    for (int i = 0; i < c->survey.listener_count; i++)
        c->survey.listeners[i](c);
}

void survey_came(struct coordinator *c, int process, const struct report_located *report)
{
    struct process *p = process_at(c, process);
    if (!c->survey.open || report->round != c->survey.round)
        return;
    message_free(&p->survey_answer);
    if (!message_keep(&p->survey_answer, KIND_REPORT, report->said))
        return; /* as one that does not answer */
    p->survey_answered = c->survey.round;
    for (int other = 0; other < c->processes.count; other++)
        if (process_at(c, other)->survey_asked == c->survey.round && !answered(c, other))
            return;
    survey_finish(c);
}

static void survey_give_up(struct coordinator *c)
{
    if (c->survey.open)
        survey_finish(c);
}

static void survey_timeout(void *context)
{
    survey_give_up(context);
}

void survey_tell(struct coordinator *c, void (*surveyed)(struct coordinator *c))
{
    c->survey.listeners[c->survey.listener_count++] = surveyed;
}

static void survey_init(struct coordinator *c)
{
    timer_init(&c->survey.limit, survey_timeout, c, NULL);
}

/* ---- In words ------------------------------------------------------------------------------------ */

#define PLACES 4 /* that are told one by one */
#define SPANS  6 /* of ranks at a place */

struct whereabouts {
    const cJSON **processes; /* not told yet; NULL: told */
    int count, places, untold;
    char *text;
    size_t size, length;
};

static void whereabouts_add(struct whereabouts *w, const char *text)
{
    if (w->length < w->size)
        w->length += (size_t)snprintf(w->text + w->length, w->size - w->length, "%s", text);
}

/* Without the times, which differ. */
static bool same_place(const cJSON *a, const cJSON *b)
{
    static const char *const names[] = {"activity", "mpi", "element"};
    bool same = strcmp(json_text(a, "activity"), "no answer") && json_int(a, "rank", -1) >= 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const cJSON *x = cJSON_GetObjectItemCaseSensitive(a, names[i]);
        const cJSON *y = cJSON_GetObjectItemCaseSensitive(b, names[i]);
        same = same && (x == y || cJSON_Compare(x, y, true));
    }
    return same;
}

static void describe_element(const cJSON *process, char text[120])
{
    const cJSON *element = cJSON_GetObjectItemCaseSensitive(process, "element");
    snprintf(text, 120, "no element");
    if (cJSON_IsObject(element))
        snprintf(text, 120, "'%.60s', iteration %lld", json_text(element, "name"),
                 (long long)json_int64(element, "iteration", 0));
}

static void describe_place(const cJSON *process, char text[240])
{
    const char *activity = json_text(process, "activity"), *mpi = json_text(process, "mpi");
    char element[120];
    describe_element(process, element);
    if (!strcmp(activity, "no answer"))
        snprintf(text, 240, "gives no answer (pid %d on %.60s)", json_int(process, "pid", 0),
                 json_text(process, "host"));
    else if (mpi)
        snprintf(text, 240, "in %.60s for %.0f s (%s)", mpi, json_number(process, "mpi_seconds", 0), element);
    else if (!strcmp(activity, "holding"))
        snprintf(text, 240, "at a probe for %.0f s (%s)", json_number(process, "seconds", 0), element);
    else if (!strcmp(activity, "ended"))
        snprintf(text, 240, "at the program's end");
    else
        snprintf(text, 240, "in %s for %.0f s", element, json_number(process, "seconds", 0));
}

/* "2-4": from this one on, ranks that follow each other at the same place, which are then told. The last of them. */
static int take_span(struct whereabouts *w, int first, const cJSON *place)
{
    int last = first;
    w->processes[first] = NULL;
    while (last + 1 < w->count && w->processes[last + 1] && same_place(w->processes[last + 1], place) &&
           json_int(w->processes[last + 1], "rank", -1) == json_int(place, "rank", -1) + (last + 1 - first))
        w->processes[++last] = NULL;
    return last;
}

static void add_span(struct whereabouts *w, int from, int to, const char *before)
{
    char text[48];
    if (from == to)
        snprintf(text, sizeof text, "%s %d", before, from);
    else
        snprintf(text, sizeof text, "%s %d%s%d", before, from, to == from + 1 ? ", " : "-", to);
    whereabouts_add(w, text);
}

static bool is_alone(const struct whereabouts *w, int first)
{
    for (int i = first + 1; i < w->count; i++)
        if (w->processes[i] && same_place(w->processes[i], w->processes[first]))
            return false;
    return true;
}

/* All that are where this one is. */
static void tell_place(struct whereabouts *w, int first)
{
    const cJSON *place = w->processes[first];
    char where[240];
    bool alone = is_alone(w, first);
    int spans = 0;
    whereabouts_add(w, w->places++ ? "; " : "");
    if (json_int(place, "rank", -1) < 0)
        whereabouts_add(w, strcmp(json_text(place, "state"), "leaving") ? "a joining process" : "a leaving process");
    for (int i = first; i < w->count; i++) {
        if (i != first && !(w->processes[i] && same_place(w->processes[i], place)))
            continue;
        const cJSON *from = w->processes[i];
        int rank = json_int(from, "rank", -1), last = take_span(w, i, from);
        if (rank >= 0 && spans++ < SPANS)
            add_span(w, rank, rank + last - i, spans > 1 ? "," : alone ? "rank" : "ranks");
        else if (rank >= 0 && spans == SPANS + 1)
            whereabouts_add(w, ", ...");
        i = last;
    }
    describe_place(place, where);
    whereabouts_add(w, " ");
    whereabouts_add(w, where);
}

static void whereabouts_tell(struct whereabouts *w)
{
    char rest[64];
    for (int i = 0; i < w->count; i++) {
        if (w->processes[i] && w->places < PLACES)
            tell_place(w, i);
        else if (w->processes[i])
            w->untold++;
    }
    snprintf(rest, sizeof rest, "; and %d more elsewhere", w->untold);
    whereabouts_add(w, w->untold ? rest : "");
}

void whereabouts_describe(struct coordinator *c, bool (*wanted)(const struct coordinator *c, const struct process *p),
                          char *text, size_t size)
{
    cJSON *json = survey_json(c), *process, *list = cJSON_GetObjectItemCaseSensitive(json, "processes");
    const cJSON **processes = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *processes);
    struct whereabouts w = {.processes = processes, .text = text, .size = size};
    text[0] = 0;
    cJSON_ArrayForEach(process, list)
    {
        if (processes && (!wanted || wanted(c, process_at(c, json_int(process, "process", 0)))))
            processes[w.count++] = process;
    }
    whereabouts_tell(&w);
    free(processes);
    cJSON_Delete(json);
}

static void survey_end(struct coordinator *c, const char *reason)
{
    (void)reason;
    survey_give_up(c);
}

const struct part survey_part = {.init = survey_init, .abandoned = survey_abandoned, .end = survey_end};
