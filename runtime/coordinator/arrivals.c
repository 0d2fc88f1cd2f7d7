/* What the job's processes say. */
#include "runtime/coordinator/arrivals.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/binding.h"
#include "runtime/base/host.h"
#include "runtime/base/json.h"
#include "runtime/base/proctree.h"
#include "runtime/coordinator/adaptation.h"
#include "runtime/coordinator/agreement.h"
#include "runtime/coordinator/balance.h"
#include "runtime/coordinator/checkpoint.h"
#include "runtime/coordinator/debugging.h"
#include "runtime/coordinator/inquiries.h"
#include "runtime/coordinator/liveness.h"
#include "runtime/coordinator/measure.h"
#include "runtime/coordinator/position.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/progress.h"
#include "runtime/coordinator/releases.h"
#include "runtime/coordinator/replies.h"
#include "runtime/coordinator/resize.h"
#include "runtime/coordinator/sets.h"
#include "runtime/coordinator/settle.h"
#include "runtime/coordinator/state.h"
#include "runtime/coordinator/survey.h"
#include "runtime/wire/messages.h"
#include "runtime/wire/socket.h"

/* ---- What processes say -------------------------------------------------------------------------- */

/* All processes must run the same: a rank with another program would compute something else, unnoticed. A joiner that
 * was called off already is on its way out. */
static void check_identity(struct coordinator *c, struct process *p, const char *identity)
{
    char text[480];
    p->identified = identity;
    if (!identity || !c->processes.identity[0] || !strcmp(identity, c->processes.identity))
        return;
    if (p->state == PROCESS_RETURNING && backend_ends(c->config.backend))
        return;
    snprintf(text, sizeof text, "the process with pid %d on %s is not like the others: it has %s, they have %s", p->pid,
             p->host, identity, c->processes.identity);
    if (p->state == PROCESS_JOINING && adaptation_pending(c))
        adaptation_fail(c, text);
    else
        fatal(c, text);
}

/* It has just said so. */
static struct proc_id find_here(const struct report_hello *report)
{
    char own[HOST_OWN_MAX];
    wire_host(own, sizeof own);
    return report->host && !strcmp(report->host, own) ? proctree_id(report->pid) : (struct proc_id){0};
}

static void on_ask(struct coordinator *c, int process, const struct report_ask *report)
{
    if (strcmp(report->about, "data"))
        sets_ask(c, process, report);
    else
        inquiries_tell(c, process, report->id, adaptation_described(c));
}

static void on_hello(struct coordinator *c, int process, const struct report_hello *report)
{
    struct process *p = process_at(c, process);
    snprintf(p->host, sizeof p->host, "%s", report->host ? report->host : "?");
    p->pid = report->pid;
    p->here = find_here(report);
    p->slurm_job = report->slurm_job;
    p->attached = true;
    measure_attached(c, process);
    p->bound = report->cores;
    if (report->cores)
        binding_parse(report->cores, &p->cores);
    if (process == 0)
        snprintf(c->processes.identity, sizeof c->processes.identity, "%s", report->identity ? report->identity : "");
    check_identity(c, p, report->identity);
    if (p->state == PROCESS_RETURNING) /* it came too late to hear that its joining is off */
        processes_send(c, process, json_message(ORDER(call_off)));
    adaptation_start_joiners(c);
}

/* A block failed somewhere. The first text is the one that is printed. */
static void on_failed(struct coordinator *c, int process, const struct report_failed *report)
{
    (void)process;
    fatal(c, report->text);
}

/* As a block that failed; but a joiner with a launch of its own is missed like any that dies. A process that dumps its
 * memory first is waited for, though not for ever. */
static void on_crashed(struct coordinator *c, int process, const struct report_crashed *report)
{
    const char *text = report->text;
    enum process_state state = process_at(c, process)->state;
    bool joiner = backend_ends(c->config.backend) && (state == PROCESS_JOINING || state == PROCESS_RETURNING);
    if (dump_is_on(c))
        return;
    if (!joiner && !report->core) {
        fatal_fault(c, process, text);
        return;
    }
    c->config.ops->say(c->config.context, text, !joiner);
    if (joiner)
        processes_send(c, process, json_message(ORDER(dump)));
    else
        dump_begin(c, process);
}

/* It does not say which of the two has asked. */
static void on_pong(struct coordinator *c, int process)
{
    agreement_pong(c, process);
    dump_pong(c, process);
}

/* That it has come is all it says. */
static void on_alive(struct coordinator *c, int process)
{
    (void)c;
    (void)process;
}

static void on_position(struct coordinator *c, int process, const struct report_position *report)
{
    speeds_take(&c->speeds, report->tally);
    position_came(c, process, report);
}

static void on_progress(struct coordinator *c, int process, const struct report_progress *report)
{
    (void)process;
    progress_came(c, &POSITION_OF(report), report->bound, 0);
    progress_mpi(c, report->mpi_seconds, report->clock);
    position_progress_came(c);
}

static void on_request(struct coordinator *c, int process, const struct report_request *report)
{
    if (report->checkpoint)
        checkpoint_program(c);
    else if (report->balance)
        balance_from_program(c, process, report);
    else
        resize_from_program(c, process, report);
    processes_send(c, process, json_message(ORDER(heard)));
}

/* ---- The table ----------------------------------------------------------------------------------- */

/* Hands what was decoded to who takes it; BARE: there is nothing in it. */
#define TAKES_REPORT(name, function)                                                                                   \
    static void take_##name(struct coordinator *c, int process, const void *report)                                    \
    {                                                                                                                  \
        function(c, process, (const struct report_##name *)report);                                                    \
    }
#define TAKES_BARE(name, function)                                                                                     \
    static void take_##name(struct coordinator *c, int process, const void *report)                                    \
    {                                                                                                                  \
        (void)report;                                                                                                  \
        function(c, process);                                                                                          \
    }
TAKES_REPORT(hello, on_hello)
TAKES_REPORT(count, agreement_count)
TAKES_REPORT(arrived, agreement_arrived)
TAKES_BARE(ended, agreement_ended)
TAKES_REPORT(stretch, settle_stretch)
TAKES_REPORT(meet, adaptation_meet)
TAKES_REPORT(unstarted, adaptation_unstarted)
TAKES_REPORT(ready, adaptation_ready)
TAKES_REPORT(waits, stuck_answer)
TAKES_BARE(pong, on_pong)
TAKES_BARE(alive, on_alive)
TAKES_REPORT(listed, ahead_listed)
TAKES_REPORT(ahead, ahead_came)
TAKES_REPORT(linked, preconnect_linked)
TAKES_REPORT(connected, adaptation_connected)
TAKES_BARE(gone, adaptation_gone)
TAKES_BARE(hosts, adaptation_hosts)
TAKES_REPORT(committed, adaptation_through)
TAKES_REPORT(parked, adaptation_parked)
TAKES_REPORT(position, on_position)
TAKES_REPORT(located, survey_came)
TAKES_REPORT(gauge, measure_came)
TAKES_REPORT(progress, on_progress)
TAKES_REPORT(claim, rollcall_claim)
TAKES_REPORT(breach, rollcall_breach)
TAKES_REPORT(failed, on_failed)
TAKES_REPORT(crashed, on_crashed)
TAKES_REPORT(request, on_request)
TAKES_REPORT(saved, checkpoint_saved)
TAKES_REPORT(stored, behind_stored)
TAKES_REPORT(kept, behind_kept)
TAKES_REPORT(ask, on_ask)
TAKES_REPORT(describes, adaptation_describes)
TAKES_BARE(leave, releases_told)

typedef void (*taker)(struct coordinator *c, int process, const void *report);

static const taker table[MESSAGE_IDS] = {
    [report_hello_id] = take_hello,         [report_count_id] = take_count,
    [report_arrived_id] = take_arrived,     [report_ended_id] = take_ended,
    [report_stretch_id] = take_stretch,     [report_meet_id] = take_meet,
    [report_unstarted_id] = take_unstarted, [report_ready_id] = take_ready,
    [report_waits_id] = take_waits,         [report_pong_id] = take_pong,
    [report_alive_id] = take_alive,         [report_listed_id] = take_listed,
    [report_ahead_id] = take_ahead,         [report_linked_id] = take_linked,
    [report_connected_id] = take_connected, [report_gone_id] = take_gone,
    [report_hosts_id] = take_hosts,         [report_committed_id] = take_committed,
    [report_parked_id] = take_parked,       [report_position_id] = take_position,
    [report_located_id] = take_located,     [report_gauge_id] = take_gauge,
    [report_progress_id] = take_progress,   [report_claim_id] = take_claim,
    [report_breach_id] = take_breach,       [report_failed_id] = take_failed,
    [report_crashed_id] = take_crashed,     [report_request_id] = take_request,
    [report_saved_id] = take_saved,         [report_stored_id] = take_stored,
    [report_kept_id] = take_kept,           [report_ask_id] = take_ask,
    [report_leave_id] = take_leave,         [report_describes_id] = take_describes,
};

/* One that asks for a size waits until it is known where rank 0 is. At the end nobody is asked any more. */
bool arrivals_waits(const struct coordinator *c, const cJSON *message)
{
    return message_named(KIND_REPORT, message) == report_request_id && !c->ending.finished;
}

/* Who asks waits for an answer. */
static void arrivals_refuse(struct coordinator *c, int process, const struct message *message, const cJSON *json,
                            const struct error *why)
{
    int id = json_int(json, "id", 0);
    message_refuse(why);
    if (message->id == report_ask_id && id > 0)
        inquiries_tell(c, process, id, inquiry_no(why->text));
}

/* message: what was decoded; why: why it was not. */
static void take_of(struct coordinator *c, int process, const struct message *message, const cJSON *json,
                    const struct error *why)
{
    struct error none;
    if (process < 0 || process >= processes_count(c)) {
        error_set(&none, ERROR_FAILED, "a message of process %d, which is none of the job's", process);
        message_refuse(&none);
        return;
    }
    silence_heard(process_at(c, process));
    if (message->is && table[message->id])
        table[message->id](c, process, message->is);
    else
        arrivals_refuse(c, process, message, json, why);
}

void arrivals_message(struct coordinator *c, const int *processes, int count, const cJSON *json)
{
    struct message message = {.id = MESSAGE_NONE};
    struct error why = {0};
    message_decode(&message, KIND_REPORT, json, &why);
    for (int i = 0; i < count; i++)
        take_of(c, processes[i], &message, json, &why);
    message_free(&message);
}
