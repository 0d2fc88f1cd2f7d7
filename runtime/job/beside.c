/* Starting, and ending, the programs that run beside a job. */
#include "runtime/job/beside.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/batch.h"
#include "runtime/base/child.h"
#include "runtime/base/clock.h"
#include "runtime/base/paths.h"
#include "runtime/base/proctree.h"
#include "runtime/base/say.h"
#include "runtime/base/thread.h"
#include "runtime/control/rundir.h"
#include "runtime/hydra/relay.h"

/* ---- The attendant, and the gateway --------------------------------------------------------------- */

#define ADDRESS_MAX 320

static struct proc_id attendant; /* none: there is none */

static bool read_address(const char *path, char address[ADDRESS_MAX])
{
    FILE *file = fopen(path, "re");
    bool read = file && fgets(address, ADDRESS_MAX, file);
    if (file)
        fclose(file);
    if (read)
        address[strcspn(address, "\n")] = '\0';
    return read && strchr(address, ':');
}

/* HOST:PORT; false: none is named. */
static bool find_address(char address[ADDRESS_MAX])
{
    const char *named = getenv("EPOP_ADVISER");
    char directory[256], path[300];
    struct error error;
    if (named && *named) {
        snprintf(address, ADDRESS_MAX, "%s", named);
        return strchr(address, ':');
    }
    if (control_rundir_jobs(directory, sizeof directory, &error))
        return false;
    snprintf(path, sizeof path, "%s/adviser", directory);
    return read_address(path, address) || read_address("/etc/epop/adviser", address);
}

void beside_attend(const char *address_file)
{
    char address[ADDRESS_MAX], helper[PATH_MAX];
    pid_t pid;
    if (attendant.number || !*address_file || !slurm_job() || !find_address(address) ||
        helper_find("attend", helper, sizeof helper))
        return;
    char *argv[] = {helper, "link", address, (char *)address_file, NULL};
    struct spawn what = {.argv = argv, .in = SPAWN_NOTHING, .out = SPAWN_NOTHING, .err = STDERR_FILENO};
    if (!spawn_program(&what, &pid))
        attendant = proctree_id(pid);
}

static void *reap(void *argument)
{
    waitpid((pid_t)(long)argument, NULL, 0);
    return NULL;
}

/* What is started here ends at once, and leaves another process: a program that waits for all its children would
 * wait for it. */
void beside_gateway(const char *address_file, bool verbose)
{
    char helper[PATH_MAX];
    pid_t pid;
    if (!*address_file || helper_find("pmix-gateway", helper, sizeof helper))
        return;
    char *quiet[] = {helper, (char *)address_file, NULL}, *loud[] = {helper, "--verbose", (char *)address_file, NULL};
    struct spawn what = {.argv = verbose ? loud : quiet,
                         .in = SPAWN_NOTHING,
                         .out = SPAWN_NOTHING,
                         .err = verbose ? STDERR_FILENO : SPAWN_NOTHING,
                         .session = true};
    if (!spawn_program(&what, &pid))
        thread_start(NULL, reap, (void *)(long)pid);
}

void beside_end(void)
{
    if (!attendant.number)
        return;
    int ended = proctree_signal(&attendant, SIGKILL); /* a program may have waited for all children */
    while (waitpid(attendant.number, NULL, ended ? WNOHANG : 0) < 0 && errno == EINTR)
        ;
    attendant = (struct proc_id){0};
}

/* ---- Companions --------------------------------------------------------------------------------- */

int beside_companions_read(const char *option, struct beside_nodes *range, struct error *error)
{
    const char *text = option ? option : getenv("EPOP_ELASTIC");
    char more;
    *range = (struct beside_nodes){0};
    if (!text || !text[0])
        return 0;
    if (sscanf(text, "%d-%d%c", &range->min, &range->max, &more) == 2 && range->min >= 1 && range->max >= range->min)
        return 0;
    return error_set(error, ERROR_FAILED, "%s wants the fewest and the most nodes, as 1-4; not '%.40s'",
                     option ? "--elastic" : "EPOP_ELASTIC", text);
}

struct call {
    pid_t pid;
    struct relay relay; /* it does not have our output itself: who has that keeps Hydra from ending */
    struct call *next;
};

static const double patience = 5; /* seconds for the last call, and those that still run then */

static char present[256]; /* the job's name; "": it has not begun */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t over;
    struct call *first;
} calls = {.lock = PTHREAD_MUTEX_INITIALIZER, .over = PTHREAD_COND_INITIALIZER};

static void take_out(const struct call *call)
{
    struct call **link = &calls.first;
    while (*link != call)
        link = &(*link)->next;
    *link = call->next;
}

static void *attend(void *argument)
{
    struct call *call = argument;
    siginfo_t end;
    relay_run(&call->relay, call->pid);
    while (waitid(P_PID, (id_t)call->pid, &end, WEXITED | WNOWAIT) && errno == EINTR)
        ;
    pthread_mutex_lock(&calls.lock); /* its number is its own as long as it is in the list */
    waitpid(call->pid, NULL, 0);
    take_out(call);
    pthread_cond_broadcast(&calls.over);
    pthread_mutex_unlock(&calls.lock);
    free(call);
    return NULL;
}

/* In a session of its own, so that what ends the job does not end it half-way. */
static int start_call(char **argv, struct call *call)
{
    if (relay_open(&call->relay))
        return -1;
    const struct spawn what = {
        .argv = argv, .in = SPAWN_NOTHING, .out = SPAWN_NOTHING, .err = call->relay.err[1], .session = true};
    if (spawn_program(&what, &call->pid)) {
        relay_close(&call->relay);
        return -1;
    }
    relay_started(&call->relay);
    return 0;
}

static void call_companion(char *const *words)
{
    char helper[PATH_MAX];
    char *argv[8] = {helper};
    struct call *call = calloc(1, sizeof *call);
    for (int i = 0; words[i]; i++)
        argv[i + 1] = words[i];
    pthread_mutex_lock(&calls.lock);
    bool runs = call && !helper_find("companion", helper, sizeof helper) && !start_call(argv, call);
    if (runs) {
        call->next = calls.first;
        calls.first = call;
        if (thread_start(NULL, attend, call)) {
            kill(-call->pid, SIGKILL);
            waitpid(call->pid, NULL, 0);
            relay_close(&call->relay);
            take_out(call);
            runs = false;
        }
    }
    pthread_mutex_unlock(&calls.lock);
    if (runs)
        return;
    free(call);
    say_line("note: lib/epop/companion cannot be started; the job goes on as it is");
}

/* Until none runs any more. False: some do, after so long. */
static bool wait_for_calls(double seconds)
{
    const struct timespec until = clock_in(CLOCK_MONOTONIC, seconds);
    int late = 0;
    pthread_mutex_lock(&calls.lock);
    while (calls.first && !late)
        late = pthread_cond_clockwait(&calls.over, &calls.lock, CLOCK_MONOTONIC, &until);
    bool none = !calls.first;
    pthread_mutex_unlock(&calls.lock);
    return none;
}

static void signal_calls(int number)
{
    pthread_mutex_lock(&calls.lock);
    for (const struct call *one = calls.first; one; one = one->next)
        kill(-one->pid, number);
    pthread_mutex_unlock(&calls.lock);
}

/* ---- The calls ------------------------------------------------------------------------------ */

void beside_companions_begin(const struct beside_nodes *range, bool queue, const char *job, int ranks)
{
    const char *nodes = getenv("SLURM_JOB_NUM_NODES"), *more = getenv("EPOP_COMPANIONS");
    int own = nodes && atoi(nodes) > 0 ? atoi(nodes) : 1;
    char bounds[32], count[16], each[16];
    snprintf(present, sizeof present, "%s", job);
    if (!range->max)
        return;
    if (!slurm_job()) {
        say_line("note: there is nothing to be had by --elastic here: this job is not in Slurm");
        return;
    }
    snprintf(bounds, sizeof bounds, "%d-%d", range->min, range->max);
    call_companion((char *[]){"range", (char *)job, bounds, NULL});
    if (!(queue || (more && more[0])) || range->max <= own)
        return;
    snprintf(count, sizeof count, "%d", range->max - own);
    snprintf(each, sizeof each, "%d", ranks > own ? ranks / own : 1);
    call_companion((char *[]){"queue", (char *)job, count, each, NULL});
}

void beside_companion_lost(int number)
{
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    call_companion((char *[]){"lost", text, NULL});
}

/* Whatever still runs goes on for nothing. */
void beside_companions_drop(void)
{
    if (!slurm_job() || !present[0])
        return;
    signal_calls(SIGTERM);
    call_companion((char *[]){"drop", present, NULL});
    present[0] = '\0';
}

void beside_companions_end(void)
{
    beside_companions_drop();
    if (wait_for_calls(patience))
        return;
    signal_calls(SIGKILL);
    wait_for_calls(1);
}
