/* Starting joining processes in a launch of their own: what they find there, the command, and its end. */
#include "runtime/backends/launcher.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/backends/allocation.h"
#include "runtime/backends/device.h"
#include "runtime/backends/parking.h"
#include "runtime/base/batch.h"
#include "runtime/base/binding.h"
#include "runtime/base/child.h"
#include "runtime/base/clock.h"
#include "runtime/base/error.h"
#include "runtime/base/host.h"
#include "runtime/base/json.h"
#include "runtime/base/thread.h"
#include "runtime/coordinator/adaptation.h"
#include "runtime/coordinator/events.h"
#include "runtime/coordinator/replies.h"
#include "runtime/coordinator/survey.h"
#include "runtime/hydra/leftovers.h"
#include "runtime/hydra/relay.h"
#include "runtime/launch/engine.h"
#include "runtime/launch/mpiexec.h"
#include "runtime/member/member.h"
#include "runtime/wire/messages.h"

/* ---- What joining processes are to find as the first ones did ------------------------------------- */

/* Taken when the job starts, as a program may change its own later. */
struct conditions {
    char **environment; /* copies; without what belongs to this process's own launch */
    size_t count;       /* of its variables */
    char directory[PATH_MAX];
    struct rlimit limits[RLIM_NLIMITS];
};

static bool begins_with_one_of(const char *text, const char *const *beginnings)
{
    for (; *beginnings; beginnings++)
        if (!strncmp(text, *beginnings, strlen(*beginnings)))
            return true;
    return false;
}

/* What belongs to this process's own launch, or its host, and would confuse the new one. */
static bool is_launchers(const char *variable)
{
    static const char *const ours[] = {"EPOP_JOIN=", "EPOP_TETHERED=", "EPOP_STEP", SLURM_STEP_JOB "=", NULL};
    return begins_with_one_of(variable, ours) || begins_with_one_of(variable, engine()->variables);
}

static int take_environment(struct conditions *conditions)
{
    size_t count = 0;
    while (environ[count])
        count++;
    conditions->environment = calloc(count + 1, sizeof *conditions->environment);
    conditions->count = 0;
    for (size_t i = 0; conditions->environment && i < count; i++)
        if (!is_launchers(environ[i]) && !(slurm_job() && allocation_owns(environ[i])) &&
            !(conditions->environment[conditions->count++] = strdup(environ[i])))
            return -1;
    return conditions->environment ? 0 : -1;
}

/* Those of this process. 0, or -1 when out of memory. Before other threads of the program run. */
static int conditions_take(struct conditions *conditions)
{
    for (int i = 0; i < (int)RLIM_NLIMITS; i++)
        getrlimit((__rlimit_resource_t)i, &conditions->limits[i]);
    if (!getcwd(conditions->directory, sizeof conditions->directory))
        conditions->directory[0] =
            0; /* it was removed, or cannot be seen: joiners start where the launcher puts them */
    /* Also the joiners of a program that has begun MPI itself. */
    device_be_found();
    engine_prepare();
    return take_environment(conditions);
}

/* For each joiner the control plane and, at most, MPI; for a launch its output, and what is used in between. */
#define OF_A_JOINER 2
#define OF_A_LAUNCH 8

/* How many this process has; what it may have where it cannot look, since it has them all. */
static rlim_t open_descriptors(rlim_t limit)
{
    rlim_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    if (!folder)
        return limit;
    while (readdir(folder))
        count++;
    closedir(folder);
    return count - 3; /* itself, . and .. */
}

/* Can this process open what so many joiners need of it? Without that MPI would end the job, in the midst of joining.
 * 0, or -1 with one line of text. Local. */
static int conditions_suffice(int joining, struct error *error)
{
    struct rlimit limit;
    rlim_t needed = OF_A_JOINER * (rlim_t)joining + OF_A_LAUNCH;
    getrlimit(RLIMIT_NOFILE, &limit);
    rlim_t used = limit.rlim_cur == RLIM_INFINITY ? 0 : open_descriptors(limit.rlim_cur);
    if (used + needed <= limit.rlim_cur)
        return 0;
    return error_set(
        error, ERROR_FAILED,
        "rank 0's process may have %llu files and connections open, has %llu, and needs up to %llu more (ulimit -n)",
        (unsigned long long)limit.rlim_cur, (unsigned long long)used, (unsigned long long)needed);
}

static const struct {
    int resource;
    const char *name;
    bool hosts_own; /* its default depends on the host's memory: not worth a refusal */
} known[] = {
    {RLIMIT_CPU, "cpu", false},           {RLIMIT_FSIZE, "fsize", false},
    {RLIMIT_DATA, "data", false},         {RLIMIT_STACK, "stack", false},
    {RLIMIT_CORE, "core", false},         {RLIMIT_RSS, "rss", false},
    {RLIMIT_NPROC, "nproc", true},        {RLIMIT_NOFILE, "nofile", false},
    {RLIMIT_MEMLOCK, "memlock", true},    {RLIMIT_AS, "as", false},
    {RLIMIT_LOCKS, "locks", false},       {RLIMIT_SIGPENDING, "sigpending", true},
    {RLIMIT_MSGQUEUE, "msgqueue", false}, {RLIMIT_NICE, "nice", false},
    {RLIMIT_RTPRIO, "rtprio", false},     {RLIMIT_RTTIME, "rttime", false},
};
#define KNOWN (sizeof known / sizeof known[0])

/* As text: a JSON number does not hold all 64 bits. "-" is no limit. */
static void add_value(cJSON *list, rlim_t value)
{
    char text[24] = "-";
    if (value != RLIM_INFINITY)
        snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    cJSON_AddItemToArray(list, cJSON_CreateString(text));
}

static rlim_t value_of(const cJSON *item)
{
    const char *text = cJSON_GetStringValue(item);
    return text && text[0] != '-' ? (rlim_t)strtoull(text, NULL, 10) : RLIM_INFINITY;
}

/* The limits for the message to a joiner. */
static cJSON *conditions_limits(const struct conditions *conditions)
{
    cJSON *limits = cJSON_CreateObject();
    for (size_t i = 0; i < KNOWN; i++) {
        cJSON *pair = cJSON_AddArrayToObject(limits, known[i].name);
        add_value(pair, conditions->limits[known[i].resource].rlim_cur);
        add_value(pair, conditions->limits[known[i].resource].rlim_max);
    }
    return limits;
}

/* The soft limit is what a program meets; a hard one that is lower here than there is kept. */
static int set_limit(int resource, struct rlimit wanted)
{
    struct rlimit here;
    if (!setrlimit((__rlimit_resource_t)resource, &wanted))
        return 0;
    if (getrlimit((__rlimit_resource_t)resource, &here))
        return -1;
    if (wanted.rlim_max < here.rlim_max)
        here.rlim_max = wanted.rlim_max;
    here.rlim_cur = wanted.rlim_cur < here.rlim_max ? wanted.rlim_cur : here.rlim_max;
    return setrlimit((__rlimit_resource_t)resource, &here) || here.rlim_cur != wanted.rlim_cur ? -1 : 0;
}

/* In a joiner: sets the limits. 0, or -1 with one line of text when one cannot be had on this host. Local. */
static int conditions_apply_limits(const cJSON *limits, struct error *error)
{
    for (size_t i = 0; i < KNOWN; i++) {
        const cJSON *pair = cJSON_GetObjectItemCaseSensitive(limits, known[i].name);
        if (cJSON_GetArraySize(pair) != 2)
            continue;
        struct rlimit wanted = {value_of(cJSON_GetArrayItem(pair, 0)), value_of(cJSON_GetArrayItem(pair, 1))};
        if (!set_limit(known[i].resource, wanted) || known[i].hosts_own)
            continue;
        return error_set(error, ERROR_FAILED, "the resource limit '%s' of the running ranks cannot be had there: %s",
                         known[i].name, strerror(errno));
    }
    return 0;
}

/* ---- The launches -------------------------------------------------------------------------------- */

#define VARIABLE "EPOP_JOIN"
#define GRACE    3.0 /* seconds that a launch which was called off may take to end by itself */
#define LOOK     0.2 /* seconds between two looks at a launch that is not ready */
#define UNSAID   5   /* looks that the words of one that failed may take to come here */

/* One mpiexec that was started. */
struct launch {
    pid_t pid;
    int process;        /* a descriptor of it: its number may be another's when the thread that waits has reaped it */
    struct relay relay; /* of its output */
    int adaptation, first, count;
    bool off;       /* was told to end */
    bool own_fault; /* it was killed, or failed itself: its status is not that of its processes */
    int insistence; /* how often it has been */
    int unsaid;     /* looks at one that failed, and has not said why */
    double due;     /* when to look after it, or to insist; monotonic */
    struct coordinator *coordinator;
    struct launch *next;
};

static struct {
    _Atomic bool up; /* what follows is set, and seen by the coordinator's thread */
    struct launcher_job job;
    struct conditions conditions;
    char mpiexec[PATH_MAX];            /* as it was found from the directory at the start; "": it was not */
    char *options[ENGINE_OPTIONS_MAX]; /* for mpiexec, as the first one had them */
    int option_count;
    char tether[PATH_MAX]; /* the program that becomes it, and has it end with this process */
    char *tethered;        /* a variable for that, or NULL: there is no such program */
    bool allocation;       /* of Slurm, which starts processes then */
    struct launch *launches;
    char *hosts; /* of the adaptation being prepared; "": anywhere */
    int status;
} state;

int launcher_init(const struct launcher_job *job)
{
    state.job = *job;
    mpiexec_find(state.mpiexec);
    state.option_count = engine()->options(state.options);
    state.allocation = allocation_take() && !allocation_options(state.options, &state.option_count);
    if (engine()->tether)
        state.tethered =
            engine()->tether(state.mpiexec, state.options, &state.option_count, state.tether, sizeof state.tether);
    if (conditions_take(&state.conditions))
        return -1;
    atomic_store(&state.up, true);
    return 0;
}

int launcher_status(void)
{
    return state.status;
}

/* ---- The command and its environment ------------------------------------------------ */

/* The environment of the first processes with `joining` and what mpiexec needs; the array is the caller's, the strings
 * are not. */
static char **with_variables(char *joining, char *step)
{
    static char no_fork[] = ALLOCATION_NO_FORK;
    const struct conditions *conditions = &state.conditions;
    size_t n = conditions->count;
    char **result = calloc(n + 5, sizeof *result);
    for (size_t i = 0; result && i < n; i++)
        result[i] = conditions->environment[i];
    if (!result)
        return NULL;
    result[n++] = joining;
    if (step) {
        result[n++] = no_fork;
        result[n++] = step;
    }
    result[n] = state.tethered;
    return result;
}

/* A parked process keeps its cores, for when it joins again. */
static bool uses_cores(const struct coordinator *c, int process)
{
    return processes_cores(c, process) &&
           (processes_is_rank(c, process) || processes_state(c, process) == PROCESS_STANDBY);
}

/* By host, where running ranks are bound: the cores that they use, and how many one of them has. */
static cJSON *used_cores(const struct coordinator *c)
{
    cJSON *hosts = cJSON_CreateObject();
    for (int p = 0; p < processes_count(c); p++) {
        const char *name = processes_host(c, p);
        char text[BINDING_TEXT_MAX];
        if (!uses_cores(c, p) || cJSON_HasObjectItem(hosts, name))
            continue;
        cpu_set_t used = *processes_cores(c, p);
        for (int other = p + 1; other < processes_count(c); other++)
            if (uses_cores(c, other) && !strcmp(processes_host(c, other), name))
                CPU_OR(&used, &used, processes_cores(c, other));
        binding_text(&used, text);
        cJSON *host = cJSON_AddObjectToObject(hosts, name);
        cJSON_AddStringToObject(host, "used", text);
        cJSON_AddNumberToObject(host, "each", CPU_COUNT(processes_cores(c, p)));
    }
    return hosts;
}

static char *describe_joining(const struct launch *launch, cJSON *wake)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "first", launch->first);
    cJSON_AddItemToObject(json, "wake", wake);
    cJSON_AddStringToObject(json, "uri", state.job.uri);
    cJSON_AddStringToObject(json, "token", state.job.token);
    cJSON_AddItemToObject(json, "limits", conditions_limits(&state.conditions));
    cJSON_AddItemToObject(json, "cores", used_cores(launch->coordinator));
    char *text = cJSON_PrintUnformatted(json), *variable = NULL;
    cJSON_Delete(json);
    if (text && asprintf(&variable, VARIABLE "=%s", text) < 0)
        variable = NULL;
    free(text);
    return variable;
}

/* mpiexec [OPTIONS...] -n K [-hosts ...] EPOP ARGUMENTS...: strings that stay valid as long as the arguments here do.
 */
static char **command_of(char *count, char *self)
{
    size_t own = 0, n = 0;
    while (state.job.argv[own])
        own++;
    char **argv = calloc(own + 7 + ENGINE_OPTIONS_MAX, sizeof *argv);
    if (!argv)
        return NULL;
    argv[n++] = state.tethered ? state.tether : state.mpiexec;
    for (int i = 0; i < state.option_count; i++)
        argv[n++] = state.options[i];
    argv[n++] = "-n";
    argv[n++] = count;
    if (state.hosts[0]) {
        argv[n++] = (char *)engine()->host_option;
        argv[n++] = state.hosts;
    }
    argv[n++] = self;
    for (size_t i = 1; i < own; i++)
        argv[n++] = state.job.argv[i];
    return argv;
}

static int reap_launch(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* What nobody would watch: its proxies end when it is gone. */
static void end_unwatched(const struct launch *launch)
{
    kill(launch->pid, SIGKILL);
    reap_launch(launch->pid);
}

/* Starts it with no input, and no descriptor of ours but the relay's. It stays in our process group if it can, so that
 * what ends the job ends it too. */
static int spawn_launch(char **argv, char **environment, struct launch *launch)
{
    const struct spawn what = {
        .argv = argv,
        .environment = environment,
        .directory = state.conditions.directory[0] ? state.conditions.directory : NULL,
        .in = SPAWN_NOTHING,
        .out = launch->relay.out[1],
        .err = launch->relay.err[1],
        .session = engine()->session,
    };
    int error = spawn_program(&what, &launch->pid);
    if (error)
        return error;
    launch->process = pidfd_open(launch->pid, 0);
    if (launch->process >= 0)
        return 0;
    error = errno;
    end_unwatched(launch);
    return error;
}

static int run_launch(struct launch *launch, cJSON *wake)
{
    char count[16], self[PATH_MAX] = "";
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) {
        cJSON_Delete(wake);
        return ENOENT;
    }
    snprintf(count, sizeof count, "%d", launch->count);
    char *joining = describe_joining(launch, wake);
    char *step = state.allocation ? allocation_variable(launch->coordinator, state.hosts) : NULL;
    char **environment = step || !state.allocation ? with_variables(joining, step) : NULL;
    char **argv = command_of(count, self);
    int error = joining && environment && argv ? relay_open(&launch->relay) : ENOMEM;
    launch->relay.hidden = engine()->shows();
    if (!error && (error = spawn_launch(argv, environment, launch)))
        relay_close(&launch->relay);
    free(argv);
    free(environment);
    free(step);
    free(joining);
    return error;
}

/* ---- Watching it ---------------------------------------------------------------------- */

static void *wait_for_end(void *argument)
{
    struct launch *launch = argument;
    bool troubled = relay_run(&launch->relay, launch->pid);
    int status = reap_launch(launch->pid);
    launch->own_fault = troubled || !WIFEXITED(status);
    leftovers_remove();
    status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    events_post_backend(launch->coordinator, launch, status);
    return NULL;
}

static int watch_launch(struct launch *launch)
{
    relay_started(&launch->relay);
    int error = thread_start(NULL, wait_for_end, launch);
    if (!error)
        return 0;
    end_unwatched(launch);
    relay_close(&launch->relay);
    return error;
}

int launcher_busy(void)
{
    int count = 0;
    for (const struct launch *l = state.launches; l; l = l->next)
        count++;
    return count;
}

static void take_out(const struct launch *launch)
{
    struct launch **link = &state.launches;
    while (*link && *link != launch)
        link = &(*link)->next;
    if (*link)
        *link = launch->next;
}

/* The job is over, and had ranks in it to the last: what they then returned from main() is what it ends with. Before, a
 * rank that is missed ends the job; and a process that left, or never came in, is not the job's. */
static bool ends_for_ranks(const struct coordinator *c, const struct launch *launch)
{
    bool had = false;
    for (int p = launch->first; p < launch->first + launch->count; p++)
        had |= processes_state(c, p) == PROCESS_RUNNING && processes_is_rank(c, p);
    return job_is_over(c) && had && !launch->off && !launch->own_fault;
}

/* With the last words on its standard error: Hydra of MPICH 5 ends when it cannot reach a host, and ssh says why. */
static void explain_end(const struct launch *launch, int status, char *reason, size_t size)
{
    const char *said = launch->relay.said;
    if (status < 0)
        snprintf(reason, size, "the launcher of the joining processes could not be started: %s", strerror(-status));
    else
        snprintf(reason, size,
                 "the launcher of the joining processes%s%.60s ended with status %d before they were ready%s%.*s",
                 state.hosts[0] ? " on " : "", state.hosts, status, said[0] ? ": " : "", RELAY_SAID, said);
}

void launcher_event(struct coordinator *c, void *handle, int status)
{
    struct launch *launch = handle;
    struct adaptation *a = adaptation_pending(c);
    take_out(launch);
    bool pending = a && a->id == launch->adaptation;
    bool in_window = pending && (a->state == ADAPTATION_WINDOW || preconnect_goes_on(c));
    if (status > 0 && !state.status && ends_for_ranks(c, launch))
        state.status = status;
    if (pending && !in_window && !launch->off) {
        char reason[200 + RELAY_SAID];
        explain_end(launch, status, reason, sizeof reason);
        adaptation_fail(c, reason);
    }
    for (int p = launch->first; p < launch->first + launch->count; p++) {
        enum process_state was = processes_state(c, p);
        if (was == PROCESS_RETURNING || was == PROCESS_STANDBY || (was == PROCESS_JOINING && !in_window))
            processes_gone(c, p);
    }
    if (launch->process >= 0)
        close(launch->process);
    free(launch);
}

/* ---- Ending it ------------------------------------------------------------------------ */

/* What is stopped, or ignores the signal, is ended by its number where it runs on this host. */
static void insist_on_end(struct coordinator *c, struct launch *launch)
{
    launch->due = monotonic_seconds() + 0.2;
    if (launch->insistence++ < 2) {
        pidfd_send_signal(launch->process, engine()->end, NULL, 0);
        return;
    }
    for (int p = launch->first; p < launch->first + launch->count; p++)
        if (processes_state(c, p) != PROCESS_GONE)
            parking_kill_here(c, p);
    if (launch->insistence > 10)
        pidfd_send_signal(launch->process, SIGKILL, NULL, 0);
}

static bool has_ended(const struct launch *launch)
{
    struct pollfd end = {.fd = launch->process, .events = POLLIN};
    return launch->process < 0 || poll(&end, 1, 0) > 0;
}

/* Until the joiners are ready: has the launcher failed, and not noticed? */
static void look_after(struct coordinator *c, struct launch *launch)
{
    const struct adaptation *a = adaptation_pending(c);
    char name[64], said[RELAY_SAID], reason[200 + RELAY_SAID];
    int status;
    launch->due = 1e300;
    if (!a || a->id != launch->adaptation || a->state != ADAPTATION_PREPARING)
        return;
    launch->due = monotonic_seconds() + LOOK;
    if (has_ended(launch) || !engine()->failed(launch->pid, name, sizeof name, &status))
        return;
    if (!relay_said(&launch->relay, name, said, sizeof said) && launch->unsaid++ < UNSAID)
        return; /* its last words may be on their way */
    snprintf(reason, sizeof reason, "the launcher cannot start processes%s%.60s: its '%s' ended with status %d%s%s",
             state.hosts[0] ? " on " : "", state.hosts, name, status, said[0] ? ": " : "", said);
    adaptation_fail(c, reason);
}

double launcher_tick(struct coordinator *c)
{
    double now = monotonic_seconds(), wait = 3600;
    for (struct launch *l = state.launches; l; l = l->next) {
        if (now >= l->due && l->off)
            insist_on_end(c, l);
        else if (now >= l->due)
            look_after(c, l);
        if (l->due - now < wait)
            wait = l->due - now;
    }
    return wait > 0.01 ? wait : 0.01;
}

static struct launch *launch_of(int adaptation)
{
    struct launch *launch = state.launches;
    while (launch && launch->adaptation != adaptation)
        launch = launch->next;
    return launch;
}

bool launcher_runs(int adaptation)
{
    return launch_of(adaptation);
}

static void end_launch(struct coordinator *c, const struct adaptation *a, double grace)
{
    struct launch *launch = launch_of(a->id);
    if (!launch)
        return;
    launch->off = true;
    launch->due = monotonic_seconds() + grace;
    if (!grace)
        insist_on_end(c, launch);
}

void launcher_cancel(struct coordinator *c, const struct adaptation *a)
{
    for (int j = a->parked; j < a->joining; j++)
        processes_send(c, a->joiners[j], json_message(ORDER(call_off)));
    end_launch(c, a, GRACE);
}

/* At once: old ranks stand still until the connect fails. */
void launcher_kill(struct coordinator *c, const struct adaptation *a)
{
    end_launch(c, a, 0);
    struct launch *launch = launch_of(a->id);
    if (launch)
        launch->insistence = 2;
    launcher_tick(c);
}

/* ---- Where ------------------------------------------------------------------------------ */

/* Has that launch processes that stay, there, or with NULL anywhere? */
static bool lives_on(const struct coordinator *c, int launch, const char *host)
{
    bool lives = false;
    for (int p = 0; p < processes_count(c); p++)
        lives |= processes_launch(c, p) == launch && processes_state(c, p) != PROCESS_GONE &&
                 processes_state(c, p) != PROCESS_LEAVING && (!host || hostlist_has(host, processes_host(c, p)));
    return lives;
}

/* Where the process manager forgets: have all processes of a launch left that host, while others of it run? */
static bool is_forgotten(const struct coordinator *c, const char *host)
{
    bool is = false;
    for (int p = 0; engine()->forgets && p < processes_count(c); p++)
        is |= processes_is_attached(c, p) && hostlist_has(host, processes_host(c, p)) &&
              lives_on(c, processes_launch(c, p), NULL) && !lives_on(c, processes_launch(c, p), host);
    return is;
}

/* Of what is named. 0, or -1 with one line of text. */
static int check_hosts(const struct coordinator *c, const char *hosts, struct error *error)
{
    char host[HOST_MAX];
    while (hostlist_next(&hosts, host, NULL))
        if (is_forgotten(c, host))
            return error_set(error, ERROR_FAILED,
                             "processes on %.100s could not be connected by %s: all of an earlier launch have left it, "
                             "and others of that run; name other hosts (--hosts)",
                             host, engine()->name);
    return 0;
}

/* For joiners that may come up anywhere: "", or if they may not the hosts of ranks where they can. Owned; NULL when out
 * of memory. */
static char *hosts_left(const struct coordinator *c)
{
    bool any = true;
    char *text = NULL;
    size_t size = 0;
    for (int p = 0; p < processes_count(c); p++)
        any &= !processes_is_attached(c, p) || !is_forgotten(c, processes_host(c, p));
    FILE *stream = any ? NULL : open_memstream(&text, &size);
    for (int p = 0; stream && p < processes_count(c); p++)
        if (processes_is_rank(c, p) && !is_forgotten(c, processes_host(c, p)))
            fprintf(stream, "%s%s", ftell(stream) ? "," : "", processes_host(c, p));
    if (stream && !ftell(stream))
        fprintf(stream, "%s", processes_host(c, 0)); /* which is refused */
    if (stream)
        fclose(stream);
    return any ? strdup("") : text;
}

static char *choose_hosts(const struct coordinator *c, const struct adaptation *a, const char *hosts)
{
    if (hosts)
        return strdup(hosts);
    return state.allocation ? allocation_hosts(c, a->joining - a->parked) : hosts_left(c);
}

/* ---- Starting it ------------------------------------------------------------------------ */

int launcher_choose(struct coordinator *c, struct adaptation *a, const char *hosts, struct error *error)
{
    if (!atomic_load(&state.up)) {
        error_set(error, ERROR_FAILED, "the job is starting; try again");
        return -1;
    }
    if (!state.mpiexec[0]) {
        error_set(error, ERROR_FAILED, "the launcher was not found; set EPOP_MPIEXEC to an mpiexec");
        return -1;
    }
    free(state.hosts);
    state.hosts = choose_hosts(c, a, hosts);
    if (!state.hosts)
        return error_memory(error);
    if (check_hosts(c, state.hosts, error) || conditions_suffice(a->joining, error))
        return -1;
    int first = processes_add(c, a->joining - a->parked, a->id);
    if (first < 0) {
        return error_memory(error);
    }
    for (int j = a->parked, p = first; j < a->joining; j++, p++)
        a->joiners[j] = p;
    return 0;
}

bool launcher_start(struct coordinator *c, const struct adaptation *a)
{
    if (!processes_all_attached(c))
        return false; /* one has not said yet which cores it uses */
    struct launch *launch = calloc(1, sizeof *launch);
    if (!launch) {
        fatal_memory(c);
        return true;
    }
    *launch = (struct launch){.adaptation = a->id,
                              .first = a->joiners[a->parked],
                              .count = a->joining - a->parked,
                              .process = -1,
                              .coordinator = c};
    launch->next = state.launches;
    state.launches = launch;
    int error = run_launch(launch, parking_wake(c, a));
    if (!error)
        error = watch_launch(launch);
    if (error)
        events_post_backend(c, launch, -error);
    return true;
}

/* ---- In a joining process ----------------------------------------------------------------- */

static int number_of(const char *variable, int otherwise)
{
    const char *text = getenv(variable);
    return text ? atoi(text) : otherwise;
}

/* Away from the cores that running ranks of this host are bound to. */
static void bind_away(const cJSON *hosts)
{
    cpu_set_t possible, used, mine;
    const cJSON *host = cJSON_GetObjectItemCaseSensitive(hosts, host_own());
    if (!host || !json_text(host, "used"))
        return;
    binding_parse(json_text(host, "used"), &used);
    binding_possible(&possible);
    binding_share(&possible, &used, json_int(host, "each", 1), number_of(engine()->local_rank, 0),
                  number_of(engine()->local_size, 1), &mine);
    binding_set(&mine);
}

bool launcher_joining(struct joining *joining)
{
    const char *text = getenv(VARIABLE);
    cJSON *json = text ? cJSON_Parse(text) : NULL;
    unsetenv(VARIABLE);
    unsetenv("EPOP_TETHERED");
    allocation_joining();
    if (!json)
        return false;
    joining->first = json_int(json, "first", 0);
    joining->wake = cJSON_DetachItemFromObjectCaseSensitive(json, "wake");
    const char *uri = json_text(json, "uri"), *token = json_text(json, "token");
    bool valid = joining->first > 0 && joining->wake && uri && token && strlen(uri) < sizeof joining->uri &&
                 strlen(token) < sizeof joining->token;
    if (valid) {
        strcpy(joining->uri, uri);
        strcpy(joining->token, token);
        bind_away(cJSON_GetObjectItemCaseSensitive(json, "cores"));
        conditions_apply_limits(cJSON_GetObjectItemCaseSensitive(json, "limits"), &joining->failure);
    }
    cJSON_Delete(json);
    return valid;
}
