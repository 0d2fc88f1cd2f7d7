/* What this process tells the coordinator, and how it asks it: requests, failures, breaches, the time. See job.h. */
#include "runtime/job/tell.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/base/ending.h"
#include "runtime/base/json.h"
#include "runtime/base/say.h"
#include "runtime/job/exits.h"
#include "runtime/job/job.h"
#include "runtime/job/state.h"
#include "runtime/job/supervised.h"
#include "runtime/member/rollcall.h"
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
    if (!code && !job_does_without())
        epop__job_fail(text);
    epop__records_fail(text);
    if (!job_does_without() && !job.alone)
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
