/* Messages of processes: see arrivals.h. */
#include "runtime/coordinator/arrivals.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/binding.h"
#include "runtime/base/json.h"
#include "runtime/coordinator/adaptation.h"
#include "runtime/coordinator/agreement.h"
#include "runtime/coordinator/ahead.h"
#include "runtime/coordinator/behind.h"
#include "runtime/coordinator/checkpoint.h"
#include "runtime/coordinator/dump.h"
#include "runtime/coordinator/fatal.h"
#include "runtime/coordinator/measure.h"
#include "runtime/coordinator/position.h"
#include "runtime/coordinator/preconnect.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/progress.h"
#include "runtime/coordinator/releases.h"
#include "runtime/coordinator/resize.h"
#include "runtime/coordinator/rollcall.h"
#include "runtime/coordinator/sets.h"
#include "runtime/coordinator/settle.h"
#include "runtime/coordinator/silence.h"
#include "runtime/coordinator/state.h"
#include "runtime/coordinator/stuck.h"
#include "runtime/coordinator/survey.h"
#include "runtime/wire/messages.h"

/* All processes must run the same: a rank with another program would compute something else, unnoticed. A joiner that
 * was called off already is on its way out. */
static void check_identity(struct coordinator *c, struct process *p, const char *identity)
{
    char text[480];
    p->identified = identity;
    if (!identity || !c->processes.identity[0] || !strcmp(identity, c->processes.identity))
        return;
    if (p->state == PROCESS_RETURNING && c->config.backend->flags & BACKEND_ENDS)
        return;
    snprintf(text, sizeof text, "the process with pid %d on %s is not like the others: it has %s, they have %s", p->pid,
             p->host, identity, c->processes.identity);
    if (p->state == PROCESS_JOINING && adaptation_pending(c))
        adaptation_fail(c, text);
    else
        fatal(c, text);
}

static void on_hello(struct coordinator *c, int process, const cJSON *message)
{
    struct process *p = process_at(c, process);
    const char *host = json_text(message, "host"), *identity = json_text(message, "identity");
    const char *cores = json_text(message, "cores");
    snprintf(p->host, sizeof p->host, "%s", host ? host : "?");
    p->pid = json_int(message, "pid", 0);
    p->slurm_job = json_int(message, "slurm_job", 0);
    p->attached = true;
    measure_attached(c, process);
    p->bound = cores;
    if (cores)
        binding_parse(cores, &p->cores);
    if (process == 0)
        snprintf(c->processes.identity, sizeof c->processes.identity, "%s", identity ? identity : "");
    check_identity(c, p, identity);
    if (p->state == PROCESS_RETURNING) /* it came too late to hear that its joining is off */
        processes_send(c, process, json_message(MESSAGE_CALL_OFF));
    adaptation_start_joiners(c);
}

/* A block failed somewhere. The first text is the one that is printed. */
static void on_failed(struct coordinator *c, int process, const cJSON *message)
{
    (void)process;
    fatal(c, json_text(message, "text"));
}

/* As a block that failed; but a joiner with a launch of its own is missed like any that dies. A process that dumps its
 * memory first is waited for, though not for ever. */
static void on_crashed(struct coordinator *c, int process, const cJSON *message)
{
    const char *text = json_text(message, "text");
    enum process_state state = process_at(c, process)->state;
    bool joiner = c->config.backend->flags & BACKEND_ENDS && (state == PROCESS_JOINING || state == PROCESS_RETURNING);
    if (dump_is_on(c))
        return;
    if (!joiner && !json_true(message, "core")) {
        fatal_fault(c, text);
        return;
    }
    c->config.ops->say(c->config.context, text, !joiner);
    if (joiner)
        processes_send(c, process, json_message(MESSAGE_DUMP));
    else
        dump_begin(c, process);
}

/* It does not say which of the two has asked. */
static void on_pong(struct coordinator *c, int process, const cJSON *message)
{
    (void)message;
    agreement_pong(c, process);
    dump_pong(c, process);
}

/* That it has come is all it says. */
static void on_alive(struct coordinator *c, int process, const cJSON *message)
{
    (void)c;
    (void)process;
    (void)message;
}

static void on_progress(struct coordinator *c, int process, const cJSON *message)
{
    (void)process;
    progress_came(c, message);
    position_progress_came(c);
}

static void on_request(struct coordinator *c, int process, const cJSON *message)
{
    if (json_true(message, "checkpoint"))
        checkpoint_program(c);
    else
        resize_program(c, process, message);
    processes_send(c, process, json_message(MESSAGE_HEARD));
}

#define POSITION                                                                                                       \
    {"pc", cJSON_Number}, {"visit", cJSON_Number},                                                                     \
    {                                                                                                                  \
        "iteration", cJSON_Number                                                                                      \
    }

static const struct arrival {
    struct message_form form;
    void (*take)(struct coordinator *c, int process, const cJSON *message);
    bool waits; /* until it is known where rank 0 is */
} table[] = {
    {{MESSAGE_HELLO, {{0}}}, on_hello, false},
    {{MESSAGE_COUNT, {{"round", cJSON_Number}, {"count", cJSON_Number}}}, agreement_count, false},
    {{MESSAGE_ARRIVED, {{"count", cJSON_Number}, POSITION}}, agreement_arrived, false},
    {{MESSAGE_ENDED, {{0}}}, agreement_ended, false},
    {{MESSAGE_STRETCH,
      {{"adaptation", cJSON_Number}, {"probe", cJSON_Number}, {"what", cJSON_String}, {"done", cJSON_Array}}},
     settle_stretch,
     false},
    {{MESSAGE_MEET, {{"adaptation", cJSON_Number}}}, adaptation_meet, false},
    {{MESSAGE_UNSTARTED, {{"adaptation", cJSON_Number}, {"failure", cJSON_String}}}, adaptation_unstarted, false},
    {{MESSAGE_READY, {{"adaptation", cJSON_Number}}}, adaptation_ready, false},
    {{MESSAGE_WAITS, {{"round", cJSON_Number}, {"count", cJSON_Number}}}, stuck_answer, false},
    {{MESSAGE_PONG, {{0}}}, on_pong, false},
    {{MESSAGE_ALIVE, {{0}}}, on_alive, false},
    {{MESSAGE_LISTED, {{"adaptation", cJSON_Number}}}, ahead_listed, false},
    {{MESSAGE_AHEAD, {{"adaptation", cJSON_Number}}}, ahead_came, false},
    {{MESSAGE_LINKED, {{"adaptation", cJSON_Number}}}, preconnect_linked, false},
    {{MESSAGE_CONNECTED, {{"adaptation", cJSON_Number}}}, adaptation_connected, false},
    {{MESSAGE_GONE, {{0}}}, adaptation_gone, false},
    {{MESSAGE_HOSTS, {{0}}}, adaptation_hosts, false},
    {{MESSAGE_COMMITTED, {{"adaptation", cJSON_Number}}}, adaptation_through, false},
    {{MESSAGE_PARKED, {{"reusable", MESSAGE_BOOL}}}, adaptation_parked, false},
    {{MESSAGE_POSITION, {POSITION}}, position_came, false},
    {{MESSAGE_LOCATED, {{"round", cJSON_Number}, {"activity", cJSON_String}, POSITION}}, survey_came, false},
    {{MESSAGE_GAUGE, {{"round", cJSON_Number}, {"elements", cJSON_Array}}}, measure_came, false},
    {{MESSAGE_PROGRESS, {{"iteration", cJSON_Number}}}, on_progress, false},
    {{MESSAGE_CLAIM, {{"words", cJSON_String}, POSITION}}, rollcall_claim, false},
    {{MESSAGE_BREACH, {{"text", cJSON_String}}}, rollcall_breach, false},
    {{MESSAGE_FAILED, {{"text", cJSON_String}}}, on_failed, false},
    {{MESSAGE_CRASHED, {{"text", cJSON_String}}}, on_crashed, false},
    {{MESSAGE_REQUEST, {{0}}}, on_request, true},
    {{MESSAGE_SAVED, {{"number", cJSON_Number}}}, checkpoint_saved, false},
    {{MESSAGE_STORED, {{"number", cJSON_Number}}}, behind_stored, false},
    {{MESSAGE_KEPT, {{"number", cJSON_Number}}}, behind_kept, false},
    {{MESSAGE_ASK, {{"id", cJSON_Number}, {"about", cJSON_String}}}, sets_ask, false},
    {{MESSAGE_LEAVE, {{0}}}, releases_told, false},
};

static const struct arrival *find(const cJSON *message)
{
    return message_find(table, sizeof table / sizeof *table, sizeof *table, message);
}

/* At the end nobody is asked any more. */
bool arrivals_waits(const struct coordinator *c, const cJSON *message)
{
    const struct arrival *row = find(message);
    return row && row->waits && !c->ending.finished;
}

void arrivals_message(struct coordinator *c, int process, const cJSON *message)
{
    const struct arrival *row = find(message);
    struct error why = {0};
    bool known = process >= 0 && process < processes_count(c);
    if (known)
        silence_heard(process_at(c, process));
    if (row && known && message_fits(&row->form, message, &why)) {
        row->take(c, process, message);
        return;
    }
    if (!known)
        error_set(&why, ERROR_FAILED, "a message of process %d, which is none of the job's", process);
    else if (!row)
        message_unknown(message, &why);
    message_refuse(&why);
}
