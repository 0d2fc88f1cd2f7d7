/* Reading Slurm: its commands and what they print, one reading by them or by libslurm, and the thread that does it. */
#include "scheduler/slurm/reading.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include "runtime/base/child.h"
#include "runtime/base/clock.h"
#include "runtime/base/thread.h"
#include "scheduler/munge/module.h"

/* ---- Commands ----------------------------------------------------------------------------------- */

static int find_command(const char *name, char path[PATH_MAX])
{
    const char *folders = getenv("PATH");
    for (const char *at = folders ? folders : "/usr/bin:/bin"; *at;) {
        size_t length = strcspn(at, ":");
        snprintf(path, PATH_MAX, "%.*s/%s", (int)length, at, name);
        if (length && !access(path, X_OK))
            return 0;
        at += length + (at[length] == ':');
    }
    return -1;
}

/* -1: a line says that there is no such command. */
static int command_check(const char *name, struct error *error)
{
    char path[PATH_MAX];
    return find_command(name, path) ? error_set(error, ERROR_REFUSED, "%s is not in PATH: there is no Slurm here", name)
                                    : 0;
}

/* Found in PATH; argv ends with NULL. What it printed is the caller's to free. -1: there is no such command, it failed
 * (its first words are in the line), or it took longer than that many seconds. */
static int command_read(const char *const *argv, double seconds, char **output, struct error *error)
{
    char path[PATH_MAX];
    const char *words[32] = {path};
    for (int i = 1; i < 31 && argv[i]; i++)
        words[i] = argv[i];
    if (find_command(argv[0], path))
        return error_set(error, ERROR_FAILED, "%s is not in PATH", argv[0]);
    return spawn_read((char *const *)words, seconds, output, error);
}

/* ---- What squeue and sinfo print ---------------------------------------------------------------- */

/*
 * Fields are parted by READING_FIELD. The last two are the user's own words, which may hold anything: so a record
 * begins with READING_FIELD, a number that nobody can know beforehand, and READING_FIELD; what follows up to the next
 * such beginning belongs to it. Times in seconds since 1970 (SLURM_TIME_FORMAT=%s).
 */
#define SQUEUE_FORMAT                                                                                                  \
    "%A" READING_FIELD "%U" READING_FIELD "%T" READING_FIELD "%D" READING_FIELD "%N" READING_FIELD "%n" READING_FIELD  \
    "%P" READING_FIELD "%Q" READING_FIELD "%l" READING_FIELD "%V" READING_FIELD "%S" READING_FIELD "%r" READING_FIELD  \
    "%k" READING_FIELD "%j"
#define SINFO_FORMAT "%N" READING_FIELD "%T" READING_FIELD "%c" READING_FIELD "%R" READING_FIELD "%p" READING_FIELD "%a"

enum job_field {
    JOB_ID,
    JOB_UID,
    JOB_STATE,
    JOB_NODES,
    JOB_HOSTS,
    JOB_REQUESTED,
    JOB_PARTITION,
    JOB_PRIORITY,
    JOB_LIMIT,
    JOB_SUBMITTED,
    JOB_STARTED,
    JOB_REASON,
    JOB_COMMENT,
    JOB_NAME,
    JOB_FIELDS
};

enum node_field { NODE_NAME, NODE_STATE, NODE_CPUS, NODE_PARTITION, NODE_TIER, NODE_UP, NODE_FIELDS };

/* The last one keeps what is left. How many there are. */
static int split_fields(char *text, char **fields, int most)
{
    int count = 0;
    while (text && count < most) {
        char *end = count + 1 < most ? strstr(text, READING_FIELD) : NULL;
        if (end)
            *end++ = '\0';
        fields[count++] = text;
        text = end;
    }
    return count;
}

static bool read_figure(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    if (end != text && *end == 'K')
        *value *= 1024, end++;
    return end != text && !*end && isfinite(*value);
}

/* [days-][[hours:]minutes:]seconds, or a word: no limit. */
static double read_seconds(const char *text)
{
    int days = 0, a, b, c, used = 0;
    if (sscanf(text, "%d-%n", &days, &used) < 1 || !used)
        days = used = 0;
    text += used;
    switch (sscanf(text, "%d:%d:%d", &a, &b, &c)) {
    case 3:
        return days * 86400.0 + a * 3600.0 + b * 60.0 + c;
    case 2:
        return days ? days * 86400.0 + a * 3600.0 + b * 60.0 : a * 60.0 + b;
    case 1:
        return days ? days * 86400.0 + a * 3600.0 : a;
    }
    return INFINITY;
}

static const struct {
    const char *word;
    enum slurm_job_state state;
} job_states[] = {{"PENDING", SLURM_JOB_WAITS},     {"RUNNING", SLURM_JOB_RUNS},       {"CONFIGURING", SLURM_JOB_RUNS},
                  {"SUSPENDED", SLURM_JOB_RUNS},    {"SIGNALING", SLURM_JOB_RUNS},     {"STAGE_OUT", SLURM_JOB_ENDS},
                  {"COMPLETING", SLURM_JOB_ENDS},   {"RESIZING", SLURM_JOB_RUNS},      {"STOPPED", SLURM_JOB_RUNS},
                  {"REQUEUED", SLURM_JOB_WAITS},    {"REQUEUE_HOLD", SLURM_JOB_WAITS}, {"REQUEUE_FED", SLURM_JOB_WAITS},
                  {"SPECIAL_EXIT", SLURM_JOB_WAITS}};

/* NULL: it is over. */
static const enum slurm_job_state *job_state(const char *word)
{
    for (size_t i = 0; i < sizeof job_states / sizeof *job_states; i++)
        if (!strcmp(word, job_states[i].word))
            return &job_states[i].state;
    return NULL;
}

static int give_job(char **fields, int count, const struct slurm_sink *sink, void *to)
{
    double id, uid, nodes, priority, submitted, started;
    if (count < JOB_FIELDS || !read_figure(fields[JOB_ID], &id) || !read_figure(fields[JOB_UID], &uid) ||
        !read_figure(fields[JOB_NODES], &nodes) || !read_figure(fields[JOB_PRIORITY], &priority) ||
        !read_figure(fields[JOB_SUBMITTED], &submitted))
        return -1;
    const enum slurm_job_state *state = job_state(fields[JOB_STATE]);
    const char *comment = fields[JOB_COMMENT];
    struct slurm_job_given given = {.id = (int64_t)id,
                                    .uid = (uid_t)uid,
                                    .nodes = (int)nodes,
                                    .hosts = fields[JOB_HOSTS],
                                    .requested = fields[JOB_REQUESTED],
                                    .partition = fields[JOB_PARTITION],
                                    .reason = fields[JOB_REASON],
                                    .name = fields[JOB_NAME],
                                    .comment = strcmp(comment, "(null)") ? comment : "",
                                    .priority = (unsigned)priority,
                                    .limit = read_seconds(fields[JOB_LIMIT]),
                                    .submitted = submitted,
                                    .started = read_figure(fields[JOB_STARTED], &started) ? started : 0};
    if (!state)
        return 0;
    given.state = *state;
    sink->job(to, &given);
    return 0;
}

/* The beginning of the next record; its first field follows. */
static char *next_record(char *text, const char *begin)
{
    return strstr(text, begin);
}

int reading_parse_jobs(char *text, const char *mark, const struct slurm_sink *sink, void *to, struct error *error)
{
    char begin[64], *fields[JOB_FIELDS];
    snprintf(begin, sizeof begin, "%s%.50s%s", READING_FIELD, mark, READING_FIELD);
    size_t length = strlen(begin);
    for (char *record = next_record(text, begin), *next; record; record = next) {
        record += length;
        next = next_record(record, begin);
        char *end = next ? next : record + strlen(record);
        if (end > record && end[-1] == '\n')
            end[-1] = '\0';
        if (next)
            *next = '\0';
        if (give_job(fields, split_fields(record, fields, JOB_FIELDS), sink, to))
            return error_set(error, ERROR_FAILED, "squeue: a job's line is not as it should be: %.100s", record);
    }
    return 0;
}

/* The word, and what sinfo appends to it: "idle*" does not respond, "idle~" is powered down, "idle-" is planned. */
static void node_state(const char *text, struct slurm_node_given *node)
{
    static const char *const busy[] = {"allocated", "mixed", "completing", "draining", "failing", "allocated+"};
    static const char *const idle[] = {"idle", "planned"};
    size_t length = strcspn(text, "*~#!%$@^-");
    char word[32];
    snprintf(word, sizeof word, "%.*s", (int)length, text);
    bool marked = text[length] && text[length] != '-';
    node->state = SLURM_NODE_DOWN;
    for (size_t i = 0; i < sizeof busy / sizeof *busy; i++)
        if (!strcmp(word, busy[i]))
            node->state = SLURM_NODE_BUSY;
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
        if (!strcmp(word, idle[i]) && !marked)
            node->state = SLURM_NODE_IDLE;
    node->drained = !strncmp(word, "drain", 5);
    node->planned = node->state == SLURM_NODE_IDLE && (*word == 'p' || text[length] == '-');
}

int reading_parse_nodes(char *text, const struct slurm_sink *sink, void *to, struct error *error)
{
    char *rest = text, *line;
    while ((line = strsep(&rest, "\n"))) {
        char *fields[NODE_FIELDS];
        double cpus, tier;
        if (!*line)
            continue;
        if (split_fields(line, fields, NODE_FIELDS) < NODE_FIELDS || !read_figure(fields[NODE_CPUS], &cpus) ||
            !read_figure(fields[NODE_TIER], &tier))
            return error_set(error, ERROR_FAILED, "sinfo: a node's line is not as it should be: %.100s", line);
        struct slurm_node_given node = {.name = fields[NODE_NAME],
                                        .cpus = (int)cpus,
                                        .partition = fields[NODE_PARTITION],
                                        .tier = (int)tier,
                                        .up = !strcmp(fields[NODE_UP], "up")};
        node_state(fields[NODE_STATE], &node);
        sink->node(to, &node);
    }
    return 0;
}

/* ---- One reading -------------------------------------------------------------------------------- */

#define LONGEST 15 /* seconds for a command: Slurm's own limit is 10 */

int reading_choose(struct queue_reader *reader, const char *how, struct error *error)
{
    bool any = !how || !*how;
    setenv("SLURM_TIME_FORMAT", "%s", 1); /* for commands; here, where no thread runs yet */
    *reader = (struct queue_reader){.name = "squeue"};
    if (command_check("squeue", error))
        return -1;
    if (!any && strcmp(how, "libslurm") && strcmp(how, "squeue"))
        return error_set(error, ERROR_REFUSED, "'%s' reads no queue: libslurm or squeue", how);
    if (!any && !strcmp(how, "squeue"))
        return 0;
    reader->module = module_load("slurm.so", "slurm_module", error);
    if (!reader->module)
        return any ? 0 : -1;
    reader->name = "libslurm";
    return 0;
}

/* squeue --version: "slurm 24.11.5", or as in Debian "slurm-wlm 22.05.8". */
bool reading_version(const struct queue_reader *reader, char version[READING_VERSION])
{
    static const char *const argv[] = {"squeue", "--version", NULL};
    struct error error;
    char *text;
    if (reader->module) {
        unsigned number = reader->module->version;
        snprintf(version, READING_VERSION, "%02u.%02u.%u", number / 10000, number / 100 % 100, number % 100);
        return true;
    }
    if (command_read(argv, LONGEST, &text, &error))
        return false;
    bool found = sscanf(text, "slurm%*[^0-9]%31s", version) == 1;
    free(text);
    return found;
}

static int read_jobs(struct slurm_view *view, struct error *error)
{
    uint64_t number = 0;
    char mark[32], format[512], *text;
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        return error_set(error, ERROR_FAILED, "no random number");
    snprintf(mark, sizeof mark, "%016" PRIx64, number);
    snprintf(format, sizeof format, "%s%s%s%s", READING_FIELD, mark, READING_FIELD, SQUEUE_FORMAT);
    const char *const argv[] = {"squeue", "-h", "-a", "-o", format, NULL};
    if (command_read(argv, LONGEST, &text, error))
        return -1;
    int failed = reading_parse_jobs(text, mark, &view_sink, view, error);
    free(text);
    return failed;
}

static int read_nodes(struct slurm_view *view, struct error *error)
{
    static const char *const argv[] = {"sinfo", "-h", "-a", "-N", "-o", SINFO_FORMAT, NULL};
    char *text;
    if (command_read(argv, LONGEST, &text, error))
        return -1;
    int failed = reading_parse_nodes(text, &view_sink, view, error);
    free(text);
    return failed;
}

static int read_commands(struct slurm_view *view, struct error *error)
{
    return read_nodes(view, error) || read_jobs(view, error) ? -1 : 0;
}

static int read_module(const struct queue_reader *reader, bool again, struct slurm_view *view, struct error *error)
{
    bool unchanged = false;
    const char *wrong = reader->module->read(&view_sink, view, again, &unchanged);
    if (wrong)
        return error_set(error, ERROR_FAILED, "libslurm: %s", wrong);
    return unchanged;
}

int reading_once(const struct queue_reader *reader, bool again, struct slurm_view *view, struct error *error)
{
    *view = (struct slurm_view){0};
    int result = reader->module ? read_module(reader, again, view, error) : read_commands(view, error);
    if (!result && view_finish(view, error))
        result = -1;
    if (result)
        view_free(view);
    return result;
}

/* ---- The thread --------------------------------------------------------------------------------- */

static const double period_module = 0.1, period_commands = 0.5, period_away = 1; /* seconds */

static void tell_news(const struct reading *reading)
{
    uint64_t one = 1;
    if (write(reading->news, &one, sizeof one) < 0)
        return; /* it is readable already */
}

static void rest_a_while(struct reading *reading)
{
    double period = reading->away ? period_away : reading->reader.module ? period_module : period_commands;
    struct timespec until = clock_in(CLOCK_MONOTONIC, period);
    while (!reading->hurry && !reading->over)
        if (pthread_cond_clockwait(&reading->poked, &reading->lock, CLOCK_MONOTONIC, &until))
            break;
    reading->owed = reading->hurry;
    reading->hurry = false;
}

static void take_result(struct reading *reading, int result, struct slurm_view *view, double begun,
                        const struct error *why)
{
    bool was_away = reading->away;
    reading->away = result < 0;
    if (result < 0)
        reading->why = *why;
    else
        reading->begun = begun;
    if (!result) {
        if (reading->fresh)
            view_free(reading->fresh);
        free(reading->fresh);
        reading->fresh = view;
    } else {
        free(view);
    }
    if (!result || was_away != reading->away || reading->owed)
        tell_news(reading);
}

static void *run_reading(void *argument)
{
    struct reading *reading = argument;
    bool again = true;
    pthread_mutex_lock(&reading->lock);
    while (!reading->over) {
        struct slurm_view *view = calloc(1, sizeof *view);
        struct error why;
        double begun = monotonic_seconds();
        pthread_mutex_unlock(&reading->lock);
        int result = view ? reading_once(&reading->reader, again, view, &why) : error_memory(&why);
        pthread_mutex_lock(&reading->lock);
        again = result < 0;
        take_result(reading, result, view, begun, &why);
        rest_a_while(reading);
    }
    pthread_mutex_unlock(&reading->lock);
    return NULL;
}

int reading_begin(struct reading *reading, const struct queue_reader *reader, struct error *error)
{
    *reading = (struct reading){.reader = *reader, .news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    pthread_mutex_init(&reading->lock, NULL);
    pthread_cond_init(&reading->poked, NULL);
    int failed = reading->news < 0 ? errno : thread_start(&reading->thread, run_reading, reading);
    return failed ? error_set(error, ERROR_FAILED, "reading Slurm: %s", strerror(failed)) : 0;
}

void reading_end(struct reading *reading)
{
    struct timespec until = clock_in(CLOCK_MONOTONIC, 2);
    pthread_mutex_lock(&reading->lock);
    reading->over = true;
    pthread_cond_signal(&reading->poked);
    pthread_mutex_unlock(&reading->lock);
    if (pthread_clockjoin_np(reading->thread, NULL, CLOCK_MONOTONIC, &until))
        pthread_detach(reading->thread); /* the process ends now */
}

void reading_hurry(struct reading *reading)
{
    pthread_mutex_lock(&reading->lock);
    reading->hurry = true;
    pthread_cond_signal(&reading->poked);
    pthread_mutex_unlock(&reading->lock);
}

struct slurm_view *reading_take(struct reading *reading, double *asked, bool *away, struct error *why)
{
    uint64_t count;
    if (read(reading->news, &count, sizeof count) < 0)
        count = 0;
    pthread_mutex_lock(&reading->lock);
    struct slurm_view *view = reading->fresh;
    reading->fresh = NULL;
    *asked = reading->begun;
    *away = reading->away;
    if (reading->away)
        *why = reading->why;
    pthread_mutex_unlock(&reading->lock);
    return view;
}
