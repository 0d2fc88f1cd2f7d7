/* Questions about resource changes: see sets_changes.h. */
#include "runtime/coordinator/sets_changes.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/json.h"
#include "runtime/coordinator/adaptation.h"
#include "runtime/coordinator/changes.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/resize.h"
#include "runtime/coordinator/sets_names.h"
#include "runtime/coordinator/state.h"

static bool is_open(const struct change *change)
{
    return change->state == CHANGE_ANNOUNCED || change->state == CHANGE_PENDING;
}

static void add_name(cJSON *json, const char *key, const struct pset *set)
{
    if (set)
        cJSON_AddStringToObject(json, key, set->name);
}

/* ---- Is there one? ------------------------------------------------------------------- */

struct search {
    const struct pset *wanted;
    bool found;
};

static void compare(void *context, struct pset *set)
{
    struct search *search = context;
    search->found |= set == search->wanted;
}

/* Definitions 2 and 3: for additions the malleable sets, for subtractions those that are reference counted. */
static bool targets(struct coordinator *c, const struct pset *set)
{
    const struct change *now = &c->changes.now;
    struct search search = {set, false};
    if (now->taken)
        psets_reference_counted(&c->changes.sets, c->changes.app, now->taken, compare, &search);
    else
        psets_malleable(&c->changes.sets, c->changes.app, compare, &search);
    return search.found;
}

static bool concerns(struct coordinator *c, const struct inquiry *inquiry)
{
    const struct change *now = &c->changes.now;
    const char *bound = inquiry->asked.bound;
    struct error why;
    if (now->added && pset_has(now->added, inquiry->process))
        return true;
    if (!bound)
        return !now->bound;
    const struct pset *set = sets_named(c, inquiry, bound, &why);
    if (set && !strncmp(set->name, PSETS_SELF, strlen(PSETS_SELF)))
        return now->taken && pset_has(now->taken, inquiry->process);
    if (set && set == now->of) /* though what comes of it may be a larger set by now */
        return true;
    return set && (now->bound ? set == now->bound : targets(c, set) || !strcmp(set->name, PSETS_WORLD));
}

/* Those that come may still fail to: of a change by the successor's calls the program hears when they are ready. */
static bool is_unready(const struct coordinator *c)
{
    const struct change *now = &c->changes.now;
    return is_open(now) && now->added && !adaptation_is_ready(c) && !adaptation_is(c, ADAPTATION_WINDOW);
}

/* What the program is told of: the change itself while it is under way, and that it was aborted. */
static bool is_told(struct coordinator *c, const struct inquiry *inquiry)
{
    const struct change *now = &c->changes.now;
    bool lasts = now->lasting && !now->closed && now->state != CHANGE_ABORTED;
    bool there = inquiry->asked.proposed ? lasts || is_open(now) : is_open(now) || now->state == CHANGE_ABORTED;
    if (inquiry->asked.proposed && is_unready(c))
        return false;
    return there && !now->closed && concerns(c, inquiry);
}

/* The set that is left of `set`, or grows from it. NULL with text. */
static struct pset *outcome(struct coordinator *c, struct pset *set, struct error *why)
{
    struct changes *s = &c->changes;
    struct pset_request r = {.a = set, .app = s->app};
    struct pset *result = set;
    if (s->now.taken) {
        r.op = PSET_OP_DIFFERENCE;
        r.b = s->now.taken;
        result = psets_operate(&s->sets, &r, why);
    }
    if (result && s->now.added) {
        r.op = PSET_OP_UNION;
        r.a = result;
        r.b = s->now.added;
        result = psets_operate(&s->sets, &r, why);
    }
    return result;
}

static void add_output(cJSON *list, const struct pset *set)
{
    cJSON_AddItemToArray(list, cJSON_CreateString(set ? set->name : ""));
}

/* As the successor has them: what is taken before what is added, and then what it makes. */
static cJSON *outputs(const struct change *change)
{
    cJSON *list = cJSON_CreateArray();
    if (change->taken || change->type == PSET_OP_REPLACE)
        add_output(list, change->taken);
    if (change->added || change->type == PSET_OP_REPLACE)
        add_output(list, change->added);
    if (change->next)
        add_output(list, change->next);
    return list;
}

static cJSON *granted(const struct change *change)
{
    cJSON *answer = inquiry_yes();
    cJSON_AddNumberToObject(answer, "adaptation", change->adaptation);
    cJSON_AddItemToObject(answer, "sets", outputs(change));
    return answer;
}

static bool is_offer(const struct inquiry *inquiry)
{
    const struct report_ask *asked = &inquiry->asked;
    return !strcmp(asked->about, "request") && asked->type == PSET_OP_REPLACE && !asked->add && !asked->sub &&
           (asked->least || asked->most || asked->preferred);
}

/* Those that wait for what comes of their offer hear it before anybody finds the change. */
static bool end_offer(struct coordinator *c, const struct change *taken_by)
{
    bool open = c->changes.offer.set;
    for (struct inquiry *i = c->inquiries.first; i; i = i->next)
        if (is_offer(i) && !i->answered)
            inquiry_answer_first(c, i, taken_by ? granted(taken_by) : inquiry_no("the program withdrew it"));
    c->changes.offer = (struct offer){0};
    return open;
}

/* Of a change that somebody else asked for the successor's programs get the outcome, too; and have accepted it then. */
static void propose(struct coordinator *c, const struct inquiry *inquiry)
{
    struct change *now = &c->changes.now;
    struct error why;
    if (now->lasting || !is_open(now))
        return;
    struct pset *set = sets_of(c, inquiry, inquiry->asked.bound, &why);
    now->next = set ? outcome(c, set, &why) : NULL;
    now->type = now->type == PSET_OP_ADD ? PSET_OP_GROW : now->type == PSET_OP_SUB ? PSET_OP_SHRINK : now->type;
    now->lasting = true;
    if (set && set == c->changes.offer.set) {
        now->type = PSET_OP_REPLACE;
        end_offer(c, now);
    }
    changes_go(c);
    adaptation_accepted(c);
}

/* Others may ask about that set when it has been changed, or is part of the outcome. */
static void remember(struct coordinator *c, const struct inquiry *inquiry)
{
    struct change *now = &c->changes.now;
    struct error why;
    if (!now->of && inquiry->asked.bound)
        now->of = sets_named(c, inquiry, inquiry->asked.bound, &why);
}

enum { TOLD = 1, NOT_TOLD };

cJSON *sets_change_query(struct coordinator *c, struct inquiry *inquiry)
{
    const struct change *now = &c->changes.now;
    struct error why;
    if (inquiry->asked.with) {
        const struct pset *with = sets_of(c, inquiry, inquiry->asked.with, &why);
        int met = with ? inquiry_meets(c, inquiry, with, NULL, &why) : -1;
        if (met <= 0)
            return met ? inquiry_no(why.text) : NULL;
    }
    if (inquiry->asked.proposed && now->lasting && !now->beside && is_unready(c))
        return NULL; /* the program that asked for it waits */
    if (!inquiry->verdict)
        inquiry_decide(c, inquiry, is_told(c, inquiry) ? TOLD : NOT_TOLD);
    cJSON *answer = inquiry_yes();
    if (inquiry->verdict == NOT_TOLD) {
        cJSON_AddNumberToObject(answer, "type", PSET_OP_NULL);
        cJSON_AddStringToObject(answer, "state", changes_state_name(CHANGE_NULL));
        return answer;
    }
    remember(c, inquiry);
    if (inquiry->asked.proposed)
        propose(c, inquiry);
    cJSON_AddNumberToObject(answer, "type", now->type);
    cJSON_AddStringToObject(answer, "kind", changes_type_name(now->type));
    cJSON_AddStringToObject(answer, "state", changes_state_name(now->state));
    cJSON_AddNumberToObject(answer, "adaptation", now->adaptation);
    add_name(answer, "delta", now->both ? now->both : now->added ? now->added : now->taken);
    add_name(answer, "added", now->added);
    add_name(answer, "taken", now->taken);
    bool added = now->added && pset_has(now->added, inquiry->process);
    bool taken = now->taken && pset_has(now->taken, inquiry->process);
    cJSON_AddBoolToObject(answer, "included", added || taken);
    cJSON_AddItemToObject(answer, "sets", outputs(now));
    return answer;
}

/* ---- Let there be one --------------------------------------------------------------------- */

/* A request as the resize of the whole job that it is. */
static int start(struct coordinator *c, const struct inquiry *inquiry, const struct pset *set, struct error *why)
{
    int add = inquiry->asked.add, sub = inquiry->asked.sub;
    if (add < 0 || sub < 0 || (!add && !sub))
        return error_set(why, ERROR_FAILED, "a change adds processes, or takes some; %d and %d is none", add, sub);
    if (!c->config.sessions)
        return error_set(why, ERROR_FAILED,
                         "this program adapts by its blocks or by MPI_Probe_adapt, not by process sets");
    if (c->changes.now.lasting && !c->changes.now.closed && c->changes.now.state != CHANGE_ABORTED)
        return error_set(why, ERROR_FAILED, "change %d has not been finalized", c->changes.now.adaptation);
    int *ranks = changes_choose_leavers(c, set, sub, why);
    const struct request_resize request = {.size = RESIZE_NOT_SAID,
                                           .delta = add - sub,
                                           .add_hosts = inquiry->asked.add_hosts,
                                           .release_ranks = {ranks, sub}};
    int result = ranks ? resize_start(c, &request, BY_PROGRAM, why) : -1;
    free(ranks);
    return result;
}

static void hint(const struct pset *set, const char *key, int number)
{
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    if (number)
        json_put_text(set->sched, key, text);
}

/* "Resize me when you want": it waits for that, or the program asks later whether there is a change. */
static cJSON *take_offer(struct coordinator *c, struct inquiry *inquiry, const struct pset *set)
{
    const struct report_ask *asked = &inquiry->asked;
    struct offer offer = {set, asked->least ? asked->least : 1, asked->most ? asked->most : INT_MAX};
    if (!c->config.sessions)
        return inquiry_no("this program adapts by its blocks or by MPI_Probe_adapt, not by process sets");
    if (offer.least < 1 || offer.most < offer.least || asked->preferred < 0)
        return inquiry_no("it takes no number of processes");
    if (!inquiry->decided) {
        c->changes.offer = offer;
        hint(set, "mpi_ps_sched_num_procs_min", asked->least);
        hint(set, "mpi_ps_sched_num_procs_max", asked->most);
        hint(set, "mpi_ps_sched_num_procs_pref", asked->preferred);
    }
    inquiry->decided = true;
    return asked->beside ? NULL : inquiry_no("nobody has chosen a size so far");
}

cJSON *sets_change_request(struct coordinator *c, struct inquiry *inquiry)
{
    struct changes *s = &c->changes;
    struct error why;
    struct pset *set = sets_of(c, inquiry, inquiry->asked.set, &why);
    if (!set)
        return inquiry_no(why.text);
    if (is_offer(inquiry))
        return take_offer(c, inquiry, set);
    enum pset_op type = (enum pset_op)inquiry->asked.type;
    bool lasting = type != PSET_OP_NULL;
    s->wish = (struct change){.type = type,
                              .bound = changes_bound(c, set),
                              .go = lasting,
                              .lasting = lasting,
                              .beside = inquiry->asked.beside};
    int failed = start(c, inquiry, set, &why);
    s->wish = (struct change){0};
    if (failed > 0)
        return inquiry_no("that is what the job has");
    if (failed)
        return inquiry_no(why.text);
    s->now.of = set;
    if (type == PSET_OP_GROW || type == PSET_OP_SHRINK || type == PSET_OP_REPLACE)
        s->now.next = outcome(c, set, &why);
    return granted(&s->now);
}

/* ---- Accepting it -------------------------------------------------------------------------- */

static bool is_delta(const struct change *now, const struct pset *delta)
{
    return delta == now->added || delta == now->taken || delta == now->both;
}

static cJSON *in_state(const struct change *now, const char *state)
{
    cJSON *answer = inquiry_yes();
    cJSON_AddStringToObject(answer, "state", state);
    cJSON_AddNumberToObject(answer, "adaptation", now->adaptation);
    cJSON_AddBoolToObject(answer, "takes", now->taken ? 1 : 0);
    return answer;
}

/* A subtraction is for each reference counted set to accept; the one of who asks is marked. */
struct acceptance {
    struct coordinator *c;
    int process, open;
};

static void accept_by(void *context, struct pset *set)
{
    struct acceptance *a = context;
    if (pset_has(set, a->process))
        set->accepted = a->c->changes.now.adaptation;
    a->open += set->accepted != a->c->changes.now.adaptation;
}

static bool all_accept(struct coordinator *c, int process)
{
    struct acceptance a = {c, process, 0};
    const struct change *now = &c->changes.now;
    if (now->taken && !now->bound)
        psets_reference_counted(&c->changes.sets, c->changes.app, now->taken, accept_by, &a);
    return !a.open;
}

static const char *not_acceptable(struct coordinator *c, const struct pset *delta)
{
    const struct change *now = &c->changes.now;
    if (!c->config.sessions)
        return "this program adapts by its blocks or by MPI_Probe_adapt, not by process sets";
    if (!is_delta(now, delta))
        return "its resource change is over";
    return NULL;
}

cJSON *sets_change_accept(struct coordinator *c, struct inquiry *inquiry)
{
    struct change *now = &c->changes.now;
    struct error why;
    struct pset *delta = sets_of(c, inquiry, inquiry->asked.delta, &why),
                *next = delta ? sets_of(c, inquiry, inquiry->asked.next, &why) : NULL;
    if (!next)
        return inquiry_no(why.text);
    const char *reason = not_acceptable(c, delta);
    if (reason)
        return inquiry_no(reason);
    if (now->state == CHANGE_ABORTED)
        return in_state(now, "ABORTED");
    now->next = next;
    delta->outcome = next;
    if (now->added)
        changes_pending(c);
    bool all = all_accept(c, inquiry->process);
    if (all && adaptation_is_ready(c)) {
        changes_go(c);
        adaptation_accepted(c);
        return in_state(now, "GO");
    }
    return inquiry_is_late(inquiry) ? in_state(now, "PENDING") : NULL;
}

/* Of the change that the process was started for, though another one may be under way by now. */
cJSON *sets_change_confirm(struct coordinator *c, struct inquiry *inquiry)
{
    struct error why;
    const struct pset *delta = sets_of(c, inquiry, inquiry->asked.delta, &why);
    if (!delta)
        return inquiry_no(why.text);
    if (!delta->delta || !pset_has(delta, inquiry->process) || !process_at(c, inquiry->process)->launch)
        return inquiry_no("this process was not started for that resource change");
    if (delta->aborted)
        return inquiry_no("the resource change was aborted");
    if (!delta->outcome || !changes_is_there(c, inquiry->process))
        return NULL;
    cJSON *answer = inquiry_yes();
    cJSON_AddStringToObject(answer, "set", delta->outcome->name);
    return answer;
}

/* ---- The end --------------------------------------------------------------------------------- */

cJSON *sets_change_close(struct coordinator *c, struct inquiry *inquiry)
{
    struct change *now = &c->changes.now;
    (void)inquiry;
    if (!now->lasting || now->closed)
        return inquiry_yes();
    now->closed = true;
    if (now->state == CHANGE_FINALIZED)
        changes_adopt(c);
    return inquiry_yes();
}

cJSON *sets_change_cancel(struct coordinator *c, struct inquiry *inquiry)
{
    (void)inquiry;
    bool withdrawn = end_offer(c, NULL);
    if (!adaptation_pending(c) || adaptation_is(c, ADAPTATION_WINDOW))
        return withdrawn ? inquiry_yes() : inquiry_no("there is no change that could be called off");
    adaptation_drop(c, ADAPTATION_CANCELLED, "failed", "the program called it off");
    return inquiry_yes();
}

cJSON *sets_change_leaving(struct coordinator *c, struct inquiry *inquiry)
{
    const struct change *now = &c->changes.now;
    /* Also when all others are through the window, and this one's agent is not. */
    bool leaves = now->state != CHANGE_ABORTED && now->go && now->taken && pset_has(now->taken, inquiry->process);
    cJSON *answer = inquiry_yes();
    cJSON_AddBoolToObject(answer, "leaves", leaves);
    if (is_open(now) && now->go && now->taken && !now->added)
        cJSON_AddNumberToObject(answer, "adaptation", now->adaptation); /* that others leave in */
    return answer;
}
