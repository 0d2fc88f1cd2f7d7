/* epopctl resize, pause, resume, stop and cancel: one request, one answer. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "driver/ctl/ctl.h"

int ctl_code_of(const cJSON *answer)
{
    const char *code = ctl_text(answer, "code", "");

    if (cJSON_IsTrue(cJSON_GetObjectItem(answer, "ok")))
        return CTL_DONE;
    if (strcmp(code, "timeout") == 0)
        return CTL_TIMEOUT;
    return strcmp(code, "ended") == 0 ? CTL_NO_JOB : CTL_REFUSED;
}

/* What to say of an answer that is not the expected one, and its exit code. */
static int conclude(const cJSON *answer, const ctl_arguments_t *arguments, const char *done)
{
    int code = ctl_code_of(answer);

    if (arguments->json)
        ctl_print_json(answer);
    else if (code != CTL_DONE)
        ctl_complain("%s", ctl_text(answer, "reason", "refused, without a reason"));
    else if (cJSON_HasObjectItem(answer, "element"))
        printf("%s at %s, iteration %.0f\n", done, ctl_text(answer, "element", "?"),
               ctl_number(answer, "iteration", 0));
    else
        printf("%s\n", done);
    return code;
}

static int simple(const ctl_arguments_t *arguments, const char *op, const char *done)
{
    cJSON *request = cJSON_CreateObject();
    ctl_job_t job;
    int code = ctl_job_select(arguments->job, &job);

    cJSON_AddStringToObject(request, "op", op);
    cJSON *answer = code == CTL_DONE ? ctl_ask_job(&job, request, arguments->timeout_ms, &code) : NULL;
    if (answer != NULL)
        code = conclude(answer, arguments, done);
    cJSON_Delete(answer);
    cJSON_Delete(request);
    return code;
}

int ctl_pause(const ctl_arguments_t *arguments)
{
    return simple(arguments, "pause", "paused");
}

int ctl_resume(const ctl_arguments_t *arguments)
{
    return simple(arguments, "resume", "resumed");
}

int ctl_cancel(const ctl_arguments_t *arguments)
{
    return simple(arguments, "cancel", "cancelled");
}

/* ---- resize ------------------------------------------------------------------- */

static int add_size(cJSON *request, const char *text)
{
    char *end;

    if (text == NULL)
        return 0;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (*end != '\0' || errno != 0 || number < INT_MIN || number > INT_MAX) {
        ctl_complain("resize: %s is out of range", text);
        return -1;
    }
    cJSON_AddNumberToObject(request, text[0] == '+' || text[0] == '-' ? "delta" : "size", (double)number);
    return 0;
}

static int add_ranks(cJSON *request, const char *text)
{
    if (text == NULL)
        return 0;
    cJSON *ranks = cJSON_AddArrayToObject(request, "release_ranks");
    for (const char *at = text;; at++) {
        char *end;
        errno = 0;
        long rank = strtol(at, &end, 10);
        if (end == at || (*end != ',' && *end != '\0') || errno != 0 || rank < 0 || rank > INT_MAX) {
            ctl_complain("resize: --release-ranks: \"%s\" is no list of ranks, as 3,5", text);
            return -1;
        }
        cJSON_AddItemToArray(ranks, cJSON_CreateNumber((double)rank));
        if (*end == '\0')
            return 0;
        at = end;
    }
}

/* NULL after one line on stderr. */
static cJSON *resize_request(const ctl_arguments_t *arguments)
{
    cJSON *request = cJSON_CreateObject();

    cJSON_AddStringToObject(request, "op", "resize");
    if (arguments->wait)
        cJSON_AddTrueToObject(request, "wait");
    if (arguments->hosts != NULL)
        cJSON_AddStringToObject(request, "add_hosts", arguments->hosts);
    if (arguments->release != NULL)
        cJSON_AddStringToObject(request, "release_hosts", arguments->release);
    if (add_size(request, arguments->size) == 0 && add_ranks(request, arguments->release_ranks) == 0)
        return request;
    cJSON_Delete(request);
    return NULL;
}

static void describe_resize(const cJSON *answer, char text[400])
{
    const char *note = ctl_text(answer, "note", "");
    const char *verb = strcmp(ctl_text(answer, "code", ""), "done") == 0 ? "done" : "accepted";
    char change[64] = "";

    if (cJSON_HasObjectItem(answer, "from"))
        snprintf(change, sizeof change, "%.0f -> %.0f", ctl_number(answer, "from", 0), ctl_number(answer, "size", 0));
    else
        snprintf(change, sizeof change, "%.0f", ctl_number(answer, "size", 0));
    snprintf(text, 400, "%s: %s%s%.250s", verb, change, note[0] == '\0' ? "" : "; ", note);
}

int ctl_resize(const ctl_arguments_t *arguments)
{
    cJSON *request = resize_request(arguments), *answer = NULL;
    char text[400];
    ctl_job_t job;
    int code = CTL_USAGE;

    if (request != NULL)
        code = ctl_job_select(arguments->job, &job);
    if (request != NULL && code == CTL_DONE)
        answer = ctl_ask_job(&job, request, arguments->timeout_ms, &code);
    if (answer != NULL) {
        describe_resize(answer, text);
        code = conclude(answer, arguments, text);
    } else if (code == CTL_TIMEOUT) {
        ctl_complain("the resize may still happen: epopctl cancel withdraws it");
    }
    cJSON_Delete(answer);
    cJSON_Delete(request);
    return code;
}

/* ---- stop ----------------------------------------------------------------------- */

/* The connection ends before the process does, so its process is looked at too. */
static int wait_gone(const ctl_job_t *job, int timeout_ms)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    struct timespec start, now;

    clock_gettime(CLOCK_MONOTONIC, &start);
    if (ctl_wait_end(timeout_ms) != 0)
        return -1;
    ctl_disconnect();
    while (job->here && ctl_job_alive(job)) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        if ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 > timeout_ms)
            return -1;
        nanosleep(&pause, NULL);
    }
    return 0;
}

static int stop_and_wait(const ctl_arguments_t *arguments, const ctl_job_t *job, const cJSON *request)
{
    int code = ctl_connect(job, NULL, NULL, arguments->timeout_ms);
    cJSON *answer = code == CTL_DONE ? ctl_ask(request, arguments->timeout_ms, &code) : NULL;

    if (answer == NULL)
        return code;
    code = ctl_code_of(answer);
    if (code == CTL_REFUSED || code == CTL_TIMEOUT) {
        code = conclude(answer, arguments, "");
        ctl_disconnect();
    } else if (wait_gone(job, arguments->timeout_ms) != 0) {
        ctl_complain("%s is still there after %g s", job->id, arguments->timeout_ms / 1e3);
        code = CTL_TIMEOUT;
    } else {
        puts("stopped");
        code = CTL_DONE;
    }
    cJSON_Delete(answer);
    return code;
}

int ctl_stop(const ctl_arguments_t *arguments)
{
    ctl_job_t job;
    int code;

    if (!arguments->wait)
        return simple(arguments, "stop", "stopping");
    if ((code = ctl_job_select(arguments->job, &job)) != CTL_DONE)
        return code;
    cJSON *request = cJSON_CreateObject();
    cJSON_AddStringToObject(request, "op", "stop");
    code = stop_and_wait(arguments, &job, request);
    cJSON_Delete(request);
    return code;
}
