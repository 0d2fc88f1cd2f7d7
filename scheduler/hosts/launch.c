/* Commands of jobs: see hosts_launch.h. */
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

#include "runtime/base/helper.h"
#include "runtime/base/json.h"
#include "runtime/base/spawn.h"
#include "runtime/hydra/mpiexec.h"
#include "scheduler/hosts/jobs.h"
#include "scheduler/hosts/slurm.h"

static void say(cJSON *argv, const char *word)
{
    cJSON_AddItemToArray(argv, cJSON_CreateString(word));
}

static void say_number(cJSON *argv, const char *option, int number)
{
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    if (option)
        say(argv, option);
    say(argv, text);
}

/* "n1:4,n2:4" of the job's nodes; with `most` as many of them. The caller's to free. */
static char *host_list(const struct hosts_job *job, int most)
{
    size_t length = 1;
    for (int i = 0; i < job->held; i++)
        length += strlen(job->hosts->nodes[job->nodes[i]].host) + 16;
    char *text = calloc(length, 1);
    for (int i = 0; text && i < job->held && i < most; i++) {
        const struct hosts_node *node = &job->hosts->nodes[job->nodes[i]];
        snprintf(text + strlen(text), length - strlen(text), "%s%s:%d", i ? "," : "", node->host, node->slots);
    }
    return text;
}

static void say_mpiexec(const struct hosts_job *job, cJSON *argv, int ranks, int nodes)
{
    const struct hosts_options *options = job->hosts->options;
    say(argv, mpiexec_name());
    if (options->launcher) {
        say(argv, "-launcher");
        say(argv, options->launcher);
    }
    if (options->launcher_exec) {
        say(argv, "-launcher-exec");
        say(argv, options->launcher_exec);
    }
    if (!job->hosts->local) {
        char *list = host_list(job, nodes);
        say(argv, "-hosts");
        say(argv, list ? list : "");
        free(list);
    }
    say_number(argv, "-n", ranks);
}

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
char **hosts_launch_name(const struct hosts *hosts, int node)
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

static bool is_object(const char *program)
{
    const char *dot = strrchr(program, '.');
    return dot && !strcmp(dot, ".so");
}

/* The pool's processes are all there from the start, and those beyond the first ranks stand by. */
static int say_epop(const struct hosts_job *job, cJSON *argv, int ranks)
{
    char epop[PATH_MAX];
    if (tree_path("bin/epop", epop, sizeof epop))
        return -1;
    say_mpiexec(job, argv, job->pool ? job->ranks_max : ranks, job->held);
    say(argv, epop);
    if (job->pool)
        say_number(argv, "--start", ranks);
    else
        say_number(argv, "--max", job->ranks_max);
    return 0;
}

/* On this machine without mpiexec, whose variables a program that calls mpiexec itself would stumble over. */
static void say_once(const struct hosts_job *job, cJSON *argv)
{
    static const char *const without[] = {"PMI_FD", "PMI_RANK", "PMI_SIZE", "PMI_PORT", "MPI_LOCALRANKID"};
    if (job->hosts->local)
        return;
    say_mpiexec(job, argv, 1, 1);
    say(argv, "env");
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
        say(argv, "-u");
        say(argv, without[i]);
    }
}

static cJSON *command(const struct hosts_job *job)
{
    cJSON *argv = cJSON_CreateArray();
    int ranks = hosts_jobs_ranks(job, job->held), failed = 0;
    if (job->once)
        say_once(job, argv);
    else if (is_object(job->argv[0]))
        failed = say_epop(job, argv, ranks);
    else
        say_mpiexec(job, argv, ranks, job->held);
    for (char **word = job->argv; *word; word++)
        say(argv, *word);
    if (!failed)
        return argv;
    cJSON_Delete(argv);
    return NULL;
}

static void set(cJSON *environment, const char *name, const char *value)
{
    cJSON_DeleteItemFromObjectCaseSensitive(environment, name);
    cJSON_AddStringToObject(environment, name, value);
}

static void set_number(cJSON *environment, const char *name, int value)
{
    char text[16];
    snprintf(text, sizeof text, "%d", value);
    set(environment, name, text);
}

static void set_ours(const struct hosts_job *job, cJSON *environment)
{
    const struct hosts_options *options = job->hosts->options;
    char batch[40], *list = host_list(job, job->held);
    snprintf(batch, sizeof batch, "epoprm:%lld", (long long)job->number);
    set(environment, "EPOP_BATCH_JOB", batch);
    set_number(environment, "EPOPRM_JOB", (int)job->number);
    set_number(environment, "EPOPRM_NODES", job->held);
    set_number(environment, "EPOPRM_RANKS", hosts_jobs_ranks(job, job->held));
    set(environment, "EPOPRM_HOSTS", list ? list : "");
    if (options->launcher)
        set(environment, "HYDRA_LAUNCHER", options->launcher);
    if (options->launcher_exec)
        set(environment, "HYDRA_LAUNCHER_EXEC", options->launcher_exec);
    hosts_slurm_set(environment);
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
        set(environment, *variable, equals + 1);
        *equals = '=';
    }
    set_ours(job, environment);
    return environment;
}

static char *launch_text(const struct hosts_job *job)
{
    cJSON *launch = cJSON_CreateObject();
    char batch[40], output[PATH_MAX], *text;
    cJSON *argv = command(job);
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

bool hosts_launch_joins(void)
{
    char epop[PATH_MAX], command[PATH_MAX + 64];
    char text[65536];
    if (tree_path("bin/epop", epop, sizeof epop))
        return false;
    snprintf(command, sizeof command, "'%s' --capabilities --json 2>/dev/null </dev/null", epop);
    FILE *from = popen(command, "re");
    size_t length = from ? fread(text, 1, sizeof text - 1, from) : 0;
    text[length] = '\0';
    if (from)
        pclose(from);
    cJSON *said = cJSON_Parse(text);
    const char *backend = json_text(cJSON_GetObjectItemCaseSensitive(said, "backend"), "name");
    bool joins = backend && !strcmp(backend, "join");
    cJSON_Delete(said);
    return joins;
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
