/*
 * A client of a job that stays: it watches, and sends each line of its standard input as a request at once, without
 * waiting for the answer to the one before. Prints "NUMBER ANSWER" for the request of that line, "event JSON" for what
 * happens, and "end" when the job goes. At the end of its input it waits for what is open, and ends.
 *
 *     client [JOB]
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/control/jobs.h"
#include "runtime/wire/link.h"
#include "runtime/wire/loop.h"

enum { SECONDS = 10, LINE = 4000 };

static struct {
    struct event_base *base;
    struct wire_link *link;
    struct event *input;
    char line[LINE];
    size_t used;
    intptr_t asked;
    int open; /* requests */
    bool attached, failed, over;
} client;

static void say(const char *what, const cJSON *json)
{
    char *text = json ? cJSON_PrintUnformatted(json) : NULL;
    printf("%s %s\n", what, text ? text : "");
    fflush(stdout);
    cJSON_free(text);
}

static void finish(void)
{
    client.over = true;
    wire_wake(client.base);
}

static void on_message(void *context, const cJSON *event)
{
    (void)context;
    say("event", event);
}

static void on_ended(void *context, bool lost)
{
    (void)context, (void)lost;
    say("end", NULL);
}

static void on_answer(void *context, cJSON *answer, const struct error *why)
{
    char number[24];
    (void)why;
    snprintf(number, sizeof number, "%ld", (long)(intptr_t)context);
    say(number, answer);
    cJSON_Delete(answer);
    client.open--;
    if (!client.open && !event_pending(client.input, EV_READ, NULL))
        finish();
}

static void fail(void)
{
    client.failed = true;
    finish();
}

static void ask(const char *text)
{
    cJSON *request = cJSON_Parse(text);
    client.open++;
    if (!request || wire_link_ask(client.link, request, -1, on_answer, (void *)++client.asked))
        fail();
    cJSON_Delete(request);
}

static void on_input(evutil_socket_t fd, short what, void *context)
{
    ssize_t got = read(fd, client.line + client.used, sizeof client.line - 1 - client.used);
    (void)what, (void)context;
    if (got <= 0) {
        event_del(client.input);
        if (!client.open)
            finish();
        return;
    }
    client.used += (size_t)got;
    client.line[client.used] = '\0';
    for (char *end; (end = strchr(client.line, '\n')); memmove(client.line, end + 1, strlen(end + 1) + 1)) {
        *end = '\0';
        ask(client.line);
    }
    client.used = strlen(client.line);
}

static void on_attached(void *context, const struct error *why_not)
{
    (void)context;
    client.attached = true;
    if (why_not)
        fail();
    else
        event_add(client.input, NULL);
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
    static const struct wire_link_ops ops = {on_attached, on_message, on_ended};
    struct control_job job;
    struct error error = {0};
    if (find(argc > 1 ? argv[1] : NULL, &job))
        return EXIT_FAILURE;
    client.base = wire_base_new();
    client.input = event_new(client.base, STDIN_FILENO, EV_READ | EV_PERSIST, on_input, NULL);
    client.link = wire_link_open(client.base, job.uri, job.token, WIRE_TOOL, 0, &ops, NULL, SECONDS, &error);
    if (!client.link)
        return EXIT_FAILURE;
    wire_wait(client.base, &client.over, -1);
    wire_link_close(client.link);
    return client.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
