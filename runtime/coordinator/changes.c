/* Resource changes, as process sets see them. */
#include "runtime/coordinator/changes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/json.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/record.h"
#include "runtime/coordinator/replies.h"
#include "runtime/coordinator/state.h"
#include "runtime/wire/messages.h"

/* ---- Words --------------------------------------------------------------------------------------- */

const char *changes_state_name(enum change_state state)
{
    static const char *const names[] = {"NULL", "ANNOUNCED", "PENDING", "FINALIZED", "ABORTED"};
    return names[state];
}

const char *changes_type_name(enum pset_op type)
{
    switch (type) {
    case PSET_OP_ADD:
    case PSET_OP_GROW:
        return "ADD";
    case PSET_OP_SUB:
    case PSET_OP_SHRINK:
        return "SUB";
    case PSET_OP_REPLACE:
        return "REPLACE";
    default:
        return "NULL";
    }
}

static void tell(struct coordinator *c, enum change_state state, const char *reason)
{
    struct change *now = &c->changes.now;
    now->state = state;
    if (!c->changes.seen)
        return;
    publish_change(c, now, reason);
}

/* ---- Sets ---------------------------------------------------------------------------------------- */

int changes_begin(struct coordinator *c)
{
    struct changes *s = &c->changes;
    char name[PSETS_NAME_MAX];
    struct error error;
    psets_init(&s->sets);
    s->seen = c->config.sessions;
    snprintf(s->app, sizeof s->app, "%s", c->config.program && c->config.program->name ? c->config.program->name : "");
    snprintf(name, sizeof name, PSETS_APP "%s", s->app);
    struct pset *app;
    if (!psets_define(&s->sets, PSETS_WORLD, c->processes.world, c->processes.size, &error) ||
        !(app = psets_define(&s->sets, name, c->processes.world, c->processes.size, &error)))
        return -1;
    app->active = c->config.sessions; /* where programs do not care for it, the runtime does */
    return 0;
}

void changes_end(struct coordinator *c)
{
    free(c->changes.now.made);
    psets_destroy(&c->changes.sets);
}

static struct pset *define(struct coordinator *c, const char *word, const int *members, int count,
                           const struct pset *of)
{
    struct error error;
    struct pset *set = psets_define_delta(&c->changes.sets, c->changes.app, word, members, count, of, &error);
    if (!set)
        fatal(c, error.text);
    return set;
}

/* Those that stay, and then those that join; or those that leave. The caller frees it. */
static int *list(struct coordinator *c, const struct adaptation *a, bool leaving, int *count)
{
    int *processes = malloc((size_t)(c->processes.size + a->joining + 1) * sizeof *processes);
    *count = 0;
    if (!processes) {
        fatal_memory(c);
        return NULL;
    }
    for (int r = 0; r < c->processes.size; r++)
        if (!a->leaves[r] == !leaving)
            processes[(*count)++] = c->processes.world[r];
    for (int j = 0; !leaving && j < a->joining; j++)
        processes[(*count)++] = a->joiners[j];
    return processes;
}

static void define_both(struct coordinator *c)
{
    struct change *now = &c->changes.now;
    int count = now->added->count + now->taken->count, *all = malloc((size_t)count * sizeof *all);
    if (!all) {
        fatal_memory(c);
        return;
    }
    memcpy(all, now->added->members, (size_t)now->added->count * sizeof *all);
    memcpy(all + now->added->count, now->taken->members, (size_t)now->taken->count * sizeof *all);
    now->both = define(c, "replace", all, count, now->added);
    free(all);
}

static void define_taken(struct coordinator *c, const struct adaptation *a)
{
    struct change *now = &c->changes.now;
    int count, *leavers = list(c, a, true, &count);
    if (leavers && count)
        now->taken = define(c, "sub", leavers, count, now->added);
    if (now->taken && now->added)
        define_both(c);
    free(leavers);
}

struct pset *changes_bound(const struct coordinator *c, struct pset *set)
{
    const struct pset *world = psets_find(&c->changes.sets, PSETS_WORLD);
    for (int i = 0; i < world->count; i++)
        if (!pset_has(set, world->members[i]))
            return set;
    return NULL;
}

bool changes_may_be(struct coordinator *c, int more, struct error *why)
{
    const struct offer *offer = &c->changes.offer;
    struct pset *set = offer->set ? psets_find(&c->changes.sets, offer->set->name) : NULL;
    if (!set || c->changes.wish.bound != changes_bound(c, set))
        return true;
    int size = set->count + more;
    if (size < offer->least)
        error_set(why, ERROR_FAILED, "the program takes %d processes or more in %s, not %d (mpi_num_procs_min)",
                  offer->least, set->name, size);
    else if (size > offer->most)
        error_set(why, ERROR_FAILED, "the program takes %d processes or fewer in %s, not %d (mpi_num_procs_max)",
                  offer->most, set->name, size);
    return size >= offer->least && size <= offer->most;
}

int *changes_choose_leavers(struct coordinator *c, const struct pset *set, int count, struct error *why)
{
    int *ranks = count <= set->count ? malloc(sizeof *ranks * ((size_t)count + 1)) : NULL, found = 0;
    for (int i = set->count - 1; ranks && i >= 0 && found < count; i--) {
        int rank = process_at(c, set->members[i])->rank;
        if (rank > 0)
            ranks[found++] = rank;
    }
    if (ranks && found == count)
        return ranks;
    error_set(why, ERROR_FAILED, "%s has not so many processes that can leave (process 0 hosts the job's control)",
              set->name);
    free(ranks);
    return NULL;
}

/* ---- The states ---------------------------------------------------------------------------------- */

static void choose_type(struct change *now)
{
    if (now->type == PSET_OP_NULL)
        now->type = now->added && now->taken ? PSET_OP_REPLACE : now->added ? PSET_OP_ADD : PSET_OP_SUB;
}

void changes_announce(struct coordinator *c, const struct adaptation *a)
{
    struct changes *s = &c->changes;
    changes_adopt(c);
    if (!s->seen)
        psets_prune(&s->sets);
    s->now = (struct change){.adaptation = a->id,
                             .type = s->wish.type,
                             .bound = s->wish.bound,
                             .go = s->wish.go || !c->config.sessions,
                             .beside = s->wish.beside,
                             .lasting = s->wish.lasting,
                             .held = s->wish.held || s->holds};
    if (a->joining)
        s->now.added = define(c, "add", a->joiners, a->joining, NULL);
    define_taken(c, a);
    choose_type(&s->now);
    tell(c, CHANGE_ANNOUNCED, NULL);
}

void changes_take_too(struct coordinator *c, const struct adaptation *a)
{
    struct change *now = &c->changes.now;
    define_taken(c, a);
    now->type = PSET_OP_REPLACE;
    tell(c, CHANGE_ANNOUNCED, NULL);
}

static bool is_pending(const struct coordinator *c)
{
    enum change_state state = c->changes.now.state;
    return state == CHANGE_ANNOUNCED || state == CHANGE_PENDING;
}

bool changes_wait(const struct coordinator *c)
{
    return c->changes.making || (c->config.sessions && is_pending(c) && !c->changes.now.go);
}

bool changes_want(const struct coordinator *c)
{
    const struct adaptation *a = c->adaptations.pending;
    return a && a->state == ADAPTATION_PREPARED && c->changes.now.go && !c->adaptations.interval.set;
}

bool changes_hold(struct coordinator *c)
{
    return c->config.sessions && is_pending(c) && c->changes.now.held && !c->changes.now.go;
}

void changes_pending(struct coordinator *c)
{
    if (c->changes.now.state == CHANGE_ANNOUNCED)
        tell(c, CHANGE_PENDING, NULL);
}

void changes_go(struct coordinator *c)
{
    c->changes.now.go = true;
    if (c->changes.now.added)
        changes_pending(c);
}

void changes_adopt(struct coordinator *c)
{
    struct changes *s = &c->changes;
    struct pset *world = psets_find(&s->sets, PSETS_WORLD);
    if (!s->now.made)
        return;
    if (pset_assign(world, s->now.made, s->now.made_count))
        fatal_memory(c);
    world->epoch = s->now.added ? s->now.added->epoch : s->now.taken->epoch;
    free(s->now.made);
    s->now.made = NULL;
}

/* Sets that the runtime cares for have no processes that are gone; the application's own is the world. */
static void follow(struct coordinator *c, const int *world, int count)
{
    struct changes *s = &c->changes;
    for (int i = 0; i < s->sets.count; i++) {
        struct pset *set = s->sets.table[i];
        if (set->active || !pset_is_of(set, s->app))
            continue;
        bool whole = strlen(set->name) == strlen(PSETS_APP) + strlen(s->app);
        int kept = 0, *members = malloc((size_t)(set->count + 1) * sizeof *members);
        for (int m = 0; members && m < set->count; m++)
            if (!s->now.taken || !pset_has(s->now.taken, set->members[m]))
                members[kept++] = set->members[m];
        if (!members || (whole ? pset_assign(set, world, count) : kept && pset_assign(set, members, kept)))
            fatal_memory(c);
        free(members);
    }
}

static void finalize(struct coordinator *c, const struct adaptation *a)
{
    struct changes *s = &c->changes;
    s->now.made = list(c, a, false, &s->now.made_count);
    if (!s->now.made)
        return;
    follow(c, s->now.made, s->now.made_count);
    if (s->now.taken)
        psets_leave(&s->sets, s->now.taken);
    if (!s->now.lasting || s->now.closed)
        changes_adopt(c);
    tell(c, CHANGE_FINALIZED, NULL);
}

static bool all_through(struct coordinator *c, const struct adaptation *a)
{
    for (int r = 0; r < c->processes.size; r++)
        if (!a->leaves[r] && !process_of_rank(c, r)->through)
            return false;
    for (int j = 0; j < a->joining; j++)
        if (!process_at(c, a->joiners[j])->through)
            return false;
    return true;
}

void changes_through(struct coordinator *c, const struct adaptation *a)
{
    if (is_pending(c) && c->changes.now.adaptation == a->id && all_through(c, a))
        finalize(c, a);
}

void changes_off(struct coordinator *c, const struct adaptation *a)
{
    if (!is_pending(c) || c->changes.now.adaptation != a->id)
        return;
    snprintf(c->changes.reason, sizeof c->changes.reason, "%s", a->reason);
    struct pset *const deltas[] = {c->changes.now.added, c->changes.now.taken, c->changes.now.both};
    for (int i = 0; i < 3; i++)
        if (deltas[i])
            deltas[i]->aborted = true;
    if (c->changes.now.added) /* they will not come: no set with them counts */
        psets_leave(&c->changes.sets, c->changes.now.added);
    tell(c, CHANGE_ABORTED, a->reason);
    if (!c->config.sessions)
        return;
    cJSON *message = json_message(ORDER(off));
    cJSON_AddNumberToObject(message, "adaptation", a->id);
    processes_send_world(c, message);
}

/* ---- Who is there -------------------------------------------------------------------------------- */

static const struct adaptation *in_window(const struct coordinator *c)
{
    const struct adaptation *a = c->adaptations.pending;
    return a && a->state == ADAPTATION_WINDOW ? a : NULL;
}

bool changes_is_between(const struct coordinator *c)
{
    return c->config.sessions && in_window(c) && is_pending(c) && !c->changes.now.lasting;
}

bool changes_is_there(const struct coordinator *c, int process)
{
    const struct process *p = process_at(c, process);
    if (in_window(c))
        return p->through && p->state != PROCESS_LEAVING;
    return p->rank >= 0 && p->state == PROCESS_RUNNING;
}

int changes_world(struct coordinator *c)
{
    const struct adaptation *a = in_window(c);
    return a ? a->id : c->processes.world_id;
}
