/*
 * A job for epopctl's tests: the real control server with canned answers.
 *
 *   fake_job ID [OP=JSON | OP=never | OP=late:MS:JSON | OP=hold:MS:JSON]...
 *
 * "late" answers after so long, in another thread, as the coordinator does; "hold" holds up the server's thread for so
 * long.
 *
 * Prints "ready", and a line for everything that it sees: "request JSON", "abandoned", "attached N", "lost N",
 * "message N JSON". Commands on stdin: "publish JSON", "answer JSON" (to the oldest open request), "send N JSON",
 * "all JSON", "mark TEXT" (prints that: what was printed before has been read by then), "fork" (leaves a child, prints
 * "forked PID"), "end" (as a job that ends well) and "exit" (without a word).
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/control/control.h"

#define OPEN_MAX_REQUESTS 256

static struct {
    pthread_mutex_t lock;
    struct wire_request *open[OPEN_MAX_REQUESTS];
    int count;
    char **answers; /* OP=JSON */
} job = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct late {
    struct wire_request *handle;
    long ms;
    const char *text;
};

static void say(const char *what, const cJSON *json)
{
    char *text = cJSON_PrintUnformatted(json);
    printf("%s %s\n", what, !text ? "" : text);
    free(text);
}

static const char *answer_for(const char *op)
{
    for (char **at = job.answers; *at; at++)
        if (!strncmp(*at, op, strlen(op)) && (*at)[strlen(op)] == '=')
            return *at + strlen(op) + 1;
    return "{\"ok\":false,\"code\":\"refused\",\"reason\":\"no answer is canned\"}";
}

static void answer_with(struct wire_request *handle, const char *text)
{
    cJSON *answer = cJSON_Parse(text);
    control_answer(handle, answer);
    cJSON_Delete(answer);
}

/* The oldest open request, or the given one; no longer open then. NULL if there is none. */
static struct wire_request *take(const struct wire_request *which)
{
    struct wire_request *taken = NULL;
    pthread_mutex_lock(&job.lock);
    for (int i = 0; i < job.count && !taken; i++)
        if (!which || job.open[i] == which) {
            taken = job.open[i];
            job.count--;
            memmove(&job.open[i], &job.open[i + 1], (size_t)(job.count - i) * sizeof job.open[0]);
        }
    pthread_mutex_unlock(&job.lock);
    return taken;
}

static void wait_ms(long ms)
{
    const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

static void *answer_late(void *argument)
{
    struct late *late = argument;
    wait_ms(late->ms);
    struct wire_request *handle = take(late->handle);
    if (handle)
        answer_with(handle, late->text);
    free(late);
    return NULL;
}

static void promise(const struct late *what)
{
    struct late *late = malloc(sizeof *late);
    pthread_t thread;
    *late = *what;
    if (!pthread_create(&thread, NULL, answer_late, late))
        pthread_detach(thread);
}

static void keep_open(struct wire_request *handle)
{
    pthread_mutex_lock(&job.lock);
    if (job.count < OPEN_MAX_REQUESTS)
        job.open[job.count++] = handle;
    pthread_mutex_unlock(&job.lock);
}

static void on_request(void *context, struct wire_request *handle, const cJSON *request)
{
    const char *op = cJSON_GetStringValue(cJSON_GetObjectItem(request, "op"));
    const char *text = answer_for(op ? op : "");
    bool late = !strncmp(text, "late:", 5), hold = !strncmp(text, "hold:", 5);
    char *json;
    long ms = late || hold ? strtol(text + 5, &json, 10) : 0;
    (void)context;
    if (late || !strcmp(text, "never"))
        keep_open(handle); /* first: who reads the line may have it answered at once */
    say("request", request);
    if (late)
        promise(&(struct late){.handle = handle, .ms = ms, .text = json + 1});
    if (hold)
        wait_ms(ms);
    if (hold || text[0] == '{')
        answer_with(handle, hold ? json + 1 : text);
}

static void on_abandoned(void *context, struct wire_request *handle)
{
    (void)context;
    handle = take(handle);
    puts("abandoned");
    if (handle)
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

/* What several say at a time is a line of each. */
static void on_message(void *context, const int *processes, int count, const cJSON *message)
{
    char what[32];
    (void)context;
    for (int i = 0; i < count; i++) {
        snprintf(what, sizeof what, "message %d", processes[i]);
        say(what, message);
    }
}

static void send_to(const char *text)
{
    char *json;
    int process = (int)strtol(text, &json, 10);
    cJSON *message = cJSON_Parse(json);
    if (control_send(process, message))
        puts("not attached");
    cJSON_Delete(message);
}

static void send_to_all(const char *text)
{
    cJSON *message = cJSON_Parse(text);
    control_send(CONTROL_ALL, message);
    cJSON_Delete(message);
}

/* A process that has all that this one has open, and stays. */
static void leave_child(void)
{
    pid_t child = fork();
    if (child == 0)
        for (;;)
            pause();
    printf("forked %ld\n", (long)child);
}

static void obey(const char *line)
{
    if (!strncmp(line, "publish ", 8)) {
        cJSON *event = cJSON_Parse(line + 8);
        control_publish(event);
        cJSON_Delete(event);
    } else if (!strncmp(line, "answer ", 7)) {
        struct wire_request *handle = take(NULL);
        if (handle)
            answer_with(handle, line + 7);
    } else if (!strncmp(line, "send ", 5)) {
        send_to(line + 5);
    } else if (!strncmp(line, "all ", 4)) {
        send_to_all(line + 4);
    } else if (!strncmp(line, "mark ", 5)) {
        fputs(line, stdout);
    } else if (!strcmp(line, "fork\n")) {
        leave_child();
    } else {
        printf("unknown command: %s", line);
    }
}

int main(int argc, char **argv)
{
    static const struct wire_server_ops ops = {.attached = on_attached,
                                               .lost = on_lost,
                                               .message = on_message,
                                               .request = on_request,
                                               .abandoned = on_abandoned};
    char uri[CONTROL_URI_MAX], token[CONTROL_TOKEN_MAX], line[4096];
    struct error error;
    cJSON *about = cJSON_CreateObject();
    setvbuf(stdout, NULL, _IOLBF, 0);
    job.answers = argv + 2;
    cJSON_AddStringToObject(about, "program", "fake");
    bool failed =
        argc < 2 || control_serve(&ops, NULL, uri, token, &error) || control_advertise(argv[1], about, &error);
    cJSON_Delete(about);
    if (failed) {
        fprintf(stderr, "fake_job: %s\n", argc < 2 ? "no id" : error.text);
        return 1;
    }
    puts("ready");
    while (fgets(line, sizeof line, stdin) && strcmp(line, "end\n")) {
        if (!strcmp(line, "exit\n"))
            _exit(0);
        obey(line);
    }
    control_unserve(2000);
    puts("ended");
    return 0;
}
