/*
 * A client of a job that stays: it watches, and sends each line of its standard input as a request at once, without
 * waiting for the answer to the one before. Prints "NUMBER ANSWER" for the request of that line, "event JSON" for what
 * happens, and "end" when the job goes. At the end of its input it waits for what is open, and ends.
 *
 *     client [JOB]
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/base/json.h"
#include "runtime/control/call.h"
#include "runtime/control/codec.h"
#include "runtime/control/jobs.h"
#include "runtime/control/token.h"
#include "runtime/control/tool.h"

enum { TIMEOUT_MS = 10000, LINE = 4000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int open_requests;

static void say(const char *what, const cJSON *json)
{
    char *text = json ? cJSON_PrintUnformatted(json) : NULL;
    printf("%s %s\n", what, text ? text : "");
    fflush(stdout);
    cJSON_free(text);
}

static void on_message(void *context, const cJSON *event)
{
    (void)context;
    say("event", event);
}

static void on_end(void *context)
{
    (void)context;
    say("end", NULL);
}

static void on_answer(pmix_status_t status, pmix_info_t *info, size_t count, void *context,
                      pmix_release_cbfunc_t release, void *release_data)
{
    char number[24];
    cJSON *answer = status == PMIX_SUCCESS ? control_info_json(info, count, CONTROL_KEY_ANSWER) : NULL;
    snprintf(number, sizeof number, "%ld", (long)(intptr_t)context);
    say(number, answer);
    cJSON_Delete(answer);
    if (release)
        release(release_data);
    pthread_mutex_lock(&lock);
    open_requests--;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static int ask(const char *text, const char *nspace, intptr_t number)
{
    cJSON *request = cJSON_Parse(text);
    pthread_mutex_lock(&lock);
    open_requests++;
    pthread_mutex_unlock(&lock);
    pmix_status_t status = request ? control_call(request, nspace, on_answer, (void *)number) : PMIX_ERR_BAD_PARAM;
    cJSON_Delete(request);
    return status == PMIX_SUCCESS ? 0 : -1;
}

static int find(const char *id, struct control_job *job)
{
    struct control_job *jobs;
    int count = control_jobs(&jobs), found = 0;
    for (int i = 0; i < count; i++)
        if (!id || !strcmp(jobs[i].id, id)) {
            *job = jobs[i];
            found++;
        }
    free(jobs);
    return found == 1 ? 0 : -1;
}

int main(int argc, char **argv)
{
    static const struct control_tool_ops ops = {.message = on_message, .ending = on_end, .lost = on_end};
    struct control_job job;
    struct error error = {0};
    char nspace[CONTROL_NSPACE_MAX], line[LINE];
    if (find(argc > 1 ? argv[1] : NULL, &job))
        return EXIT_FAILURE;
    control_nspace_client(nspace, job.token);
    if (control_tool_attach(job.uri, nspace, &ops, NULL, TIMEOUT_MS, &error))
        return EXIT_FAILURE;
    for (intptr_t number = 1; fgets(line, sizeof line, stdin); number++)
        if (ask(line, nspace, number))
            return EXIT_FAILURE;
    pthread_mutex_lock(&lock);
    while (open_requests)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    control_tool_detach();
    return EXIT_SUCCESS;
}
