/*
 * Records of drivers: what this process hands over, and the thread in process 0 that has all of them collected and
 * written.
 */
#include "runtime/records/records.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/base/say.h"
#include "runtime/base/thread.h"
#include "runtime/control/control.h"
#include "runtime/member/member.h"
#include "runtime/records/store.h"
#include "runtime/wire/messages.h"

#define PART_MAX   (48u << 10) /* bytes of a record per message */
#define RECORD_MAX (64u << 20) /* bytes of a record; drivers are to stay far below it */

static struct {
    const struct records_user *user;
    pthread_mutex_t lock; /* between a text's making and its last part: they must arrive in this order */
    _Atomic bool written; /* process 0 has written what this process asked for */
} records = {.lock = PTHREAD_MUTEX_INITIALIZER};

void epop__records_use(const struct records_user *user)
{
    records.user = user->count ? user : NULL;
}

/* ---- The recorder: in process 0 ----------------------------------------------------------------- */

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

/* Is it in this process? Async-signal-safe, as recorder_fail and recorder_wait are. */
static bool recorder_runs(void)
{
    return atomic_load(&recorder.runs);
}

/* ---- What this process has found ---------------------------------------------------------------- */

/* The end of a part: not in the middle of a character. */
static size_t part_length(const char *text, size_t left)
{
    size_t length = left < PART_MAX ? left : PART_MAX;
    while (length < left && length > 1 && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    return length;
}

static void send_part(int which, bool last, int part, int parts, const char *text, size_t length)
{
    char *copy = strndup(text, length);
    cJSON *message = json_message(REPORT(record));
    cJSON_AddNumberToObject(message, "which", which);
    cJSON_AddBoolToObject(message, "last", last);
    cJSON_AddNumberToObject(message, "part", part);
    cJSON_AddNumberToObject(message, "parts", parts);
    cJSON_AddStringToObject(message, "text", copy ? copy : "");
    control_tell(message);
    cJSON_Delete(message);
    free(copy);
}

static void send_record(int which, bool last, const char *text)
{
    size_t length = strlen(text), at = 0;
    int parts = 0, part = 0;
    if (length > RECORD_MAX) {
        say_line("note: a driver's record of %zu bytes is too long and is left out", length);
        return;
    }
    for (size_t i = 0; i < length; i += part_length(text + i, length - i))
        parts++;
    for (; at < length; part++) {
        size_t some = part_length(text + at, length - at);
        send_part(which, last, part, parts, text + at, some);
        at += some;
    }
}

/* With the lock held. */
static void give_record(int which, bool last)
{
    char *text = records.user->record(which, last);
    if (text && recorder_runs()) {
        store_put(which, 0, last, text);
    } else if (text) {
        send_record(which, last, text);
        free(text);
    }
}

void epop__records_hand_over(void)
{
    if (!records.user)
        return;
    pthread_mutex_lock(&records.lock);
    for (int which = 0; which < records.user->count; which++)
        give_record(which, true);
    pthread_mutex_unlock(&records.lock);
}

/* Has this process's records by now handed over. False: they are being handed over, without an end. */
static bool records_give_present(int which)
{
    if (thread_lock_within(&records.lock, 1))
        return false; /* whoever holds it hands over the last records, which are better, or is dead */
    give_record(which, false);
    pthread_mutex_unlock(&records.lock);
    return true;
}

/* ---- The recorder: collecting ------------------------------------------------------------------- */

/* A process has answered the question of that round. */
static void recorder_answered(int round)
{
    pthread_mutex_lock(&recorder.lock);
    recorder.answers += round == recorder.round;
    pthread_cond_signal(&recorder.answered);
    pthread_mutex_unlock(&recorder.lock);
}

/* Asks all other processes; the number that can answer. */
static int ask_for_records(const bool *wanted)
{
    cJSON *message = json_message(ORDER(record));
    cJSON *which = cJSON_AddArrayToObject(message, "which");
    for (int i = 0; i < records.user->count; i++)
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
static void collect_records(const bool *wanted)
{
    int members = ask_for_records(wanted);
    for (int i = 0; i < records.user->count; i++)
        if (wanted[i])
            records_give_present(i);
    await_answers(members);
}

static void write_records(const bool *wanted, epop_job_end_t end, const char *reason)
{
    recorder.unwritten = false;
    for (int i = 0; i < records.user->count; i++) {
        if (!wanted[i])
            continue;
        epop_job_t job = recorder.job;
        job.now = wall_seconds();
        job.end = end;
        job.reason = reason;
        store_fill(i, &job);
        recorder.unwritten |= records.user->write(i, &job) != 0;
        store_release(&job);
    }
}

/* ---- The recorder: when it writes --------------------------------------------------------------- */

/* Checkpoints that are due; seconds until the next one. */
static double write_checkpoints(void)
{
    bool wanted[RECORDS_MAX] = {false}, any = false;
    double now = monotonic_seconds(), next = 3600;
    for (int i = 0; i < records.user->count; i++) {
        wanted[i] = recorder.due[i] > 0 && recorder.due[i] <= now;
        any |= wanted[i];
    }
    if (any) {
        collect_records(wanted);
        if (!recorder.fail && !recorder.finish)
            write_records(wanted, EPOP_JOB_RUNNING, NULL);
    }
    now = monotonic_seconds();
    for (int i = 0; i < records.user->count; i++) {
        if (wanted[i])
            recorder.due[i] = now + records.user->checkpoint(i);
        if (recorder.due[i] > 0 && recorder.due[i] - now < next)
            next = recorder.due[i] - now;
    }
    return next;
}

static void write_the_last(void)
{
    static const bool all[RECORDS_MAX] = {true, true, true, true, true, true, true, true};
    if (recorder.fail) {
        collect_records(all);
        write_records(all, EPOP_JOB_FAILED, recorder.reason);
    } else if (recorder.stopped_by) {
        write_records(all, EPOP_JOB_STOPPED, recorder.stopped_by);
    } else {
        write_records(all, EPOP_JOB_ENDED, NULL);
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
        struct timespec until = clock_in(CLOCK_MONOTONIC, write_checkpoints());
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

/* ---- The recorder: its begin and end ------------------------------------------------------------ */

/* Has it collect and write, once, marked with the reason. */
static void recorder_fail(const char *reason)
{
    static atomic_flag failed = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&failed))
        return; /* the first reason counts */
    strncpy(recorder.reason, reason, sizeof recorder.reason - 1);
    recorder.fail = true;
    sem_post(&recorder.wake);
}

/* Waits until that is done, 2 s at most. */
static void recorder_wait(void)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    for (int ms = 0; ms < FAIL_TIMEOUT_MS && !recorder.done; ms++)
        nanosleep(&pause, NULL);
}

void epop__records_begin(const struct records_job *job)
{
    const struct records_user *user = records.user;
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

/* ---- Messages ----------------------------------------------------------------------------------- */

void records_take_part(int process, const struct report_record *report)
{
    if (recorder_runs())
        store_part(report->which, process, report->last, report->part, report->parts, report->text);
}

void records_take_answer(int process, const struct report_recorded *report)
{
    (void)process;
    if (recorder_runs())
        recorder_answered(report->round);
}

void records_take_failure(int process, const struct report_write *report)
{
    (void)process;
    if (recorder_runs())
        recorder_fail(report->text);
}

void records_give(const struct order_record *order)
{
    if (!records.user)
        return;
    for (int i = 0; i < order->which.count; i++)
        if (order->which.items[i] < records.user->count)
            records_give_present(order->which.items[i]);
    cJSON *answer = json_message(REPORT(recorded));
    cJSON_AddNumberToObject(answer, "round", order->round);
    control_tell(answer);
    cJSON_Delete(answer);
}

void records_are_written(void)
{
    atomic_store(&records.written, true);
}

void records_note(const epop_adaptation_t *adaptation, const char *reason)
{
    if (recorder_runs())
        store_note(adaptation, reason);
}

void records_note_checkpoint(const epop_checkpoint_t *checkpoint)
{
    if (recorder_runs())
        store_note_checkpoint(checkpoint);
}

/* ---- Failures ----------------------------------------------------------------------------------- */

/* Has process 0 write. -1: it cannot be reached. */
static int ask_to_write(const char *reason)
{
    cJSON *message = json_message(REPORT(write));
    cJSON_AddStringToObject(message, "text", reason);
    int result = control_tell(message);
    cJSON_Delete(message);
    return result;
}

void epop__records_fail(const char *reason)
{
    if (!records.user)
        return;
    if (recorder_runs()) {
        recorder_fail(reason);
        recorder_wait();
    } else if (ask_to_write(reason) == 0) {
        const struct timespec pause = {.tv_nsec = 2000000};
        for (int waits = 0; waits < 1000 && !atomic_load(&records.written); waits++)
            nanosleep(&pause, NULL);
    }
}
