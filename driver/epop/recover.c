/* The outermost command: see recover.h. */
#include "driver/epop/recover.h"

#include <cjson/cJSON.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/epop/launch.h"
#include "driver/epop/options.h"
#include "driver/epop/recover_attempt.h"
#include "driver/epop/recover_hosts.h"
#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/base/say.h"
#include "runtime/checkpoint/memory_place.h"
#include "runtime/control/supervisor.h"
#include "runtime/hydra/mpiexec.h"

/* The death that is being recovered from. */
struct death {
    double noticed;     /* monotonic */
    double wall, begun; /* seconds since 1970: the same; when that start began */
    char reason[WORDS_TEXT];
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

/* ---- The command ----------------------------------------------------------------------------- */

/* A program for epop names no interpreter of the dynamic linker; an executable does, or is a script. */
static bool is_executable(const char *path)
{
    ElfW(Ehdr) header = {.e_phnum = 0};
    ElfW(Phdr) segment;
    int fd = strchr(path, '/') ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    bool is = false;
    ssize_t length = fd >= 0 ? read(fd, &header, sizeof header) : 0;
    if (length > 2 && !memcmp(&header, "#!", 2))
        is = true;
    else if (length == (ssize_t)sizeof header && !memcmp(&header, ELFMAG, SELFMAG))
        for (int i = 0; i < header.e_phnum && !is; i++) {
            off_t at = (off_t)(header.e_phoff + (size_t)i * sizeof segment);
            is = pread(fd, &segment, sizeof segment, at) == (ssize_t)sizeof segment && segment.p_type == PT_INTERP;
        }
    if (fd >= 0)
        close(fd);
    return is;
}

struct command {
    char **argv;
    size_t count;
    char launcher[PATH_MAX], self[PATH_MAX], ranks[16];
    char *hosts;
};

static void add(struct command *command, const char *option, const char *value)
{
    if (!value)
        return;
    if (option)
        command->argv[command->count++] = (char *)option;
    command->argv[command->count++] = (char *)value;
}

static int make(struct command *command, const struct recovery *r, struct error *error)
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
    add(command, NULL, command->launcher);
    add(command, "-launcher", r->wish->launcher);
    add(command, "-launcher-exec", r->wish->launcher_exec);
    add(command, "-hosts", command->hosts);
    add(command, "-n", command->ranks);
    if (!r->executable)
        add(command, NULL, launch_self(command->self, sizeof command->self, options->job.command[0]));
    for (char **word = r->executable ? options->argv : options->job.command + 1; *word; word++)
        add(command, NULL, *word);
    return 0;
}

static void put_seconds(const char *name, double seconds)
{
    char text[32];
    snprintf(text, sizeof text, "%.3f", seconds);
    if (seconds > 0)
        setenv(name, text, 1);
}

/* An executable has no options of epop: it is told by the environment. */
static void hand_on(const struct checkpoint_options *wish)
{
    char keep[16];
    put_seconds("EPOP_CHECKPOINT_EVERY", wish->every);
    put_seconds("EPOP_CHECKPOINT_MEMORY", wish->memory);
    snprintf(keep, sizeof keep, "%d", wish->keep);
    if (wish->keep)
        setenv("EPOP_CHECKPOINT_KEEP", keep, 1);
    if (wish->behind)
        setenv("EPOP_CHECKPOINT_ASYNC", "1", 1);
    if (wish->directory)
        setenv("EPOP_CHECKPOINT_DIR", wish->directory, 1);
    if (wish->restart)
        setenv("EPOP_RESTART", wish->restart, 1);
}

static void free_command(struct command *command)
{
    free(command->hosts);
    free(command->argv);
}

/* ---- Again ------------------------------------------------------------------------------------ */

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
    words_tell(&r->attempt->words, message);
    cJSON_Delete(message);
}

/* The one line that is said of it. */
static void on_runs(void *context)
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

static int start(struct recovery *r, struct attempt *attempt, struct error *error)
{
    struct command command = {0};
    char again[16];
    *attempt = (struct attempt){.signals = r->signals, .runs = r->count ? on_runs : NULL, .context = r};
    r->attempt = attempt;
    r->begun = wall_seconds();
    snprintf(again, sizeof again, "%d", r->count);
    if (r->count)
        setenv(SUPERVISOR_COUNT, again, 1);
    if (words_open(&attempt->words, r->hosts.count > 0, error))
        return -1;
    int failed = make(&command, r, error) || !attempt_run(attempt, command.argv, error);
    words_close(&attempt->words);
    free_command(&command);
    return failed ? -1 : 0;
}

/* One that died again before it ran has lost what the last one had. */
static void note_death(struct recovery *r, const struct attempt *attempt)
{
    const char *reason = attempt->words.text[0] ? attempt->words.text : "process 0, or what started it, was killed";
    if (r->count && !attempt->words.state.from[0])
        return;
    r->death = (struct death){.noticed = attempt->died, .begun = r->begun, .place = attempt->words.place};
    r->death.wall = wall_seconds() - (monotonic_seconds() - attempt->died);
    memcpy(r->death.saved, attempt->words.saved, sizeof r->death.saved);
    snprintf(r->death.reason, sizeof r->death.reason, "%s", reason);
}

static int give_up(const struct recovery *r, const struct attempt *attempt)
{
    int status = attempt_status(attempt, r->executable);
    say_line("the job has died, and was started again %d time%s, which is all that --recover %d allows", r->count,
             r->count == 1 ? "" : "s", r->wish->times);
    return status ? status : EXIT_FAILED;
}

static int fail(const struct error *error)
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
        if (choose_ranks(r, &error) || start(r, &attempt, &error))
            return fail(&error);
        r->most = attempt.words.word == WORD_FITS ? attempt.words.status : 0;
        if (r->most && !attempt.told) {
            r->count--; /* it is the same recovery */
            continue;
        }
        if (!attempt_died(&attempt, r->count == 0))
            return attempt_status(&attempt, r->executable);
        if (r->count == r->wish->times)
            return give_up(r, &attempt);
        note_death(r, &attempt);
        if (r->hosts.count)
            recover_hosts_ask(&r->hosts, r->wish);
        if (attempt_told(r->signals))
            return attempt_status(&attempt, r->executable);
    }
}

/* ---- Memory ------------------------------------------------------------------------------------ */

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
    r.executable = is_executable(options->program);
    if (r.executable)
        hand_on(&options->job.checkpoint);
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
