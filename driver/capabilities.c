/* epop --capabilities: see capabilities.h. Each question is put in a launch of its own, with a time limit. */
#include "driver/capabilities.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "driver/launch.h"
#include "driver/try.h"

#define LIMIT 20.0 /* seconds for one attempt */

extern char **environ;

/* One launch, and what it has said so far, on either stream. */
struct attempt {
    pid_t pid;
    int output;
    double deadline;
    char text[4096];
    size_t length;
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- An attempt --------------------------------------------------------------------- */

static int start(struct attempt *attempt, int ranks, const char *thing, const char *argument)
{
    char mpiexec[PATH_MAX], self[PATH_MAX], count[16];
    int ends[2];
    *attempt = (struct attempt){.output = -1, .deadline = now() + LIMIT};
    launch_mpiexec(mpiexec);
    launch_self(self, sizeof self, "epop");
    snprintf(count, sizeof count, "%d", ranks);
    char *argv[] = {mpiexec, "-n", count, self, TRY_ARGUMENT, (char *)thing, (char *)argument, NULL};
    if (pipe(ends))
        return -1;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", 0, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
    posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    int error = posix_spawn(&attempt->pid, mpiexec, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    attempt->output = ends[0];
    return error ? -1 : 0;
}

/* Reads a piece. False at the end of the output, or of the time. */
static int read_on(struct attempt *attempt)
{
    struct pollfd ready = {.fd = attempt->output, .events = POLLIN};
    double left = attempt->deadline - now();
    size_t space = sizeof attempt->text - 1 - attempt->length;
    if (left <= 0 || space == 0 || poll(&ready, 1, (int)(1000 * left) + 1) <= 0)
        return 0;
    ssize_t length = read(attempt->output, attempt->text + attempt->length, space);
    attempt->length += length > 0 ? (size_t)length : 0;
    attempt->text[attempt->length] = 0;
    return length > 0;
}

/* The whole line that begins with this word, without the word; NULL if there is none (yet). The caller frees it. */
static char *line_of(const struct attempt *attempt, const char *word)
{
    size_t length = strlen(word);
    for (const char *line = attempt->text; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (!strncmp(line, word, length) && line[length] == ' ' && strchr(line, '\n'))
            return strndup(line + length + 1, strcspn(line + length + 1, "\n"));
    return NULL;
}

/* The end of it, by force when the time is over. */
static void finish(struct attempt *attempt)
{
    while (read_on(attempt))
        ;
    close(attempt->output);
    if (attempt->pid <= 0)
        return;
    if (now() >= attempt->deadline)
        kill(attempt->pid, SIGKILL); /* Hydra's proxies end their processes then */
    while (waitpid(attempt->pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* What is left where a launch ended without an answer: its last line. */
static char *last_words(struct attempt *attempt)
{
    char *text = NULL;
    while (attempt->length && attempt->text[attempt->length - 1] == '\n')
        attempt->text[--attempt->length] = 0;
    const char *line = strrchr(attempt->text, '\n');
    const char *said = attempt->length ? (line ? line + 1 : attempt->text) : "no answer";
    return asprintf(&text, "no: %s", said) < 0 ? NULL : text;
}

/* The answer to one question. The caller frees it. */
static char *ask(int ranks, const char *thing, const char *argument, const char *word)
{
    struct attempt attempt;
    if (start(&attempt, ranks, thing, argument))
        return strdup("no: the launcher cannot be started");
    finish(&attempt);
    char *answer = line_of(&attempt, word);
    return answer ? answer : last_words(&attempt);
}

/* One launch opens a port, another one connects to it. */
static void ask_for_connection(char **port_answer, char **connect_answer)
{
    struct attempt server;
    char *port = NULL;
    *port_answer = *connect_answer = NULL;
    if (!start(&server, 1, "accept", NULL))
        while (!(port = line_of(&server, "port")) && read_on(&server))
            ;
    if (port) {
        *port_answer = strdup("yes");
        *connect_answer = ask(1, "connect", port, "connect");
    }
    finish(&server);
    if (!port)
        *port_answer = line_of(&server, "connect");
    if (!port && !*port_answer)
        *port_answer = last_words(&server);
    if (!port)
        *connect_answer = strdup("no: no port can be opened");
    free(port);
}

/* ---- All of them ---------------------------------------------------------------------- */

enum { LIBRARY, THREADS, SPAWN, PORT, CONNECT, LEAVE, BACKEND, QUESTIONS };

static const char *const names[] = {"library", "threads", "spawn", "open_port", "connect", "leave", "backend"};

static void print_json(char *const answers[])
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "schema", "epop.capabilities");
    cJSON_AddNumberToObject(json, "version", 1);
    cJSON_AddStringToObject(json, "library", answers[LIBRARY]);
    cJSON_AddStringToObject(json, "threads", answers[THREADS]);
    for (int i = SPAWN; i <= LEAVE; i++) {
        cJSON *one = cJSON_AddObjectToObject(json, names[i]);
        int works = !strncmp(answers[i], "yes", 3);
        double ms;
        cJSON_AddBoolToObject(one, "works", works);
        if (works && sscanf(answers[i], "yes, in %lf ms", &ms) == 1)
            cJSON_AddNumberToObject(one, "milliseconds", ms);
        if (!works)
            cJSON_AddStringToObject(one, "reason", answers[i] + (strncmp(answers[i], "no: ", 4) ? 0 : 4));
    }
    cJSON *backend = cJSON_AddObjectToObject(json, names[BACKEND]);
    char *reason = strstr(answers[BACKEND], ": ");
    if (reason)
        *reason = 0;
    cJSON_AddStringToObject(backend, "name", answers[BACKEND]);
    cJSON_AddStringToObject(backend, "reason", reason ? reason + 2 : "");
    char *text = cJSON_Print(json);
    puts(text ? text : "{}");
    free(text);
    cJSON_Delete(json);
}

int capabilities_print(int as_json)
{
    char mpiexec[PATH_MAX], *answers[QUESTIONS];
    const char *chosen = launch_mpiexec(mpiexec);
    if (launch_detect().launcher || !mpiexec[0]) {
        if (launch_detect().launcher && launch_speaks())
            fprintf(stderr, "epop: --capabilities starts launches of its own: call it without mpiexec\n");
        else if (!mpiexec[0])
            fprintf(stderr, "epop: the launcher '%s' is not found; set EPOP_MPIEXEC to it\n", chosen);
        return -1;
    }
    answers[LIBRARY] = ask(1, "version", NULL, "library");
    answers[THREADS] = ask(1, "threads", NULL, "threads");
    answers[SPAWN] = ask(1, "spawn", NULL, "spawn");
    ask_for_connection(&answers[PORT], &answers[CONNECT]);
    answers[LEAVE] = ask(2, "leave", NULL, "leave");
    answers[BACKEND] = ask(1, "backend", NULL, "backend");
    for (int i = 0; i < QUESTIONS; i++)
        if (!answers[i] && !(answers[i] = strdup("no: out of memory")))
            return -1;
    if (as_json)
        print_json(answers);
    for (int i = 0; i < QUESTIONS; i++) {
        if (!as_json)
            printf("%-10s %s\n", names[i], answers[i]);
        free(answers[i]);
    }
    return 0;
}
