/* What is started for a job: its command, the attendant that runs it, and how both reach other hosts. */
#include "scheduler/hosts/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/batch.h"
#include "runtime/base/child.h"
#include "runtime/base/json.h"
#include "runtime/base/paths.h"
#include "runtime/launch/mpiexec.h"
#include "scheduler/hosts/state.h"

/* ---- Inside an allocation of Slurm -------------------------------------------------------------- */

char *hosts_allocated(void)
{
    const char *names = getenv("SLURM_JOB_NODELIST"), *cpus = getenv("SLURM_JOB_CPUS_PER_NODE"), *comma = "";
    struct nodelist nodes = {0};
    char *text = NULL;
    size_t size = 0;
    if (!slurm_job() || !names || nodelist_add(&nodes, names))
        return NULL;
    FILE *stream = open_memstream(&text, &size);
    for (size_t i = 0; stream && i < nodes.count; i++, comma = ",") {
        int slots = nodelist_number(cpus, i);
        fprintf(stream, "%s%s:%d", comma, nodes.names[i], slots > 0 ? slots : 1);
    }
    nodelist_free(&nodes);
    return stream && !fclose(stream) ? text : NULL;
}

/* Which job each host is in, as lib/epop/step has it. */
static int set_step(const struct hosts *hosts)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (!stream)
        return -1;
    fprintf(stream, "%d", slurm_job());
    for (int i = 0; i < hosts->node_count; i += hosts->nodes[i].parts)
        fprintf(stream, "%c%s=%d", i ? ',' : ' ', hosts->nodes[i].host, slurm_job());
    int failed = fclose(stream) || setenv("EPOP_STEP", text, 1);
    free(text);
    return failed ? -1 : 0;
}

int hosts_launch_by_slurm(const struct hosts *hosts, struct error *error)
{
    char step[PATH_MAX];
    if (!slurm_job() || hosts->local || hosts->options->launcher || hosts->options->launcher_exec)
        return 0;
    if (tree_path("lib/epop/step", step, sizeof step) || set_step(hosts) || setenv("EPOP_STEP_FIRST", "1", 1) ||
        setenv("HYDRA_LAUNCHER", "ssh", 1) || setenv("HYDRA_LAUNCHER_EXEC", step, 1) ||
        setenv("HYDRA_LAUNCHER_AUTOFORK", "0", 1))
        return error_memory(error);
    return 0;
}

/* What mpiexec needs for that, and EPOP in the job, into its environment. */
static void set_allocation(cJSON *environment)
{
    static const char *const names[] = {
        "SLURM_CONF",     "SLURM_JOB_ID",        "SLURM_JOB_NODELIST",      "SLURM_JOB_CPUS_PER_NODE",
        "HYDRA_LAUNCHER", "HYDRA_LAUNCHER_EXEC", "HYDRA_LAUNCHER_AUTOFORK", "EPOP_STEP",
        "EPOP_STEP_FIRST"};
    for (size_t i = 0; getenv("EPOP_STEP") && i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        cJSON_DeleteItemFromObjectCaseSensitive(environment, names[i]);
        if (value)
            cJSON_AddStringToObject(environment, names[i], value);
    }
}

/* ---- Words of a command ------------------------------------------------------------------------- */

static void add_word(cJSON *argv, const char *word)
{
    cJSON_AddItemToArray(argv, cJSON_CreateString(word));
}

static void add_number(cJSON *argv, const char *option, int number)
{
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    if (option)
        add_word(argv, option);
    add_word(argv, text);
}

static void add_mpiexec(const struct hosts_job *job, cJSON *argv, int ranks, int nodes)
{
    const struct hosts_options *options = job->hosts->options;
    add_word(argv, mpiexec_name());
    if (options->launcher) {
        add_word(argv, "-launcher");
        add_word(argv, options->launcher);
    }
    if (options->launcher_exec) {
        add_word(argv, "-launcher-exec");
        add_word(argv, options->launcher_exec);
    }
    if (!job->hosts->local) {
        char *list = hosts_list(job->hosts, job->nodes, nodes < job->held ? nodes : job->held);
        add_word(argv, "-hosts");
        add_word(argv, list ? list : "");
        free(list);
    }
    add_number(argv, "-n", ranks);
}

/* ---- The command of a job ----------------------------------------------------------------------- */

bool hosts_launch_is_object(const char *program)
{
    const char *dot = strrchr(program, '.');
    return dot && !strcmp(dot, ".so");
}

/* The pool's processes are all there from the start, and those beyond the first ranks stand by. */
static int add_epop(const struct hosts_job *job, cJSON *argv, int ranks)
{
    char epop[PATH_MAX];
    if (tree_path("bin/epop", epop, sizeof epop))
        return -1;
    add_mpiexec(job, argv, job->pool ? job->ranks_max : ranks, job->held);
    add_word(argv, epop);
    if (job->pool)
        add_number(argv, "--start", ranks);
    else
        add_number(argv, "--max", job->ranks_max);
    return 0;
}

/* On this machine without mpiexec, whose variables a program that calls mpiexec itself would stumble over. */
static void add_once(const struct hosts_job *job, cJSON *argv)
{
    static const char *const without[] = {"PMI_FD", "PMI_RANK", "PMI_SIZE", "PMI_PORT", "MPI_LOCALRANKID"};
    if (job->hosts->local)
        return;
    add_mpiexec(job, argv, 1, 1);
    add_word(argv, "env");
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
        add_word(argv, "-u");
        add_word(argv, without[i]);
    }
}

static cJSON *command_of(const struct hosts_job *job)
{
    cJSON *argv = cJSON_CreateArray();
    int ranks = hosts_jobs_ranks(job, job->held), failed = 0;
    if (job->once)
        add_once(job, argv);
    else if (hosts_launch_is_object(job->argv[0]))
        failed = add_epop(job, argv, ranks);
    else
        add_mpiexec(job, argv, ranks, job->held);
    for (char **word = job->argv; *word; word++)
        add_word(argv, *word);
    if (!failed)
        return argv;
    cJSON_Delete(argv);
    return NULL;
}

/* ---- Its environment ---------------------------------------------------------------------------- */

static void set_variable(cJSON *environment, const char *name, const char *value)
{
    cJSON_DeleteItemFromObjectCaseSensitive(environment, name);
    cJSON_AddStringToObject(environment, name, value);
}

static void set_variable_number(cJSON *environment, const char *name, int value)
{
    char text[16];
    snprintf(text, sizeof text, "%d", value);
    set_variable(environment, name, text);
}

static void set_ours(const struct hosts_job *job, cJSON *environment)
{
    const struct hosts_options *options = job->hosts->options;
    char batch[40], *list = hosts_list(job->hosts, job->nodes, job->held);
    snprintf(batch, sizeof batch, "epoprm:%lld", (long long)job->number);
    set_variable(environment, "EPOP_BATCH_JOB", batch);
    set_variable_number(environment, "EPOPRM_JOB", (int)job->number);
    set_variable_number(environment, "EPOPRM_NODES", job->held);
    set_variable_number(environment, "EPOPRM_RANKS", hosts_jobs_ranks(job, job->held));
    set_variable(environment, "EPOPRM_HOSTS", list ? list : "");
    if (options->launcher)
        set_variable(environment, "HYDRA_LAUNCHER", options->launcher);
    if (options->launcher_exec)
        set_variable(environment, "HYDRA_LAUNCHER_EXEC", options->launcher_exec);
    if (job->saved)
        set_variable(environment, "EPOP_RESTART", job->saved);
    set_allocation(environment);
    free(list);
}

static cJSON *environment_of(const struct hosts_job *job)
{
    cJSON *environment = cJSON_CreateObject();
    for (char **variable = job->environment; *variable; variable++) {
        char *equals = strchr(*variable, '=');
        if (!equals)
            continue;
        *equals = '\0';
        set_variable(environment, *variable, equals + 1);
        *equals = '=';
    }
    set_ours(job, environment);
    return environment;
}

/* ---- launch.json, and the attendant that reads it ----------------------------------------------- */

static char *launch_text(const struct hosts_job *job)
{
    cJSON *launch = cJSON_CreateObject();
    char batch[40], output[PATH_MAX], *text;
    cJSON *argv = command_of(job);
    snprintf(output, sizeof output, "%s/output", job->directory);
    snprintf(batch, sizeof batch, "epoprm:%lld", (long long)job->number);
    cJSON_AddNumberToObject(launch, "version", 1);
    cJSON_AddItemToObject(launch, "argv", argv);
    cJSON_AddStringToObject(launch, "cwd", job->cwd);
    cJSON_AddItemToObject(launch, "environment", environment_of(job));
    cJSON_AddStringToObject(launch, "output", *job->output ? job->output : output);
    cJSON_AddStringToObject(launch, "batch", batch);
    if (job->once)
        cJSON_AddTrueToObject(launch, "once");
    text = argv ? cJSON_PrintUnformatted(launch) : NULL;
    cJSON_Delete(launch);
    return text;
}

/* Whole or not at all: an attendant may be reading it. */
static int write_file(const char *path, const char *text, struct error *error)
{
    char fresh[PATH_MAX + 8];
    snprintf(fresh, sizeof fresh, "%s.new", path);
    int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    size_t length = strlen(text);
    bool written = fd >= 0 && write(fd, text, length) == (ssize_t)length;
    if (fd >= 0 && close(fd))
        written = false;
    written = written && !rename(fresh, path);
    return written ? 0 : error_set(error, ERROR_FAILED, "%s cannot be written: %s", path, strerror(errno));
}

int hosts_launch_write(const struct hosts_job *job, struct error *error)
{
    char path[PATH_MAX], *text;
    snprintf(path, sizeof path, "%s/jobs", job->hosts->directory);
    mkdir(path, 0700);
    if (mkdir(job->directory, 0700) && errno != EEXIST)
        return error_set(error, ERROR_FAILED, "%s cannot be made: %s", job->directory, strerror(errno));
    text = launch_text(job);
    if (!text)
        return error_memory(error);
    snprintf(path, sizeof path, "%s/launch.json", job->directory);
    int failed = write_file(path, text, error);
    free(text);
    return failed;
}

/* By a process in between, so that it is nobody's child here and outlives the daemon. */
int hosts_launch_start(const struct hosts_job *job, struct error *error)
{
    char attend[PATH_MAX], run[] = "run";
    char *argv[] = {attend, run, job->directory, NULL};
    struct spawn what = {
        .argv = argv, .in = SPAWN_NOTHING, .out = SPAWN_NOTHING, .err = SPAWN_NOTHING, .session = true};
    pid_t pid;
    if (tree_path("lib/epop/attend", attend, sizeof attend))
        return error_set(error, ERROR_FAILED, "/proc/self/exe cannot be read");
    int failed = spawn_program(&what, &pid);
    return failed ? error_set(error, ERROR_FAILED, "%s cannot be started: %s", attend, strerror(failed)) : 0;
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t room = 0;
    if (file && getdelim(&text, &room, '\0', file) < 0) {
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}

cJSON *hosts_launch_ended(const struct hosts_job *job)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/ended.json", job->directory);
    char *text = read_file(path);
    cJSON *ended = text ? cJSON_Parse(text) : NULL;
    free(text);
    return ended;
}

/* ---- What a host is called, and what its MPI can do --------------------------------------------- */

/* What the tethers stand for: mpiexec, and what it reaches hosts with where that is known. */
static char *tethered(const struct hosts_options *options, bool *reaches)
{
    const char *launcher = options->launcher ? options->launcher : "";
    char *variable;
    *reaches = !strcmp(launcher, "ssh") || !strcmp(launcher, "rsh");
    const char *command = options->launcher_exec ? options->launcher_exec : launcher;
    int length =
        asprintf(&variable, "EPOP_TETHERED=%s%s%s", mpiexec_name(), *reaches ? "\n" : "", *reaches ? command : "");
    return length < 0 ? NULL : variable;
}

/* It ends with this daemon, also where it waits for a host that does not answer. */
char **hosts_launch_hostname(const struct hosts *hosts, int node)
{
    const struct hosts_options *options = hosts->options;
    char tether[PATH_MAX], **argv = calloc(14, sizeof *argv);
    bool reaches;
    size_t n = 0;
    if (!argv || tree_path("lib/epop/tether", tether, sizeof tether)) {
        free(argv);
        return NULL;
    }
    argv[n++] = strdup("/usr/bin/env");
    argv[n++] = tethered(options, &reaches);
    argv[n++] = strdup(tether);
    if (options->launcher) {
        argv[n++] = strdup("-launcher");
        argv[n++] = strdup(options->launcher);
    }
    if (options->launcher_exec || reaches) {
        argv[n++] = strdup("-launcher-exec");
        argv[n++] = strdup(reaches ? tether : options->launcher_exec);
    }
    argv[n++] = strdup("-hosts");
    argv[n++] = strdup(hosts->nodes[node].host);
    argv[n++] = strdup("-n");
    argv[n++] = strdup("1");
    argv[n++] = strdup("hostname");
    return argv;
}

#define TRIALS_MOST 150 /* seconds: more than the limits of all launches by which epop tries what works */

int hosts_launch_joins(bool *joins, struct error *error)
{
    char epop[PATH_MAX], *argv[] = {epop, "--capabilities", "--json", NULL}, *said;
    struct error why;
    if (tree_path("bin/epop", epop, sizeof epop))
        return error_memory(error);
    if (spawn_read(argv, TRIALS_MOST, &said, &why))
        return error_set(error, ERROR_REFUSED, "no job could run here: %.900s", why.text);
    const char *begin = strstr(said, "{\n"); /* MPI may have complained before */
    cJSON *found = cJSON_Parse(begin ? begin : "");
    const char *backend = json_text(cJSON_GetObjectItemCaseSensitive(found, "backend"), "name");
    const char *library = json_text(found, "library");
    int failed = backend && *backend
                     ? 0
                     : error_set(error, ERROR_REFUSED,
                                 "no job could run here: mpiexec starts no process (%.700s); when `epop "
                                 "--capabilities` finds a backend it can",
                                 library ? library : "no answer");
    *joins = !failed && !strcmp(backend, "join");
    cJSON_Delete(found);
    free(said);
    return failed;
}
