/* Starting joining processes in a launch of their own: see launcher.h. */
#include "runtime/backends/launcher.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/backends/allocation.h"
#include "runtime/backends/conditions.h"
#include "runtime/backends/parking.h"
#include "runtime/base/binding.h"
#include "runtime/base/child.h"
#include "runtime/base/clock.h"
#include "runtime/base/error.h"
#include "runtime/base/json.h"
#include "runtime/base/thread.h"
#include "runtime/coordinator/adaptation.h"
#include "runtime/coordinator/events.h"
#include "runtime/coordinator/replies.h"
#include "runtime/coordinator/survey.h"
#include "runtime/hydra/hydra.h"
#include "runtime/hydra/leftovers.h"
#include "runtime/hydra/mpiexec.h"
#include "runtime/hydra/relay.h"
#include "runtime/member/member.h"
#include "runtime/wire/messages.h"

#define VARIABLE "EPOP_JOIN"
#define GRACE    3.0 /* seconds that a launch which was called off may take to end by itself */
#define LOOK     0.2 /* seconds between two looks at a launch that is not ready */
#define UNSAID   5   /* looks that the words of one that failed may take to come here */

/* One mpiexec that was started. */
struct launch {
    pid_t pid;
    struct relay relay; /* of its output */
    int adaptation, first, count;
    bool off;       /* was told to end */
    bool own_fault; /* it was killed, or failed itself: its status is not that of its processes */
    int insistence; /* how hard */
    int unsaid;     /* looks at one that failed, and has not said why */
    double due;     /* when to look after it, or to insist; monotonic */
    struct coordinator *coordinator;
    struct launch *next;
};

static struct {
    _Atomic bool up; /* what follows is set, and seen by the coordinator's thread */
    struct launcher_job job;
    struct conditions conditions;
    char mpiexec[PATH_MAX];           /* as it was found from the directory at the start; "": it was not */
    char *options[HYDRA_OPTIONS_MAX]; /* for mpiexec, as the first one had them */
    int option_count;
    char *tethered;  /* a variable for mpiexec, or NULL */
    bool allocation; /* of Slurm, which starts processes then */
    struct launch *launches;
    char *hosts; /* of the adaptation being prepared; "": anywhere */
    int status;
} state;

int launcher_init(const struct launcher_job *job)
{
    state.job = *job;
    mpiexec_find(state.mpiexec);
    state.option_count = hydra_options(state.options);
    state.allocation = allocation_take() && !allocation_options(state.options, &state.option_count);
    state.tethered = state.allocation ? NULL : hydra_tether(state.options, &state.option_count);
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
    char **result = calloc(n + 4, sizeof *result);
    for (size_t i = 0; result && i < n; i++)
        result[i] = conditions->environment[i];
    if (result) {
        result[n++] = joining;
        if (step)
            result[n++] = no_fork;
        result[n] = step ? step : state.tethered;
    }
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

/* mpiexec [-launcher ...] -n K [-hosts ...] EPOP ARGUMENTS...: strings that stay valid as long as the arguments here
 * do. */
static char **command(char *count, char *self)
{
    size_t own = 0, n = 0;
    while (state.job.argv[own])
        own++;
    char **argv = calloc(own + 7 + HYDRA_OPTIONS_MAX, sizeof *argv);
    if (!argv)
        return NULL;
    argv[n++] = state.mpiexec;
    for (int i = 0; i < state.option_count; i++)
        argv[n++] = state.options[i];
    argv[n++] = "-n";
    argv[n++] = count;
    if (state.hosts[0]) {
        argv[n++] = "-hosts";
        argv[n++] = state.hosts;
    }
    argv[n++] = self;
    for (size_t i = 1; i < own; i++)
        argv[n++] = state.job.argv[i];
    return argv;
}

/* Starts it with no input, and no descriptor of ours but the relay's. It stays in our process group, so that what ends
 * the job ends it too. */
static int spawn(char **argv, char **environment, struct launch *launch)
{
    const struct spawn what = {
        .argv = argv,
        .environment = environment,
        .directory = state.conditions.directory[0] ? state.conditions.directory : NULL,
        .in = SPAWN_NOTHING,
        .out = launch->relay.out[1],
        .err = launch->relay.err[1],
    };
    return spawn_program(&what, &launch->pid);
}

static int run(struct launch *launch, cJSON *wake)
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
    char **argv = command(count, self);
    int error = joining && environment && argv ? relay_open(&launch->relay) : ENOMEM;
    if (!error && (error = spawn(argv, environment, launch)))
        relay_close(&launch->relay);
    free(argv);
    free(environment);
    free(step);
    free(joining);
    return error;
}

/* ---- Watching it ---------------------------------------------------------------------- */

static int reap(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

static void *wait_for_end(void *argument)
{
    struct launch *launch = argument;
    bool troubled = relay_run(&launch->relay, launch->pid);
    int status = reap(launch->pid);
    launch->own_fault = troubled || !WIFEXITED(status);
    leftovers_remove();
    status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    events_post_backend(launch->coordinator, launch, status);
    return NULL;
}

/* What nobody would watch is ended; its proxies end when it is gone. */
static int watch(struct launch *launch)
{
    relay_started(&launch->relay);
    int error = thread_start(NULL, wait_for_end, launch);
    if (!error)
        return 0;
    kill(launch->pid, SIGKILL);
    reap(launch->pid);
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
        char reason[160];
        if (status < 0)
            snprintf(reason, sizeof reason, "the launcher of the joining processes could not be started: %s",
                     strerror(-status));
        else
            snprintf(reason, sizeof reason,
                     "the launcher of the joining processes ended with status %d before they were ready", status);
        adaptation_fail(c, reason);
    }
    for (int p = launch->first; p < launch->first + launch->count; p++) {
        enum process_state was = processes_state(c, p);
        if (was == PROCESS_RETURNING || was == PROCESS_STANDBY || (was == PROCESS_JOINING && !in_window))
            processes_gone(c, p);
    }
    free(launch);
}

/* ---- Ending it ------------------------------------------------------------------------ */

/* Hydra ends its processes at the second SIGINT. What is stopped, or ignores that, is ended by its number where it
 * runs on this host. */
static void insist(struct coordinator *c, struct launch *launch)
{
    launch->due = monotonic_seconds() + 0.2;
    if (launch->insistence++ < 2) {
        kill(launch->pid, SIGINT);
        return;
    }
    for (int p = launch->first; p < launch->first + launch->count; p++)
        if (parking_is_local(c, p) && processes_state(c, p) != PROCESS_GONE)
            kill(processes_pid(c, p), SIGKILL);
    if (launch->insistence > 10)
        kill(launch->pid, SIGKILL);
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
    if (!hydra_failed(launch->pid, name, sizeof name, &status))
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
            insist(c, l);
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

static void end(struct coordinator *c, const struct adaptation *a, double grace)
{
    struct launch *launch = launch_of(a->id);
    if (!launch)
        return;
    launch->off = true;
    launch->due = monotonic_seconds() + grace;
    if (!grace)
        insist(c, launch);
}

void launcher_cancel(struct coordinator *c, const struct adaptation *a)
{
    for (int j = a->parked; j < a->joining; j++)
        processes_send(c, a->joiners[j], json_message(ORDER(call_off)));
    end(c, a, GRACE);
}

/* At once: old ranks stand still until the connect fails. */
void launcher_kill(struct coordinator *c, const struct adaptation *a)
{
    end(c, a, 0);
    struct launch *launch = launch_of(a->id);
    if (launch)
        launch->insistence = 2;
    launcher_tick(c);
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
    bool anywhere = state.allocation && !hosts;
    state.hosts = anywhere ? allocation_hosts(c, a->joining - a->parked) : strdup(hosts ? hosts : "");
    if (!state.hosts)
        return error_memory(error);
    if (conditions_suffice(a->joining, error))
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
    *launch = (struct launch){
        .adaptation = a->id, .first = a->joiners[a->parked], .count = a->joining - a->parked, .coordinator = c};
    launch->next = state.launches;
    state.launches = launch;
    int error = run(launch, parking_wake(c, a));
    if (!error)
        error = watch(launch);
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
    char name[64] = "";
    cpu_set_t possible, used, mine;
    gethostname(name, sizeof name - 1);
    const cJSON *host = cJSON_GetObjectItemCaseSensitive(hosts, name);
    if (!host || !json_text(host, "used"))
        return;
    binding_parse(json_text(host, "used"), &used);
    binding_possible(&possible);
    binding_share(&possible, &used, json_int(host, "each", 1), number_of("MPI_LOCALRANKID", 0),
                  number_of("MPI_LOCALNRANKS", 1), &mine);
    binding_set(&mine);
}

bool launcher_joining(struct joining *joining)
{
    const char *text = getenv(VARIABLE);
    cJSON *json = text ? cJSON_Parse(text) : NULL;
    unsetenv(VARIABLE);
    unsetenv(HYDRA_TETHERED);
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
