/* The recorder's thread: see recorder.h. */
#include "runtime/records/recorder.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/base/thread.h"
#include "runtime/control/control.h"
#include "runtime/member/member.h"
#include "runtime/records/store.h"
#include "runtime/wire/messages.h"

#define COLLECT_WAITS   100  /* for all processes to answer, of 10 ms each */
#define FAIL_TIMEOUT_MS 2000 /* for collecting and writing */

static struct {
    _Atomic bool runs;
    _Atomic bool finish, fail, done; /* done: it has written for the last time */
    bool unwritten;                  /* or has tried to, and could not */
    const char *stopped_by;
    char reason[600];
    pthread_t thread;
    sem_t wake;
    epop_job_t job;
    double due[RECORDS_MAX]; /* the next checkpoint of each driver, monotonic; 0: never */

    pthread_mutex_t lock;
    pthread_cond_t answered;
    int round, answers;
} recorder = {.lock = PTHREAD_MUTEX_INITIALIZER, .answered = PTHREAD_COND_INITIALIZER};

/* ---- Collecting ---------------------------------------------------------------------------- */

void recorder_answered(int round)
{
    pthread_mutex_lock(&recorder.lock);
    recorder.answers += round == recorder.round;
    pthread_cond_signal(&recorder.answered);
    pthread_mutex_unlock(&recorder.lock);
}

/* Asks all other processes; the number that can answer. */
static int ask(const bool *wanted)
{
    cJSON *message = json_message(ORDER(record));
    cJSON *which = cJSON_AddArrayToObject(message, "which");
    for (int i = 0; i < records_user()->count; i++)
        if (wanted[i])
            cJSON_AddItemToArray(which, cJSON_CreateNumber(i));
    pthread_mutex_lock(&recorder.lock);
    recorder.answers = 0;
    cJSON_AddNumberToObject(message, "round", ++recorder.round);
    pthread_mutex_unlock(&recorder.lock);
    int members = control_members();
    if (members)
        control_send(CONTROL_ALL, message);
    cJSON_Delete(message);
    return members;
}

/* A second in short waits: after a moment in which the whole machine stood still, or its clock was set, there is still
 * time for answers that have arrived meanwhile. */
static void await_answers(int members)
{
    pthread_mutex_lock(&recorder.lock);
    for (int waits = 0; recorder.answers < members && waits < COLLECT_WAITS;) {
        struct timespec until = clock_in(CLOCK_MONOTONIC, 0.01);
        waits += pthread_cond_clockwait(&recorder.answered, &recorder.lock, CLOCK_MONOTONIC, &until) == ETIMEDOUT;
    }
    pthread_mutex_unlock(&recorder.lock);
}

/* What all processes have by now. Those that do not answer in time are left as they were known last. */
static void collect(const bool *wanted)
{
    int members = ask(wanted);
    for (int i = 0; i < records_user()->count; i++)
        if (wanted[i])
            records_give_present(i);
    await_answers(members);
}

static void write_all(const bool *wanted, epop_job_end_t end, const char *reason)
{
    recorder.unwritten = false;
    for (int i = 0; i < records_user()->count; i++) {
        if (!wanted[i])
            continue;
        epop_job_t job = recorder.job;
        job.now = wall_seconds();
        job.end = end;
        job.reason = reason;
        store_fill(i, &job);
        recorder.unwritten |= records_user()->write(i, &job) != 0;
        store_release(&job);
    }
}

/* ---- When ------------------------------------------------------------------------------------ */

/* Checkpoints that are due; seconds until the next one. */
static double checkpoint(void)
{
    bool wanted[RECORDS_MAX] = {false}, any = false;
    double now = monotonic_seconds(), next = 3600;
    for (int i = 0; i < records_user()->count; i++) {
        wanted[i] = recorder.due[i] > 0 && recorder.due[i] <= now;
        any |= wanted[i];
    }
    if (any) {
        collect(wanted);
        if (!recorder.fail && !recorder.finish)
            write_all(wanted, EPOP_JOB_RUNNING, NULL);
    }
    now = monotonic_seconds();
    for (int i = 0; i < records_user()->count; i++) {
        if (wanted[i])
            recorder.due[i] = now + records_user()->checkpoint(i);
        if (recorder.due[i] > 0 && recorder.due[i] - now < next)
            next = recorder.due[i] - now;
    }
    return next;
}

static void write_the_last(void)
{
    static const bool all[RECORDS_MAX] = {true, true, true, true, true, true, true, true};
    if (recorder.fail) {
        collect(all);
        write_all(all, EPOP_JOB_FAILED, recorder.reason);
    } else if (recorder.stopped_by) {
        write_all(all, EPOP_JOB_STOPPED, recorder.stopped_by);
    } else {
        write_all(all, EPOP_JOB_ENDED, NULL);
    }
}

static void tell_written(void)
{
    cJSON *message = json_message(ORDER(written));
    if (control_members())
        control_send(CONTROL_ALL, message);
    cJSON_Delete(message);
}

static void *recorder_main(void *unused)
{
    while (!recorder.fail && !recorder.finish) {
        struct timespec until = clock_in(CLOCK_MONOTONIC, checkpoint());
        while (!recorder.fail && !recorder.finish && sem_clockwait(&recorder.wake, CLOCK_MONOTONIC, &until) &&
               errno == EINTR)
            ;
    }
    write_the_last();
    recorder.done = true;
    if (recorder.fail)
        tell_written();
    return unused;
}

/* ---- From outside ------------------------------------------------------------------------------ */

bool recorder_runs(void)
{
    return atomic_load(&recorder.runs);
}

void recorder_fail(const char *reason)
{
    static atomic_flag failed = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&failed))
        return; /* the first reason counts */
    strncpy(recorder.reason, reason, sizeof recorder.reason - 1);
    recorder.fail = true;
    sem_post(&recorder.wake);
}

void recorder_wait(void)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    for (int ms = 0; ms < FAIL_TIMEOUT_MS && !recorder.done; ms++)
        nanosleep(&pause, NULL);
}

void epop__records_begin(const struct records_job *job)
{
    const struct records_user *user = records_user();
    if (!user)
        return;
    recorder.job = (epop_job_t){.id = strdup(job->id),
                                .path = strdup(job->path),
                                .backend = job->backend,
                                .size = job->size,
                                .quiet = user->quiet,
                                .started = wall_seconds()};
    for (int i = 0; i < user->count; i++) {
        double apart = user->checkpoint(i);
        recorder.due[i] = apart > 0 ? monotonic_seconds() + apart : 0;
    }
    sem_init(&recorder.wake, 0, 0);
    recorder.runs = recorder.job.id && recorder.job.path && !thread_start(&recorder.thread, recorder_main, NULL);
}

int epop__records_finish(const char *stopped_by)
{
    if (!recorder_runs())
        return 0;
    recorder.stopped_by = stopped_by;
    recorder.finish = true;
    sem_post(&recorder.wake);
    pthread_join(recorder.thread, NULL);
    recorder.runs = false;
    free((char *)recorder.job.id);
    free((char *)recorder.job.path);
    return recorder.unwritten ? -1 : 0;
}
