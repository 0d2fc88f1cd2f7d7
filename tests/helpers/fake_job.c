/*
 * A job for epopctl's tests: the real control server with canned answers.
 *
 *   fake_job ID [OP=JSON | OP=never]...
 *
 * Prints "ready", and a line for everything that it sees: "request JSON", "abandoned", "attached N", "lost N",
 * "message N JSON". Commands on stdin: "publish JSON", "answer JSON" (to the oldest open request), "send N JSON",
 * "end" (as a job that ends well) and "exit" (without a word).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/control/control.h"

#define OPEN_MAX_REQUESTS 16

static struct {
    pthread_mutex_t lock;
    control_request_t *open[OPEN_MAX_REQUESTS];
    int count;
    char **answers; /* OP=JSON */
} job = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void say(const char *what, const cJSON *json)
{
    char *text = cJSON_PrintUnformatted(json);

    printf("%s %s\n", what, text == NULL ? "" : text);
    free(text);
}

static const char *answer_for(const char *op)
{
    for (char **at = job.answers; *at != NULL; at++)
        if (strncmp(*at, op, strlen(op)) == 0 && (*at)[strlen(op)] == '=')
            return *at + strlen(op) + 1;
    return "{\"ok\":false,\"code\":\"refused\",\"reason\":\"no answer is canned\"}";
}

static void answer_with(control_request_t *handle, const char *text)
{
    cJSON *answer = cJSON_Parse(text);

    control_answer(handle, answer);
    cJSON_Delete(answer);
}

static void on_request(void *context, control_request_t *handle, const cJSON *request)
{
    const char *op = cJSON_GetStringValue(cJSON_GetObjectItem(request, "op"));
    const char *text = answer_for(op == NULL ? "" : op);

    (void)context;
    say("request", request);
    if (strcmp(text, "never") != 0) {
        answer_with(handle, text);
        return;
    }
    pthread_mutex_lock(&job.lock);
    if (job.count < OPEN_MAX_REQUESTS)
        job.open[job.count++] = handle;
    pthread_mutex_unlock(&job.lock);
}

/* The oldest open request, or the given one; no longer open then. NULL if there is none. */
static control_request_t *take(const control_request_t *which)
{
    control_request_t *taken = NULL;

    pthread_mutex_lock(&job.lock);
    for (int i = 0; i < job.count && taken == NULL; i++)
        if (which == NULL || job.open[i] == which) {
            taken = job.open[i];
            job.count--;
            memmove(&job.open[i], &job.open[i + 1], (size_t)(job.count - i) * sizeof job.open[0]);
        }
    pthread_mutex_unlock(&job.lock);
    return taken;
}

static void on_abandoned(void *context, control_request_t *handle)
{
    (void)context;
    handle = take(handle);
    puts("abandoned");
    if (handle != NULL)
        answer_with(handle, "{\"ok\":true}");
}

static void on_attached(void *context, int process)
{
    (void)context;
    printf("attached %d\n", process);
}

static void on_lost(void *context, int process)
{
    (void)context;
    printf("lost %d\n", process);
}

static void on_message(void *context, int process, const cJSON *message)
{
    char what[32];

    (void)context;
    snprintf(what, sizeof what, "message %d", process);
    say(what, message);
}

static void send_to(const char *text)
{
    char *json;
    int process = (int)strtol(text, &json, 10);
    cJSON *message = cJSON_Parse(json);

    if (control_send(process, message) != 0)
        puts("not attached");
    cJSON_Delete(message);
}

static void obey(const char *line)
{
    if (strncmp(line, "publish ", 8) == 0) {
        cJSON *event = cJSON_Parse(line + 8);
        control_publish(event);
        cJSON_Delete(event);
    } else if (strncmp(line, "answer ", 7) == 0) {
        control_request_t *handle = take(NULL);
        if (handle != NULL)
            answer_with(handle, line + 7);
    } else if (strncmp(line, "send ", 5) == 0) {
        send_to(line + 5);
    } else {
        printf("unknown command: %s", line);
    }
}

int main(int argc, char **argv)
{
    static const control_server_ops_t ops = {.attached = on_attached,
                                             .lost = on_lost,
                                             .message = on_message,
                                             .request = on_request,
                                             .abandoned = on_abandoned};
    char uri[CONTROL_URI_MAX], token[CONTROL_TOKEN_MAX], error[256], line[4096];
    cJSON *about = cJSON_CreateObject();

    setvbuf(stdout, NULL, _IOLBF, 0);
    job.answers = argv + 2;
    cJSON_AddStringToObject(about, "program", "fake");
    if (argc < 2 || control_serve(&ops, NULL, uri, token, error, sizeof error) != 0 ||
        control_advertise(argv[1], about, error, sizeof error) != 0) {
        fprintf(stderr, "fake_job: %s\n", argc < 2 ? "no id" : error);
        return 1;
    }
    cJSON_Delete(about);
    puts("ready");
    while (fgets(line, sizeof line, stdin) != NULL && strcmp(line, "end\n") != 0) {
        if (strcmp(line, "exit\n") == 0)
            _exit(0);
        obey(line);
    }
    control_unserve(2000);
    puts("ended");
    return 0;
}
