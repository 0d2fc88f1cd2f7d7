/* epopctl list. All jobs are asked at once: one that does not answer holds up none of the others. */
#include "epopctl/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "epopctl/command.h"
#include "epopctl/output.h"
#include "runtime/base/json.h"
#include "runtime/wire/link.h"
#include "runtime/wire/loop.h"
#include "runtime/wire/messages.h"

#define ANSWER_LIMIT_S 5

struct round {
    struct event_base *base;
    double keep;
    int open; /* jobs that are still asked */
    bool over;
};

struct question {
    struct round *round;
    struct wire_link *link;
    cJSON *status; /* NULL: the job does not answer */
};

static void finish(struct question *question)
{
    struct round *round = question->round;
    round->over = !--round->open;
    if (round->over)
        wire_wake(round->base);
}

/* Takes the request. */
static void ask(struct question *question, cJSON *request,
                void (*answered)(void *context, cJSON *answer, const struct error *why))
{
    if (wire_link_ask(question->link, request, ANSWER_LIMIT_S, answered, question))
        finish(question);
    cJSON_Delete(request);
}

/* One that cannot measure, or not now, has a status all the same. */
static void on_measure(void *context, cJSON *answer, const struct error *why)
{
    struct question *question = context;
    cJSON *measure = why ? NULL : cJSON_DetachItemFromObject(answer, "measure");
    if (measure)
        cJSON_AddItemToObject(question->status, "measure", measure);
    cJSON_Delete(answer);
    finish(question);
}

/* Tops of one terminal are one asker. */
static cJSON *measure_request(double keep)
{
    char asker[48];
    cJSON *request = json_message(REQUEST(measure));
    snprintf(asker, sizeof asker, "top-%ld", (long)getsid(0));
    cJSON_AddStringToObject(request, "asker", asker);
    cJSON_AddNumberToObject(request, "keep", keep);
    return request;
}

static void on_status(void *context, cJSON *answer, const struct error *why)
{
    struct question *question = context;
    question->status = why ? NULL : cJSON_DetachItemFromObject(answer, "job");
    cJSON_Delete(answer);
    if (question->status && question->round->keep > 0)
        ask(question, measure_request(question->round->keep), on_measure);
    else
        finish(question);
}

/* The line for a job that is not reached says all there is to say. */
static void on_attached(void *context, const struct error *why_not)
{
    if (why_not)
        finish(context);
    else
        ask(context, json_message(REQUEST(status)), on_status);
}

static void on_event(void *context, const cJSON *event)
{
    (void)context, (void)event;
}

static void ask_all(struct round *round, const struct control_job *jobs, struct question *questions, int count)
{
    static const struct wire_link_ops ops = {on_attached, on_event, NULL};
    struct error error;
    for (int i = 0; i < count; i++) {
        questions[i].round = round;
        questions[i].link = wire_link_open(round->base, jobs[i].uri, jobs[i].token, WIRE_TOOL, 0, &ops, &questions[i],
                                           ANSWER_LIMIT_S, &error);
        round->open += !!questions[i].link;
    }
    if (round->open)
        wire_wait(round->base, &round->over, -1); /* links and requests have limits */
    for (int i = 0; i < count; i++)
        if (questions[i].link)
            wire_link_close(questions[i].link);
}

/* What is known of a job that does not answer. */
static cJSON *unreachable(const struct control_job *job)
{
    cJSON *status = cJSON_CreateObject();
    cJSON_AddStringToObject(status, "job", job->id);
    cJSON_AddStringToObject(status, "program", job->program);
    cJSON_AddStringToObject(status, "state", "unreachable");
    return status;
}

static void add_row(struct term_table *table, const cJSON *status, const struct control_job *job)
{
    char size[32] = "-", standby[32] = "-", uptime[32] = "-", iteration[32] = "-", place[CONTROL_PLACE_MAX];
    const cJSON *element = cJSON_GetObjectItem(status, "element");
    if (cJSON_HasObjectItem(status, "size")) {
        snprintf(size, sizeof size, "%.0f", json_number(status, "size", 0));
        snprintf(standby, sizeof standby, "%.0f", json_number(status, "standby", 0));
        term_duration(json_number(status, "uptime", 0), uptime);
    }
    if (cJSON_HasObjectItem(element, "iteration"))
        snprintf(iteration, sizeof iteration, "%.0f", json_number(element, "iteration", 0));
    control_job_place(job, place);
    term_table_add(table, (const char *[]){job->id, term_text(status, "state", "?"), size, standby,
                                           term_text(element, "name", "-"), iteration, place, uptime});
}

static void print_all(const struct control_job *jobs, cJSON **statuses, int count, bool json)
{
    static const char *const titles[] = {"JOB", "STATE", "SIZE", "STANDBY", "ELEMENT", "ITERATION", "HOST", "UPTIME"};
    struct term_table *table = json ? NULL : term_table_new(8, titles);
    cJSON *array = cJSON_CreateArray();
    for (int i = 0; i < count; i++) {
        if (!json)
            add_row(table, statuses[i], &jobs[i]);
        cJSON_AddStringToObject(statuses[i], "host", jobs[i].host);
        cJSON_AddNumberToObject(statuses[i], "pid", (double)jobs[i].pid);
        if (jobs[i].apart)
            cJSON_AddBoolToObject(statuses[i], "apart", true);
        cJSON_AddItemToArray(array, statuses[i]);
    }
    if (json)
        term_print_json(array);
    else
        term_table_print(table);
    cJSON_Delete(array);
}

int ctl_ask_all(struct control_job **all, cJSON ***answers, double keep)
{
    struct control_job *jobs;
    struct round round = {.base = wire_base_new(), .keep = keep};
    int count = control_jobs(&jobs), shown = 0;
    struct question *questions = calloc((size_t)count + 1, sizeof *questions);
    cJSON **statuses = calloc((size_t)count + 1, sizeof(cJSON *));
    if (round.base && questions && statuses)
        ask_all(&round, jobs, questions, count);
    else
        ctl_complain("out of memory");
    for (int i = 0; questions && statuses && i < count; i++) {
        if (!questions[i].status && !control_job_alive(&jobs[i]))
            continue; /* it ended while it was asked */
        jobs[shown] = jobs[i];
        statuses[shown++] = questions[i].status ? questions[i].status : unreachable(&jobs[i]);
    }
    shown = round.base && questions && statuses ? shown : -1;
    if (round.base)
        event_base_free(round.base);
    free(questions);
    *all = jobs;
    *answers = statuses;
    return shown;
}

int ctl_list(const struct ctl_arguments *arguments)
{
    struct control_job *jobs;
    cJSON **statuses;
    int count = ctl_ask_all(&jobs, &statuses, 0);
    if (count == 0 && !arguments->json && term_for_people())
        puts("no job is running (of this user, on this host)");
    else if (count >= 0)
        print_all(jobs, statuses, count, arguments->json);
    free(jobs);
    free(statuses);
    return count < 0 ? CTL_REFUSED : CTL_DONE;
}
