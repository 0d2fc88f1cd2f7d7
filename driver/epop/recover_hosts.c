/* Hosts to start on: see recover_hosts.h. */
#include "driver/epop/recover_hosts.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/spawn.h"
#include "runtime/hydra/hydra.h"
#include "runtime/hydra/mpiexec.h"

static const double limit = 5; /* seconds for an answer */
enum { LOOK_MS = 50, FAILED_MOST = 4 };

/* ---- The list ---------------------------------------------------------------------------------- */

static int read_entry(struct recover_hosts *hosts, const char *entry, size_t length, struct error *error)
{
    struct recover_host *host = &hosts->items[hosts->count];
    char text[300];
    int used = -1;
    snprintf(text, sizeof text, "%.*s", (int)length, entry);
    *host = (struct recover_host){.slots = 1, .up = true};
    int read = sscanf(text, "%255[^:/ ]%n:%d%n", host->name, &used, &host->slots, &used);
    if (length >= sizeof text || read < 1 || text[0] == '-' || text[used] || host->slots < 1)
        return error_set(error, ERROR_REFUSED, "--hosts: '%.100s': give a host as NAME or NAME:SLOTS", text);
    hosts->count++;
    return 0;
}

int recover_hosts_read(struct recover_hosts *hosts, const char *list, struct error *error)
{
    int most = 1;
    *hosts = (struct recover_hosts){0};
    for (const char *comma = list; comma && (comma = strchr(comma, ',')); comma++)
        most++;
    hosts->items = calloc((size_t)most, sizeof *hosts->items);
    if (!hosts->items)
        return error_memory(error);
    for (const char *entry = list; entry;) {
        size_t length = strcspn(entry, ",");
        if (read_entry(hosts, entry, length, error))
            return -1;
        entry = entry[length] ? entry + length + 1 : NULL;
    }
    return 0;
}

void recover_hosts_free(struct recover_hosts *hosts)
{
    free(hosts->items);
    *hosts = (struct recover_hosts){0};
}

int recover_hosts_slots(const struct recover_hosts *hosts)
{
    int slots = 0;
    for (int i = 0; i < hosts->count; i++)
        slots += hosts->items[i].up ? hosts->items[i].slots : 0;
    return slots;
}

char *recover_hosts_text(const struct recover_hosts *hosts)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    for (int i = 0, more = 0; stream && i < hosts->count; i++)
        if (hosts->items[i].up)
            fprintf(stream, "%s%s:%d", more++ ? "," : "", hosts->items[i].name, hosts->items[i].slots);
    if (stream)
        fclose(stream);
    return text;
}

/* ---- Which of them answer ---------------------------------------------------------------------- */

struct question {
    pid_t pid; /* of its mpiexec, which leads a process group; 0: it could not be started */
    int fd;    /* -1: answered, or given up */
    int failed;
    bool answered;
};

enum { WORDS_ROOM = 20 };

static int make_command(char **argv, const char *host, const struct recover_options *options, char *const *words)
{
    int n = 1;
    const char *const given[][2] = {
        {"-launcher", options->launcher}, {"-launcher-exec", options->launcher_exec}, {"-hosts", host}, {"-n", "1"}};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (given[i][1]) {
            argv[n++] = (char *)given[i][0];
            argv[n++] = (char *)given[i][1];
        }
    while (*words && n < WORDS_ROOM - 1)
        argv[n++] = *words++;
    argv[n] = NULL;
    return n;
}

static void ask(struct question *question, const char *host, const struct recover_options *options, char *const *words)
{
    int ends[2];
    char path[PATH_MAX], *argv[WORDS_ROOM] = {path};
    *question = (struct question){.fd = -1};
    if (mpiexec_find(path) || pipe2(ends, O_CLOEXEC | O_NONBLOCK))
        return;
    make_command(argv, host, options, words);
    const struct spawn what = {
        .argv = argv, .in = SPAWN_NOTHING, .out = ends[1], .err = SPAWN_NOTHING, .session = true, .directory = "/"};
    if (!spawn_program(&what, &question->pid))
        question->fd = ends[0];
    else
        close(ends[0]);
    close(ends[1]);
}

static void end_question(struct question *question)
{
    if (question->fd >= 0)
        close(question->fd);
    question->fd = -1;
    if (question->pid > 0)
        kill(-question->pid, SIGKILL);
}

/* Has it said something, or ended? A launcher that failed is also seen for a moment when mpiexec is just ending. */
static void look(struct question *question)
{
    char text[256], name[64];
    int status;
    ssize_t length = read(question->fd, text, sizeof text);
    question->answered = length > 0;
    question->failed = hydra_failed(question->pid, name, sizeof name, &status) ? question->failed + 1 : 0;
    if (length >= 0 || question->failed > FAILED_MOST)
        end_question(question);
}

static bool is_open(const struct question *questions, int count)
{
    for (int i = 0; i < count; i++)
        if (questions[i].fd >= 0)
            return true;
    return false;
}

static bool is_this_one(const struct recover_host *host)
{
    char own[256] = "";
    gethostname(own, sizeof own - 1);
    return !strcmp(host->name, own) || !strcmp(host->name, "localhost");
}

/* The command runs on all that are not this one at once. One question each; NULL: out of memory. */
static struct question *ask_all(struct recover_hosts *hosts, const struct recover_options *options, char *const *words)
{
    double end = monotonic_seconds() + limit;
    struct question *questions = calloc((size_t)hosts->count + 1, sizeof *questions);
    for (int i = 0; questions && i < hosts->count; i++) {
        questions[i].fd = -1;
        if (!is_this_one(&hosts->items[i]) && hosts->items[i].up)
            ask(&questions[i], hosts->items[i].name, options, words);
    }
    while (questions && is_open(questions, hosts->count) && monotonic_seconds() < end) {
        poll(NULL, 0, LOOK_MS);
        for (int i = 0; i < hosts->count; i++)
            if (questions[i].fd >= 0)
                look(&questions[i]);
    }
    for (int i = 0; questions && i < hosts->count; i++)
        end_question(&questions[i]);
    return questions;
}

/* Also those that were not up before: they may be again. */
void recover_hosts_ask(struct recover_hosts *hosts, const struct recover_options *options)
{
    char *words[] = {"hostname", NULL};
    for (int i = 0; i < hosts->count; i++)
        hosts->items[i].up = true;
    struct question *questions = ask_all(hosts, options, words);
    for (int i = 0; questions && i < hosts->count; i++)
        hosts->items[i].up = questions[i].answered || is_this_one(&hosts->items[i]);
    free(questions);
}

void recover_hosts_run(struct recover_hosts *hosts, const struct recover_options *options, char *const *words)
{
    free(ask_all(hosts, options, words));
}
