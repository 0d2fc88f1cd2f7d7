/*
 * Clients of a job that come, ask for its status and go, one after the other. Prints "done".
 *
 *     visitors COUNT JOB
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/json.h"
#include "runtime/control/jobs.h"
#include "runtime/wire/link.h"
#include "runtime/wire/loop.h"

enum { SECONDS = 20 };

static struct {
    struct event_base *base;
    bool attached, answered, over;
} visit;

static void finish(void)
{
    visit.over = true;
    wire_wake(visit.base);
}

static void on_attached(void *context, const struct error *why_not)
{
    (void)context;
    visit.attached = !why_not;
    finish();
}

static void on_message(void *context, const cJSON *event)
{
    (void)context, (void)event;
}

static void on_answer(void *context, cJSON *answer, const struct error *why)
{
    (void)context;
    visit.answered = !why && json_true(answer, "ok");
    cJSON_Delete(answer);
    finish();
}

static void ask(struct wire_link *link)
{
    cJSON *request = json_message("status");
    visit.over = wire_link_ask(link, request, SECONDS, on_answer, NULL);
    wire_wait(visit.base, &visit.over, -1);
    cJSON_Delete(request);
}

static bool come_and_go(const struct control_job *job)
{
    static const struct wire_link_ops ops = {on_attached, on_message, NULL};
    struct error error;
    visit.attached = visit.answered = visit.over = false;
    struct wire_link *link =
        wire_link_open(visit.base, job->uri, job->token, WIRE_TOOL, 0, &ops, NULL, SECONDS, &error);
    if (!link)
        return false;
    wire_wait(visit.base, &visit.over, -1);
    if (visit.attached)
        ask(link);
    wire_link_close(link);
    return visit.answered;
}

static const struct control_job *find(const struct control_job *jobs, int count, const char *id)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(jobs[i].id, id))
            return &jobs[i];
    return NULL;
}

int main(int argc, char **argv)
{
    struct control_job *jobs;
    int count = control_jobs(&jobs), visits = argc > 2 ? atoi(argv[1]) : 0;
    const struct control_job *job = find(jobs, count, argc > 2 ? argv[2] : "");
    visit.base = wire_base_new();
    for (int i = 0; i < visits; i++)
        if (!job || !come_and_go(job)) {
            fprintf(stderr, "visitors: number %d has got no answer\n", i);
            return EXIT_FAILURE;
        }
    puts("done");
    event_base_free(visit.base);
    free(jobs);
    return EXIT_SUCCESS;
}
