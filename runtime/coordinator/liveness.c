/* Processes that are lost, those that do not answer, ranks that wait for each other, and the watchdog. */
#include "runtime/coordinator/liveness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/coordinator/adaptation.h"
#include "runtime/coordinator/agreement.h"
#include "runtime/coordinator/checkpoint.h"
#include "runtime/coordinator/debugging.h"
#include "runtime/coordinator/part.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/replies.h"
#include "runtime/coordinator/settle.h"
#include "runtime/coordinator/state.h"
#include "runtime/coordinator/stop.h"
#include "runtime/coordinator/survey.h"
#include "runtime/wire/messages.h"

/* ---- Processes that are lost --------------------------------------------------------------------- */

/* One that stood by. Has it been chosen, and not been woken yet? */
static void parked_is_gone(struct coordinator *c, int process)
{
    struct adaptation *a = adaptation_pending(c);
    processes_gone(c, process);
    for (int j = 0; a && a->state == ADAPTATION_PREPARING && !a->started && j < a->parked; j++)
        if (a->joiners[j] == process) {
            adaptation_fail(c, "a process that stood by, and was to join, is gone");
            return;
        }
}

/* The first process's Slurm job is the job's own, any other was lent. What is left of one may run on for nothing: its
 * host may have died, and be back. */
static void tell_of_companion(struct coordinator *c, int slurm_job)
{
    if (!slurm_job || slurm_job == process_at(c, 0)->slurm_job || !c->config.ops->lost_companion)
        return;
    for (int p = 0; p < c->processes.count; p++)
        if (process_at(c, p)->slurm_job == slurm_job && process_at(c, p)->state != PROCESS_GONE)
            return;
    c->config.ops->lost_companion(c->config.context, slurm_job);
}

/* A process is gone without a word. In one launch that is the process manager's business too, but it need not
 * notice (a stopped network, cleanup switched off), and the ranks that are left would hang. */
static void take_loss(struct coordinator *c, int process)
{
    struct process *p = process_at(c, process);
    struct adaptation *a = adaptation_pending(c);
    char text[200];
    bool own_launch = backend_ends(c->config.backend);
    if (dump_is_of(c, process))
        fatal_fault(c, process, NULL);
    if (own_launch && p->state == PROCESS_RETURNING)
        processes_gone(c, process);
    if (own_launch && p->state == PROCESS_LEAVING && p->through) /* given up, as it did not answer */
        processes_gone(c, process);
    if (own_launch && p->state == PROCESS_STANDBY)
        parked_is_gone(c, process);
    if (c->ending.finished || p->state == PROCESS_LOST || (own_launch && p->state == PROCESS_GONE))
        return;
    bool opened = adaptation_is(c, ADAPTATION_WINDOW), merges = a && a->preconnect == PRECONNECT_MERGES;
    bool can_do_without =
        !(opened || merges) || (opened && a->connected == 0 && c->config.backend->connects == CONNECTS_IN_TIME);
    if (p->state == PROCESS_JOINING && own_launch && a && can_do_without) {
        snprintf(text, sizeof text, "a joining process (pid %d on %s) is gone", p->pid, p->host);
        processes_gone(c, process);
        if (opened)
            adaptation_end_joiners(c); /* the old ranks' connect then fails, and they go on */
        else
            adaptation_fail(c, text);
        return;
    }
    process_become(p, PROCESS_LOST);
    snprintf(text, sizeof text, "process %d (rank %d, pid %d on %s) is gone; the job cannot go on without it", process,
             p->rank, p->pid, p->host);
    fatal_fault(c, process, text);
}

void losses_take(struct coordinator *c, int process)
{
    take_loss(c, process);
    tell_of_companion(c, process_at(c, process)->slurm_job);
}

/* ---- Where the ranks run ------------------------------------------------------------------------- */

static void told_hosts_advance(struct coordinator *c)
{
    struct told_hosts *told = &c->told_hosts;
    if (!c->config.ops->hosts || (told->is && told->world_id == c->processes.world_id) || !processes_all_attached(c))
        return;
    char *hosts = processes_hosts(c);
    if (hosts)
        c->config.ops->hosts(c->config.context, hosts);
    free(hosts);
    *told = (struct told_hosts){.is = true, .world_id = c->processes.world_id};
}

/* ---- Processes that do not answer ---------------------------------------------------------------- */

#define QUESTIONS 20 /* in the time that an answer may take */
#define HURRY     14 /* as many will do where the job is to end */

static int questions(const struct coordinator *c)
{
    return c->stop.asked ? HURRY : QUESTIONS;
}

double silence_limit(const struct coordinator *c)
{
    return c->config.freeze_timeout * questions(c) / QUESTIONS;
}

static bool in_window(const struct process *p)
{
    return !p->through && (p->rank >= 0 || p->state == PROCESS_JOINING || p->state == PROCESS_LEAVING);
}

static bool is_awaited(const struct coordinator *c, const struct process *p)
{
    if (!p->attached || p->state == PROCESS_GONE || p->state == PROCESS_LOST || c->ending.finished)
        return false;
    if (adaptation_is(c, ADAPTATION_WINDOW))
        return in_window(p);
    if (preconnect_goes_on(c))
        return p->rank >= 0 || p->state == PROCESS_JOINING;
    if (p->rank < 0 || p->ended)
        return false;
    if (agreement_waits(c))
        return settle_awaits(c, p);
    return c->agreement.state == AGREEMENT_TARGET ? !p->arrived : c->stop.sent;
}

void silence_heard(struct process *p)
{
    p->unanswered = 0;
}

static bool is_asked(const struct process *p)
{
    return p->unanswered == 1;
}

/* Those who owe no answer yet. False if nobody is waited for. */
static bool silence_ask(struct coordinator *c)
{
    bool any = false;
    for (int i = 0; i < c->processes.count; i++) {
        struct process *p = process_at(c, i);
        bool awaited = is_awaited(c, p);
        any |= awaited;
        p->unanswered = awaited ? p->unanswered + 1 : 0;
    }
    processes_send_where(c, is_asked, json_message(ORDER(alive)));
    return any;
}

bool silence_describe(const struct coordinator *c, char *text, size_t size)
{
    int silent = 0;
    while (silent < c->processes.count && process_at(c, silent)->unanswered <= questions(c))
        silent++;
    if (silent == c->processes.count)
        return false;
    const struct process *p = process_at(c, silent);
    char name[32] = "a joining process";
    if (p->rank >= 0)
        snprintf(name, sizeof name, "rank %d", p->rank);
    snprintf(text, size, "%s (pid %d on %s) did not answer within %g s", name, p->pid, p->host, silence_limit(c));
    return true;
}

/* It cannot be called off any more: who waits for it hears that, and the ranks go on when that process does. */
static void silence_tell_requester(struct coordinator *c, const char *text)
{
    char line[320];
    const struct adaptation *a = adaptation_pending(c);
    adaptation_tell_requester(c, text);
    if (pause_is_wanted(c))
        pause_end(c, "timeout", text);
    if (c->silence.said)
        return;
    c->silence.said = true;
    snprintf(line, sizeof line, "%s; adaptation %d (%d -> %d) waits for it, and epopctl stop ends the job", text, a->id,
             a->from, a->to);
    c->config.ops->say(c->config.context, line, false);
}

static void silence_give_up(struct coordinator *c, const char *text)
{
    bool window = adaptation_is(c, ADAPTATION_WINDOW), connects = preconnect_goes_on(c);
    if (window && adaptation_without_leavers(c))
        return;
    if (c->stop.asked)
        stop_cannot_be(c, text);
    else if (window || (connects && adaptation_pending(c)->joining))
        silence_tell_requester(c, text);
    else if (connects)
        adaptation_drop(c, ADAPTATION_FAILED, "timeout", text);
    else
        agreement_give_up(c, text);
}

static void silence_look(void *context)
{
    struct coordinator *c = context;
    char text[200];
    if (silence_ask(c))
        timers_set(&c->timers, &c->silence.question, c->config.freeze_timeout / QUESTIONS);
    if (silence_describe(c, text, sizeof text))
        silence_give_up(c, text);
    else
        c->silence.said = false;
}

/* Begins to ask, if somebody is waited for by now. */
static void silence_advance(struct coordinator *c)
{
    bool any = false;
    for (int i = 0; !c->silence.question.set && !any && i < c->processes.count; i++)
        any = is_awaited(c, process_at(c, i));
    if (any)
        timers_set(&c->timers, &c->silence.question, c->config.freeze_timeout / QUESTIONS);
}

static void silence_init(struct coordinator *c)
{
    timer_init(&c->silence.question, silence_look, c, &c->limits);
}

/* ---- Ranks that wait for each other -------------------------------------------------------------- */

#define PERIOD   0.2 /* seconds between two looks */
#define PATIENCE 1.5 /* seconds; what is on its way between two that wait has arrived by then */
#define LISTED   4   /* ranks */

/* While joining processes are prepared, MPI may be busy with that. */
static bool is_looked_at(const struct coordinator *c)
{
    return c->agreement.state == AGREEMENT_TARGET && !preconnect_goes_on(c) && !adaptation_is(c, ADAPTATION_PREPARING);
}

static bool is_missed(const struct process *p)
{
    return !p->arrived && !p->ended;
}

static int count_missed(const struct coordinator *c)
{
    int missed = 0;
    for (int r = 0; r < c->processes.size; r++)
        missed += is_missed(process_of_rank(c, r));
    return missed;
}

static int count_held(const struct coordinator *c)
{
    int held = 0;
    for (int r = 0; r < c->processes.size; r++)
        held += process_of_rank(c, r)->arrived;
    return held;
}

static bool some_hold_for_others(const struct coordinator *c)
{
    return is_looked_at(c) && count_held(c) && count_missed(c);
}

static bool all_wait(const struct coordinator *c)
{
    for (int r = 0; r < c->processes.size; r++) {
        const struct process *p = process_of_rank(c, r);
        if (is_missed(p) && (p->waiting.round != c->stuck.round || p->waiting.seconds < PATIENCE))
            return false;
    }
    return true;
}

/* ---- What is said -------------------------------------------------------------------------------- */

/* "rank 1 (1040 probes), rank 3 (1041 probes)" */
static void stuck_list(const struct coordinator *c, bool missed, char *text, size_t size)
{
    size_t used = 0;
    int listed = 0, all = missed ? count_missed(c) : count_held(c);
    text[0] = 0;
    for (int r = 0; r < c->processes.size && listed < LISTED && used < size; r++) {
        const struct process *p = process_of_rank(c, r);
        if (missed ? !is_missed(p) : !p->arrived)
            continue;
        unsigned long long count = missed ? p->waiting.count : p->count;
        const char *in = missed && p->waiting.function[0] ? p->waiting.function : NULL;
        used += (size_t)snprintf(text + used, size - used, "%srank %d (%llu probes%s%s)", listed++ ? ", " : "", r,
                                 count, in ? ", in " : "", in ? in : "");
    }
    if (listed < all && used < size)
        snprintf(text + used, size - used, " and %d more", all - listed);
}

static void stuck_call_off(struct coordinator *c)
{
    char held[200], missed[300], text[700];
    stuck_list(c, false, held, sizeof held);
    stuck_list(c, true, missed, sizeof missed);
    snprintf(
        text, sizeof text,
        "the ranks do not probe equally often: %s hold%s, and %s wait%s in MPI for that; probe by iterations, which "
        "all ranks make alike, and not by time",
        held, count_held(c) == 1 ? "s" : "", missed, count_missed(c) == 1 ? "s" : "");
    agreement_call_off(c, text);
}

/* ---- Looking ------------------------------------------------------------------------------------- */

static bool is_missed_rank(const struct process *p)
{
    return p->rank >= 0 && is_missed(p);
}

static void stuck_ask(struct coordinator *c)
{
    cJSON *message = json_message(ORDER(waits));
    cJSON_AddNumberToObject(message, "round", ++c->stuck.round);
    processes_send_where(c, is_missed_rank, message);
}

static void stuck_look(void *context)
{
    struct coordinator *c = context;
    if (!some_hold_for_others(c))
        return;
    if (!all_wait(c)) {
        stuck_ask(c);
        timers_set(&c->timers, &c->stuck.look, PERIOD);
    } else if (settle_correct(c)) {
        agreement_again(c);
    } else {
        stuck_call_off(c);
    }
}

void stuck_answer(struct coordinator *c, int process, const struct report_waits *report)
{
    struct waiting *w = &process_at(c, process)->waiting;
    w->round = report->round;
    w->seconds = report->seconds;
    w->count = (uint64_t)report->count;
    snprintf(w->function, sizeof w->function, "%s", report->mpi ? report->mpi : "");
}

/* Begins to look, if there is reason to. */
static void stuck_advance(struct coordinator *c)
{
    if (c->stuck.look.set || !some_hold_for_others(c))
        return;
    c->stuck.round++; /* what was answered to another target says nothing */
    timers_set(&c->timers, &c->stuck.look, PERIOD);
}

static void stuck_init(struct coordinator *c)
{
    timer_init(&c->stuck.look, stuck_look, c, &c->limits);
}

/* ---- The watchdog -------------------------------------------------------------------------------- */

#define LOOKS        4  /* while it would have to say something */
#define LONGEST_WAIT 10 /* seconds between two looks */

static double watchdog_period(const struct coordinator *c)
{
    double wait = c->config.watchdog / LOOKS;
    return wait < LONGEST_WAIT ? wait : LONGEST_WAIT;
}

/* Is there a reason why nothing moves? */
static bool watchdog_is_excused(const struct coordinator *c)
{
    bool other_world = c->watchdog.world_id != c->processes.world_id;
    return !c->watchdog.moved || c->pause.on || checkpoint_is_on(c) || behind_is_awaited(c) || halts_are_on(c) ||
           adaptation_is(c, ADAPTATION_WINDOW) || other_world || job_state(c) == JOB_IS_STARTING;
}

static void note_moved(struct coordinator *c)
{
    c->watchdog.moved = monotonic_seconds();
    c->watchdog.world_id = c->processes.world_id;
    c->watchdog.stalled = false;
}

/* Has any rank moved since the last look? Notes where they are now. */
static bool any_moved(struct coordinator *c)
{
    bool moved = false;
    for (int r = 0; r < c->processes.size; r++) {
        struct process *p = process_of_rank(c, r);
        const struct report_located *place = p->survey_answer.is;
        if (!place)
            continue;
        const struct position at = POSITION_OF(place);
        moved |= at.visit != p->seen_visit || at.iteration != p->seen_iteration;
        p->seen_visit = at.visit;
        p->seen_iteration = at.iteration;
    }
    return moved;
}

/* ---- What it says -------------------------------------------------------------------------------- */

#define ROW_MAX 256

/* "  2     exchange  417        12 s  MPI_Recv          12 s  node3 pid 4711" */
static void watchdog_row(char text[ROW_MAX], const cJSON *process)
{
    const cJSON *element = cJSON_GetObjectItemCaseSensitive(process, "element");
    const char *mpi = json_text(process, "mpi"), *name = json_text(element, "name"), *host = json_text(process, "host");
    char rank[16] = "-", iteration[32] = "-", here[32] = "-", call[32] = "-";
    if (json_int(process, "rank", -1) >= 0)
        snprintf(rank, sizeof rank, "%d", json_int(process, "rank", 0));
    if (cJSON_IsObject(element))
        snprintf(iteration, sizeof iteration, "%lld", (long long)json_int64(element, "iteration", 0));
    if (cJSON_HasObjectItem(process, "seconds"))
        snprintf(here, sizeof here, "%.0f s", json_number(process, "seconds", 0));
    if (mpi)
        snprintf(call, sizeof call, "%.0f s", json_number(process, "mpi_seconds", 0));
    snprintf(text, ROW_MAX, "\n  %-5s %-10s %-16.40s %-10s %-8s %-20s %-8s %.60s, pid %d", rank,
             json_text(process, "activity"), name ? name : "-", iteration, here, mpi ? mpi : "-", call,
             host ? host : "?", json_int(process, "pid", 0));
}

static void say_stalled(struct coordinator *c)
{
    char line[ROW_MAX];
    cJSON *json = survey_json(c), *process, *list = cJSON_GetObjectItemCaseSensitive(json, "processes");
    size_t size = (size_t)(cJSON_GetArraySize(list) + 2) * ROW_MAX;
    char *text = calloc(1, size);
    if (text) {
        snprintf(text, size, "watchdog: no rank has come to its next iteration for %.0f s; where they are:",
                 monotonic_seconds() - c->watchdog.moved);
        snprintf(line, sizeof line, "\n  %-5s %-10s %-16s %-10s %-8s %-20s %-8s %s", "RANK", "STATE", "PHASE",
                 "ITERATION", "FOR", "IN MPI", "FOR", "HOST");
        strncat(text, line, size - strlen(text) - 1);
        cJSON_ArrayForEach(process, list)
        {
            watchdog_row(line, process);
            strncat(text, line, size - strlen(text) - 1);
        }
        c->config.ops->say(c->config.context, text, false);
    }
    free(text);
    cJSON_Delete(json);
}

static void say_moves(struct coordinator *c)
{
    char text[120];
    snprintf(text, sizeof text, "watchdog: the ranks go on, after %.0f s", monotonic_seconds() - c->watchdog.moved);
    c->config.ops->say(c->config.context, text, false);
}

static void stalled(struct coordinator *c)
{
    c->watchdog.stalled = true;
    say_stalled(c);
    if (c->config.watchdog_abort)
        fatal(c, "watchdog: the job is ended, as --watchdog-abort wants it");
}

static void watchdog_surveyed(struct coordinator *c)
{
    if (c->ending.finished)
        return;
    bool moved = any_moved(c);
    if (moved && c->watchdog.stalled)
        say_moves(c);
    if (moved || watchdog_is_excused(c)) {
        note_moved(c);
    } else if (!c->watchdog.stalled && monotonic_seconds() >= c->watchdog.moved + c->config.watchdog) {
        stalled(c);
    }
}

static void watchdog_look(void *context)
{
    struct coordinator *c = context;
    timers_set(&c->timers, &c->watchdog.look, watchdog_period(c));
    if (watchdog_is_excused(c))
        note_moved(c);
    else
        survey_begin(c);
}

/* It looks by itself from then on, where the job has one, by surveys (survey.h). */
static void watchdog_init(struct coordinator *c)
{
    timer_init(&c->watchdog.look, watchdog_look, c, NULL);
    if (!c->config.watchdog)
        return;
    survey_tell(c, watchdog_surveyed);
    timers_set(&c->timers, &c->watchdog.look, 0);
}

/* ---- As a part of the coordinator ---------------------------------------------------------------- */

static void liveness_init(struct coordinator *c)
{
    silence_init(c);
    stuck_init(c);
    watchdog_init(c);
}

static bool liveness_advance(struct coordinator *c)
{
    told_hosts_advance(c);
    silence_advance(c);
    stuck_advance(c);
    return true;
}

const struct part liveness_part = {.init = liveness_init, .advance = liveness_advance};
