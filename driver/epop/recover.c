/* epop --recover: chooses hosts and ranks, starts the job under mpiexec, and starts it again after a fault. */
#include "driver/epop/recover.h"

#include <cjson/cJSON.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/epop/launch.h"
#include "driver/epop/object.h"
#include "driver/epop/options.h"
#include "driver/epop/recover_attempt.h"
#include "runtime/base/child.h"
#include "runtime/base/clock.h"
#include "runtime/base/host.h"
#include "runtime/base/json.h"
#include "runtime/base/say.h"
#include "runtime/checkpoint/memory_place.h"
#include "runtime/control/supervisor.h"
#include "runtime/launch/engine.h"
#include "runtime/launch/mpiexec.h"

/* ---- Hosts: the list of --hosts ----------------------------------------------------------------- */

struct recover_hosts {
    struct recover_host {
        char name[256];
        int slots;
        bool up;
    } * items;
    int count; /* 0: all is on this host */
};

static const double answer_limit = 5; /* seconds for an answer */
enum { LOOK_MS = 50, FAILED_MOST = 4 };

static int read_host(struct recover_hosts *hosts, const char *entry, size_t length, struct error *error)
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

/* 0, or -1 with text. */
static int recover_hosts_read(struct recover_hosts *hosts, const char *list, struct error *error)
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
        if (read_host(hosts, entry, length, error))
            return -1;
        entry = entry[length] ? entry + length + 1 : NULL;
    }
    return 0;
}

static void recover_hosts_free(struct recover_hosts *hosts)
{
    free(hosts->items);
    *hosts = (struct recover_hosts){0};
}

/* Slots of those that are up. */
static int recover_hosts_slots(const struct recover_hosts *hosts)
{
    int slots = 0;
    for (int i = 0; i < hosts->count; i++)
        slots += hosts->items[i].up ? hosts->items[i].slots : 0;
    return slots;
}

/* "n1:2,n2:2" of those. The caller's to free; NULL: out of memory. */
static char *recover_hosts_text(const struct recover_hosts *hosts)
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

/* ---- Hosts: which of them can be reached -------------------------------------------------------- */

struct question {
    pid_t pid; /* of its mpiexec, which leads a process group; 0: it could not be started */
    int fd;    /* -1: answered, or given up */
    int failed;
    bool answered;
};

enum { WORDS_ROOM = 20 };

static int make_question(char **argv, const char *host, const struct recover_options *options, char *const *words)
{
    int n = 1;
    const char *const given[][2] = {{"-launcher", options->launcher},
                                    {"-launcher-exec", options->launcher_exec},
                                    {engine()->host_option, host},
                                    {"-n", "1"}};
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

static void ask_host(struct question *question, const char *host, const struct recover_options *options,
                     char *const *words)
{
    int ends[2];
    char path[PATH_MAX], *argv[WORDS_ROOM] = {path};
    *question = (struct question){.fd = -1};
    if (mpiexec_find(path) || pipe2(ends, O_CLOEXEC | O_NONBLOCK))
        return;
    make_question(argv, host, options, words);
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
static void look_at_answer(struct question *question)
{
    char text[256], name[64];
    int status;
    ssize_t length = read(question->fd, text, sizeof text);
    question->answered = length > 0;
    question->failed = engine()->failed(question->pid, name, sizeof name, &status) ? question->failed + 1 : 0;
    if (length >= 0 || question->failed > FAILED_MOST)
        end_question(question);
}

static bool is_any_open(const struct question *questions, int count)
{
    for (int i = 0; i < count; i++)
        if (questions[i].fd >= 0)
            return true;
    return false;
}

static bool is_this_one(const struct recover_host *host)
{
    return !strcmp(host->name, host_own()) || !strcmp(host->name, "localhost");
}

/* The command runs on all that are not this one at once. One question each; NULL: out of memory. */
static struct question *ask_all_hosts(struct recover_hosts *hosts, const struct recover_options *options,
                                      char *const *words)
{
    double end = monotonic_seconds() + answer_limit;
    struct question *questions = calloc((size_t)hosts->count + 1, sizeof *questions);
    for (int i = 0; questions && i < hosts->count; i++) {
        questions[i].fd = -1;
        if (!is_this_one(&hosts->items[i]) && hosts->items[i].up)
            ask_host(&questions[i], hosts->items[i].name, options, words);
    }
    while (questions && is_any_open(questions, hosts->count) && monotonic_seconds() < end) {
        poll(NULL, 0, LOOK_MS);
        for (int i = 0; i < hosts->count; i++)
            if (questions[i].fd >= 0)
                look_at_answer(&questions[i]);
    }
    for (int i = 0; questions && i < hosts->count; i++)
        end_question(&questions[i]);
    return questions;
}

/* Also those that were not up before: they may be again. */
static void recover_hosts_ask(struct recover_hosts *hosts, const struct recover_options *options)
{
    char *words[] = {"hostname", NULL};
    for (int i = 0; i < hosts->count; i++)
        hosts->items[i].up = true;
    struct question *questions = ask_all_hosts(hosts, options, words);
    for (int i = 0; questions && i < hosts->count; i++)
        hosts->items[i].up = questions[i].answered || is_this_one(&hosts->items[i]);
    free(questions);
}

/* Has each that is up, but this one, run that command, and waits for it as long. */
static void recover_hosts_run(struct recover_hosts *hosts, const struct recover_options *options, char *const *words)
{
    free(ask_all_hosts(hosts, options, words));
}

/* ---- The recovery ------------------------------------------------------------------------------- */

/* The death that is being recovered from. */
struct death {
    double noticed;     /* monotonic */
    double wall, begun; /* seconds since 1970: the same; when that start began */
    char reason[WORDS_TEXT];
    int lost; /* as the words have them */
    char hosts[SUPERVISOR_HOSTS];
    struct words_place place;
    struct words_saved saved[WORDS_SAVED];
};

struct recovery {
    const struct options *options;
    const struct recover_options *wish;
    struct recover_hosts hosts;
    bool executable; /* it has a main() of its own, and is started without epop */
    int signals;
    int count; /* how often it was started again */
    int ranks; /* of this start */
    int most;  /* 0: as many as are wanted */
    double begun;
    struct death death;
    struct attempt *attempt;
    cJSON *list;      /* of recoveries */
    char memory[256]; /* where checkpoints in memory lie, on each host; "": nowhere */
};

bool recover_is_wanted(const struct options *options)
{
    if (!options->recover.times || getenv(SUPERVISOR))
        return false;
    if (!launch_detect().launcher)
        return true;
    if (launch_speaks() && !options->job.quiet)
        say_line("note: --recover does nothing under a launcher: it is for the outermost command, which "
                 "starts mpiexec itself");
    return false;
}

/* ---- The command -------------------------------------------------------------------------------- */

struct command {
    char **argv;
    size_t count;
    char launcher[PATH_MAX], self[PATH_MAX], ranks[16];
    char *hosts;
};

static void add_word(struct command *command, const char *option, const char *value)
{
    if (!value)
        return;
    if (option)
        command->argv[command->count++] = (char *)option;
    command->argv[command->count++] = (char *)value;
}

static int make_command(struct command *command, const struct recovery *r, struct error *error)
{
    const struct options *options = r->options;
    int words = 0;
    while (options->job.command[words])
        words++;
    *command = (struct command){.argv = calloc((size_t)words + 16, sizeof *command->argv)};
    if (!command->argv)
        return error_memory(error);
    if (mpiexec_find(command->launcher))
        return error_set(error, ERROR_FAILED, "the launcher '%s' is not found; set EPOP_MPIEXEC to it", mpiexec_name());
    command->hosts = r->hosts.count ? recover_hosts_text(&r->hosts) : NULL;
    snprintf(command->ranks, sizeof command->ranks, "%d", r->ranks);
    add_word(command, NULL, command->launcher);
    add_word(command, "-launcher", r->wish->launcher);
    add_word(command, "-launcher-exec", r->wish->launcher_exec);
    add_word(command, engine()->host_option, command->hosts);
    add_word(command, "-n", command->ranks);
    if (!r->executable)
        add_word(command, NULL, launch_self(command->self, sizeof command->self, options->job.command[0]));
    for (char **word = r->executable ? options->argv : options->job.command + 1; *word; word++)
        add_word(command, NULL, *word);
    return 0;
}

static void put_seconds_into_environment(const char *name, double seconds)
{
    char text[32];
    snprintf(text, sizeof text, "%.3f", seconds);
    if (seconds > 0)
        setenv(name, text, 1);
}

/* An executable has no options of epop: it is told by the environment. */
static void hand_on_checkpoint_options(const struct checkpoint_options *wish)
{
    char keep[16];
    put_seconds_into_environment("EPOP_CHECKPOINT_EVERY", wish->every);
    put_seconds_into_environment("EPOP_CHECKPOINT_MEMORY", wish->memory);
    snprintf(keep, sizeof keep, "%d", wish->keep);
    if (wish->keep)
        setenv("EPOP_CHECKPOINT_KEEP", keep, 1);
    if (wish->behind)
        setenv("EPOP_CHECKPOINT_ASYNC", "1", 1);
    if (wish->directory)
        setenv("EPOP_CHECKPOINT_DIR", wish->directory, 1);
    if (wish->restart)
        setenv("EPOP_RESTART", wish->restart, 1);
    if (wish->new_arguments)
        setenv("EPOP_NEW_ARGUMENTS", "1", 1);
}

static void free_command(struct command *command)
{
    free(command->hosts);
    free(command->argv);
}

/* ---- Again -------------------------------------------------------------------------------------- */

/* As many ranks as there were, or as there are slots. */
static int choose_ranks(struct recovery *r, struct error *error)
{
    int wanted = r->wish->ranks ? r->wish->ranks : 1;
    int slots = r->hosts.count ? recover_hosts_slots(&r->hosts) : wanted;
    if (!slots)
        return error_set(error, ERROR_FAILED, "none of the hosts of --hosts can be reached any more");
    r->ranks = slots < wanted ? slots : wanted;
    if (r->most && r->most < r->ranks)
        r->ranks = r->most;
    return 0;
}

/* Iterations since that checkpoint; all of the last start where an earlier one made it. */
static unsigned long long lost_since(const struct death *death, int number)
{
    for (int i = 0; number && i < WORDS_SAVED; i++)
        if (death->saved[i].number == number)
            return death->place.count > death->saved[i].count ? death->place.count - death->saved[i].count : 0;
    return death->place.count;
}

/* One more in the list, which process 0 gets. */
static void note_recovery(struct recovery *r, unsigned long long iterations, double lost, double stood)
{
    const struct words_state *state = &r->attempt->words.state;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "time", r->death.wall);
    cJSON_AddStringToObject(json, "reason", r->death.reason);
    cJSON_AddStringToObject(json, "from", state->from);
    cJSON_AddNumberToObject(json, "number", state->number);
    cJSON_AddNumberToObject(json, "size", r->ranks);
    cJSON_AddNumberToObject(json, "iterations", (double)iterations);
    cJSON_AddNumberToObject(json, "lost", lost);
    cJSON_AddNumberToObject(json, "seconds", stood);
    cJSON_AddItemToArray(r->list, json);
    cJSON *message = json_message(SUPERVISOR_RECOVERIES);
    cJSON_AddItemReferenceToObject(message, SUPERVISOR_RECOVERIES, r->list);
    attempt_tell(&r->attempt->words, message);
    cJSON_Delete(message);
}

/* The one line that is said of it. */
static void on_attempt_runs(void *context)
{
    struct recovery *r = context;
    const struct words_state *state = &r->attempt->words.state;
    const struct death *death = &r->death;
    double lost = death->wall - (state->time > 0 ? state->time : death->begun);
    double stood = monotonic_seconds() - death->noticed;
    unsigned long long iterations = lost_since(death, state->number);
    char from[64] = "the beginning";
    if (state->number)
        snprintf(from, sizeof from, "checkpoint %d in %s", state->number,
                 strcmp(state->from, "file") ? "memory" : "a file");
    say_line("recovered (%d of %d) on %d rank%s from %s; lost: %llu iteration%s, %.1f s; it stood still for "
             "%.2f s (%s)",
             r->count, r->wish->times, r->ranks, r->ranks == 1 ? "" : "s", from, iterations, iterations == 1 ? "" : "s",
             lost > 0 ? lost : 0, stood, death->reason);
    note_recovery(r, iterations, lost > 0 ? lost : 0, stood);
}

static bool is_down(const struct recover_hosts *hosts, const char *name)
{
    for (int i = 0; i < hosts->count; i++)
        if (hostlist_has(hosts->items[i].name, name))
            return !hosts->items[i].up;
    return false;
}

/* The ranks that died, as "2,3,": the one that the job missed, and all on hosts that have gone. The caller's to free;
 * NULL: out of memory. */
static char *lost_ranks_text(const struct recovery *r)
{
    char *text = NULL, host[HOST_MAX];
    size_t size;
    int rank = 0, count, lost = r->death.lost;
    FILE *stream = open_memstream(&text, &size);
    for (const char *at = r->death.hosts; stream && hostlist_next(&at, host, &count); rank += count) {
        bool all = is_down(&r->hosts, host);
        for (int i = rank; i < rank + count; i++)
            if (all || i == lost)
                fprintf(stream, "%d,", i);
    }
    if (stream && lost >= rank) /* it is not known where they were */
        fprintf(stream, "%d,", lost);
    if (stream)
        fclose(stream);
    return text;
}

static void hand_on_lost_ranks(const struct recovery *r)
{
    char *text = lost_ranks_text(r);
    setenv(SUPERVISOR_LOST, text ? text : "", 1);
    free(text);
}

static int start_attempt(struct recovery *r, struct attempt *attempt, struct error *error)
{
    struct command command = {0};
    char again[16];
    *attempt = (struct attempt){.signals = r->signals, .runs = r->count ? on_attempt_runs : NULL, .context = r};
    attempt->failure = r->executable ? 0 : engine()->failure; /* which may end with that itself */
    r->attempt = attempt;
    r->begun = wall_seconds();
    snprintf(again, sizeof again, "%d", r->count);
    if (r->count) {
        setenv(SUPERVISOR_COUNT, again, 1);
        hand_on_lost_ranks(r);
    }
    if (attempt_listen(&attempt->words, r->hosts.count > 0, error))
        return -1;
    int failed = make_command(&command, r, error) || !attempt_run(attempt, command.argv, error);
    attempt_hang_up(&attempt->words);
    free_command(&command);
    return failed ? -1 : 0;
}

/* One that died again before it ran has lost what the last one had. */
static void note_death(struct recovery *r, const struct attempt *attempt)
{
    const char *reason =
        attempt->words.text[0] ? attempt->words.text : "process 0, or what started it, was killed or failed";
    if (r->count && !attempt->words.state.from[0])
        return;
    r->death = (struct death){.noticed = attempt->died, .begun = r->begun, .place = attempt->words.place};
    r->death.wall = wall_seconds() - (monotonic_seconds() - attempt->died);
    memcpy(r->death.saved, attempt->words.saved, sizeof r->death.saved);
    memcpy(r->death.hosts, attempt->words.hosts, sizeof r->death.hosts);
    r->death.lost = attempt->words.lost;
    snprintf(r->death.reason, sizeof r->death.reason, "%s", reason);
}

static int give_up_recovering(const struct recovery *r, const struct attempt *attempt)
{
    int status = attempt_status(attempt, r->executable);
    say_line("the job has died, and was started again %d time%s, which is all that --recover %d allows", r->count,
             r->count == 1 ? "" : "s", r->wish->times);
    return status ? status : EXIT_FAILED;
}

static int fail_to_recover(const struct error *error)
{
    say_line("%s", error->text);
    return EXIT_FAILED;
}

static int supervise(struct recovery *r)
{
    struct attempt attempt;
    struct error error = {0};
    char since[32];
    snprintf(since, sizeof since, "%.6f", wall_seconds());
    setenv(SUPERVISOR_SINCE, since, 1);
    for (;; r->count++) {
        if (choose_ranks(r, &error) || start_attempt(r, &attempt, &error))
            return fail_to_recover(&error);
        r->most = attempt.words.word == WORD_FITS ? attempt.words.status : 0;
        if (r->most && !attempt.told) {
            r->count--; /* it is the same recovery */
            continue;
        }
        if (!attempt_died(&attempt, r->count == 0))
            return attempt_status(&attempt, r->executable);
        if (r->count == r->wish->times)
            return give_up_recovering(r, &attempt);
        note_death(r, &attempt);
        if (r->hosts.count)
            recover_hosts_ask(&r->hosts, r->wish);
        if (attempt_told(r->signals))
            return attempt_status(&attempt, r->executable);
    }
}

/* ---- Memory ------------------------------------------------------------------------------------- */

/* The directory is this job's from here on, whether it has checkpoints in memory or not. */
static void open_memory(struct recovery *r)
{
    struct error unheard;
    memory_place_sweep();
    if (memory_place_name(r->memory, sizeof r->memory, &unheard) || memory_place_hold(r->memory, &unheard) < 0)
        r->memory[0] = '\0';
    else
        setenv(MEMORY_PLACE, r->memory, 1);
}

/* Whatever became of the job. */
static void close_memory(struct recovery *r)
{
    char *words[] = {"rm", "-rf", r->memory, NULL};
    if (!r->memory[0])
        return;
    memory_place_remove(r->memory);
    if (r->hosts.count)
        recover_hosts_run(&r->hosts, r->wish, words);
}

int recover_run(const struct options *options)
{
    struct recovery r = {.options = options, .wish = &options->recover};
    struct error error = {0};
    int status = EXIT_USAGE;
    r.executable = object_is_executable(options->program);
    if (r.executable)
        hand_on_checkpoint_options(&options->job.checkpoint);
    if ((options->recover.hosts && recover_hosts_read(&r.hosts, options->recover.hosts, &error)) ||
        (r.signals = attempt_prepare(&error)) < 0) {
        say_line("%s", error.text);
    } else {
        open_memory(&r);
        r.list = cJSON_CreateArray();
        status = supervise(&r);
        close_memory(&r);
        cJSON_Delete(r.list);
    }
    recover_hosts_free(&r.hosts);
    return status;
}
