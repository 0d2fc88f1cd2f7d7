/* What this process tells the coordinator: requests, failures, breaches, that the program called exit(); and the time.
 */
#include "runtime/job/tell.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "interpose/interpose.h"
#include "runtime/base/child.h"
#include "runtime/base/ending.h"
#include "runtime/base/json.h"
#include "runtime/base/say.h"
#include "runtime/job/job.h"
#include "runtime/job/state.h"
#include "runtime/job/supervised.h"
#include "runtime/member/member.h"
#include "runtime/records/records.h"
#include "runtime/wire/messages.h"
#include "runtime/world/world.h"

#define FAIL_TIMEOUT 3 /* seconds */

int job_tell(void *context, const cJSON *message)
{
    (void)context;
    return plane_tell(&job.plane, message);
}

int job_request(const epop_request_t *request)
{
    cJSON *message = json_message(REPORT(request));
    if (request->size)
        cJSON_AddNumberToObject(message, "size", request->size);
    cJSON_AddNumberToObject(message, "world", job.member.plan ? job.member.plan->adaptation : 0);
    if (request->add_hosts)
        cJSON_AddStringToObject(message, "add_hosts", request->add_hosts);
    if (request->release_hosts)
        cJSON_AddStringToObject(message, "release_hosts", request->release_hosts);
    if (request->release_count)
        cJSON_AddItemToObject(message, "release_ranks",
                              cJSON_CreateIntArray(request->release_ranks, request->release_count));
    return member_request(&job.member, message) ? EPOP_ERR_SYSTEM : EPOP_OK;
}

int job_request_balance(void)
{
    cJSON *message = json_message(REPORT(request));
    cJSON_AddTrueToObject(message, "balance");
    cJSON_AddNumberToObject(message, "world", job.member.plan ? job.member.plan->adaptation : 0);
    return member_request(&job.member, message) ? EPOP_ERR_SYSTEM : EPOP_OK;
}

int job_request_checkpoint(void)
{
    cJSON *message = json_message(REPORT(request));
    cJSON_AddTrueToObject(message, "checkpoint");
    return member_request(&job.member, message) ? EPOP_ERR_SYSTEM : EPOP_OK;
}

int epop__job_clock(struct clock_reading *reading)
{
    *reading = (struct clock_reading){.same_clock = true, .same_host = true};
    return job.member.process == 0 ? 0 : clock_ask(job_tell, NULL, reading);
}

/* ---- Failing -------------------------------------------------------------------- */

/* Is this process joining, in a launch of its own, and not connected yet? Then its end only calls the joining off. */
static bool is_done_without(void)
{
    return world.backend && world.backend->connects != CONNECTS_ALWAYS && world.status == EPOP_JOINING &&
           !job.connected;
}

/* One that left: by the signal it would take its launch along. */
static void crash_alone(const char *text) __attribute__((noreturn));
static void crash_alone(const char *text)
{
    dprintf(STDERR_FILENO, "epop: %s\n", text);
    ending_write("note: that was a process that had left the job, which goes on");
    ending_quit(EXIT_SUCCESS);
}

/* Of a crash, on the thread that hands it over. */
int job_deliver_crash(const char *text, bool core)
{
    if (job.alone)
        crash_alone(text);
    cJSON *message = json_message(REPORT(crashed));
    cJSON_AddStringToObject(message, "text", text);
    cJSON_AddBoolToObject(message, "core", core);
    int result = plane_tell(&job.plane, message);
    cJSON_Delete(message);
    return result;
}

/* A program that calls MPI_Abort: the process manager then kills all at once. With code 0 it would take that for a good
 * end, and say nothing. */
int job_abort(MPI_Comm comm, int code)
{
    char text[100];
    snprintf(text, sizeof text, "rank %d called MPI_Abort with code %d", world.rank, code);
    if (!code && !is_done_without())
        epop__job_fail(text);
    epop__records_fail(text);
    if (!is_done_without() && !job.alone)
        supervised_fail(code ? code : EXIT_FAILURE, text);
    ending_flush();
    return MPI_Abort(comm, code ? code : EXIT_FAILURE);
}

static void tell_text(const char *op, const char *text)
{
    cJSON *message = json_message(op);
    cJSON_AddStringToObject(message, "text", text);
    plane_tell(&job.plane, message);
    cJSON_Delete(message);
}

void epop__job_fail(const char *text)
{
    tell_text(REPORT(failed), text);
    sleep(FAIL_TIMEOUT); /* the coordinator ends us all before this is over, unless it cannot be reached */
    ending_abort(text);
}

/* ---- Roll calls ------------------------------------------------------------------ */

void epop__job_call_rolls(const struct rollcall_options *options)
{
    job.rollcall = options;
}

void epop__job_rollcall(const struct claim *claim)
{
    if (job.member.tell)
        member_rollcall(&job.member, claim);
}

void epop__job_breach(const char *text)
{
    bool alone = !job.member.tell;
    if (alone)
        say_line("%s%s", job.rollcall->warns ? "warning: " : "", text);
    if (alone && !job.rollcall->warns) {
        fflush(NULL);
        ending_end(NULL, EXIT_FAILURE);
    }
    if (alone)
        return;
    if (!job.rollcall->warns)
        epop__job_fail(text);
    tell_text(REPORT(breach), text);
}

/* ---- A program that calls exit() in the midst of its job ---------------------------------------- */

#define STATUS_MAX 255

static const struct job_exits *exit_hooks;
static pid_t watched; /* the process whose ends these are */

/* A child that the program forked has these handlers too. */
static bool of_program(void)
{
    return getpid() == watched && !ending_here();
}

/* MPI gives up with an error code of its own, which is no status; in a call that the runtime made, too. What it has to
 * say it has said. A call of EPOP's own does not give up by exit(). */
static bool is_by_mpi(int status)
{
    int function = atomic_load_explicit(&interpose_present()->function, memory_order_relaxed);
    return (function && function <= INTERPOSE_OWN) || status > STATUS_MAX;
}

static void on_exit_called(int status, void *unused)
{
    (void)unused;
    if (of_program() && !is_by_mpi(status))
        exit_hooks->exits(status);
}

/* Not MPI's own way to give up, so it may be in MPI: in a handler of a signal. The process is ending, and nothing can
 * be done for it but to say so, and that it failed: Hydra may take a job whose processes end with 0 for done. */
static int quit_by(const char *call, int status)
{
    const char *text = of_program() && !is_done_without() ? exit_hooks->quits(call) : NULL;
    if (!text)
        return status;
    ending_write(text);
    supervised_fail(status ? status : EXIT_FAILURE, text);
    return status ? status : EXIT_FAILURE;
}

static int on_quit(int status)
{
    char call[32];
    snprintf(call, sizeof call, "_exit(%d)", status);
    return quit_by(call, status);
}

static void on_quick_exit(void)
{
    int status = quit_by("quick_exit", EXIT_SUCCESS);
    if (status)
        ending_quit(status);
}

void epop__job_watch_exit(const struct job_exits *exits)
{
    exit_hooks = exits;
    watched = getpid();
    on_exit(on_exit_called, NULL);
    at_quick_exit(on_quick_exit);
    interpose_life.exit = on_quit;
}

void epop__job_child_without(const int *fd)
{
    child_without(fd);
}

void epop__job_exits(const char *text)
{
    if (!is_done_without())
        epop__job_fail(text);
}
