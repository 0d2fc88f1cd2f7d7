/*
 * epopctl list. A PMIx tool has one server at a time, so every job is asked by a process of its own, all at once:
 * a job that does not answer holds up none of the others.
 */
#include "epopctl/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "epopctl/client.h"
#include "epopctl/command.h"
#include "epopctl/jobs.h"
#include "epopctl/output.h"
#include "runtime/base/json.h"
#include "runtime/wire/messages.h"

#define ANSWER_LIMIT_MS 5000

/* Takes the request. What the answer has under that name; NULL: nothing. */
static cJSON *ask(cJSON *request, const char *member)
{
    int code;
    cJSON *answer = ctl_ask(request, ANSWER_LIMIT_MS, &code);
    cJSON *what = answer ? cJSON_DetachItemFromObject(answer, member) : NULL;
    cJSON_Delete(request);
    cJSON_Delete(answer);
    return what;
}

/* One that cannot measure, or not now, has a status all the same. Tops of one terminal are one asker. */
static void add_measure(cJSON *status, double keep)
{
    char asker[48];
    cJSON *request = json_message(REQUEST_MEASURE), *measure;
    snprintf(asker, sizeof asker, "top-%ld", (long)getsid(0));
    cJSON_AddStringToObject(request, "asker", asker);
    cJSON_AddNumberToObject(request, "keep", keep);
    if ((measure = ask(request, "measure")))
        cJSON_AddItemToObject(status, "measure", measure);
}

/* The child's side: the job's status to the pipe. */
static void ask_to_pipe(const struct control_job *job, double keep, int out)
{
    FILE *stream = fdopen(out, "w");
    if (!freopen("/dev/null", "w", stderr) || !stream || ctl_connect(job, NULL, NULL, ANSWER_LIMIT_MS) != CTL_DONE)
        return; /* the line for this job says all there is to say */
    cJSON *status = ask(json_message(REQUEST_STATUS), "job");
    if (status && keep > 0)
        add_measure(status, keep);
    ctl_disconnect();
    char *text = status ? cJSON_PrintUnformatted(status) : NULL;
    if (text)
        fputs(text, stream);
    fflush(stream);
}

/* Starts the question; where its answer will come from, or -1. */
static int begin(const struct control_job *job, double keep, pid_t *child)
{
    int ends[2];
    fflush(NULL);
    if (pipe(ends))
        return -1;
    *child = fork();
    if (*child == 0) {
        close(ends[0]);
        ask_to_pipe(job, keep, ends[1]);
        _exit(0);
    }
    close(ends[1]);
    if (*child > 0)
        return ends[0];
    close(ends[0]);
    return -1;
}

/* Reads to the end; NULL when the job did not answer. */
static cJSON *collect(int in, pid_t child)
{
    FILE *stream = in < 0 ? NULL : fdopen(in, "r");
    char *text = NULL;
    size_t size = 0;
    cJSON *status = NULL;
    if (!stream)
        return NULL;
    if (getdelim(&text, &size, '\0', stream) > 0)
        status = cJSON_Parse(text);
    free(text);
    fclose(stream);
    while (waitpid(child, NULL, 0) < 0 && !status)
        break;
    return status;
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
    char size[32] = "-", standby[32] = "-", uptime[32] = "-", iteration[32] = "-";
    const cJSON *element = cJSON_GetObjectItem(status, "element");
    if (cJSON_HasObjectItem(status, "size")) {
        snprintf(size, sizeof size, "%.0f", json_number(status, "size", 0));
        snprintf(standby, sizeof standby, "%.0f", json_number(status, "standby", 0));
        term_duration(json_number(status, "uptime", 0), uptime);
    }
    if (cJSON_HasObjectItem(element, "iteration"))
        snprintf(iteration, sizeof iteration, "%.0f", json_number(element, "iteration", 0));
    term_table_add(table, (const char *[]){job->id, term_text(status, "state", "?"), size, standby,
                                           term_text(element, "name", "-"), iteration, job->host, uptime});
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
    int count = control_jobs(&jobs), shown = 0;
    pid_t *children = calloc((size_t)count + 1, sizeof *children);
    int *pipes = calloc((size_t)count + 1, sizeof *pipes);
    cJSON **statuses = calloc((size_t)count + 1, sizeof(cJSON *));
    for (int i = 0; children && pipes && statuses && i < count; i++)
        pipes[i] = begin(&jobs[i], keep, &children[i]);
    for (int i = 0; children && pipes && statuses && i < count; i++) {
        cJSON *status = collect(pipes[i], children[i]);
        if (!status && !control_job_alive(&jobs[i]))
            continue; /* it ended while it was asked */
        jobs[shown] = jobs[i];
        statuses[shown++] = status ? status : unreachable(&jobs[i]);
    }
    if (!children || !pipes || !statuses)
        ctl_complain("out of memory");
    shown = statuses && pipes && children ? shown : -1;
    free(children);
    free(pipes);
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
