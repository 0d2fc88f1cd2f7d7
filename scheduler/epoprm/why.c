/* epoprm why: what was decided on a job, and what came of it, from the journal. */
#include <stdio.h>
#include <string.h>

#include "runtime/base/json.h"
#include "scheduler/epoprm/client.h"
#include "scheduler/epoprm/command.h"
#include "scheduler/epoprm/past.h"
#include "scheduler/epoprm/say.h"
#include "terminal/output.h"

enum { LAST = 20 };

static const cJSON *find(const cJSON *jobs, double number)
{
    const cJSON *job = jobs ? jobs->child : NULL;
    while (job && json_number(job, "job", 0) != number)
        job = job->next;
    return job;
}

static void print_event(const cJSON *event)
{
    char when[32], text[2048];
    rm_clock(json_number(event, "time", 0), when);
    rm_event_text(event, text, sizeof text);
    printf(term_for_people() ? "  %s  %-9s  %s\n" : "%s\t%s\t%s\n", when, term_text(event, "event", ""), text);
}

/* It has a promise only from the daemon. */
static void print_job(const cJSON *job)
{
    char when[32];
    const char *reason = term_text(job, "reason", "");
    printf("job %.0f (%s, %s) is %s%s%s\n", json_number(job, "job", 0), term_text(job, "name", ""),
           term_text(job, "kind", ""), term_text(job, "state", ""), *reason ? ": " : "", reason);
    if (cJSON_HasObjectItem(job, "reserved")) {
        rm_clock(json_number(job, "reserved", 0), when);
        printf("it is to start at %s\n", when);
    }
}

/* As the daemon has it now, if there is one that does. */
static cJSON *present(double number)
{
    int code;
    struct client *daemon = client_connect(30, true, &code);
    cJSON *request = json_message("queue"), *answer = daemon ? client_ask(daemon, request, &code) : NULL;
    cJSON *job = cJSON_Duplicate(find(cJSON_GetObjectItem(answer, "jobs"), number), true);
    cJSON_Delete(answer);
    cJSON_Delete(request);
    client_close(daemon);
    return job;
}

static void show(cJSON *job, cJSON *events, bool json)
{
    if (json) {
        cJSON *both = cJSON_CreateObject();
        cJSON_AddItemToObject(both, "job", cJSON_Duplicate(job, true));
        cJSON_AddItemToObject(both, "events", cJSON_Duplicate(events, true));
        term_print_json(both);
        cJSON_Delete(both);
        return;
    }
    print_job(job);
    for (const cJSON *event = events->child; event; event = event->next)
        print_event(event);
}

static int explain(struct journal *journal, int64_t number, bool json, struct error *error)
{
    cJSON *jobs = past_jobs(journal, true, error);
    const cJSON *known = find(jobs, (double)number);
    cJSON *now = jobs && !(known && cJSON_HasObjectItem(known, "ended")) ? present((double)number) : NULL;
    cJSON *events = known || now ? past_events(journal, number, LAST, error) : NULL;
    cJSON *job = now ? now : cJSON_Duplicate(known, true);
    int code = RM_DONE;
    if (jobs && !known && !now) {
        rm_complain("why: there is no job %lld", (long long)number);
        code = RM_NO_JOB;
    } else if (!events) {
        rm_complain("why: %s", error->text);
        code = RM_REFUSED;
    } else {
        show(job, events, json);
    }
    cJSON_Delete(job);
    cJSON_Delete(events);
    cJSON_Delete(jobs);
    return code;
}

int rm_why(const struct rm_arguments *arguments)
{
    struct journal *journal;
    struct error error;
    int64_t number;
    if (rm_job_number(arguments->words[0], &number))
        return RM_USAGE;
    if (past_open(&journal, &error)) {
        rm_complain("why: %s", error.text);
        return RM_NO_JOB;
    }
    int code = explain(journal, number, arguments->json, &error);
    journal_close(journal);
    return code;
}
