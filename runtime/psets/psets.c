/* Process sets: see psets.h. */
#include "runtime/psets/psets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/json.h"

void psets_init(struct psets *sets)
{
    *sets = (struct psets){0};
}

static void pset_free(struct pset *set)
{
    cJSON_Delete(set->data);
    cJSON_Delete(set->sched);
    free(set->members);
    free(set);
}

void psets_destroy(struct psets *sets)
{
    for (int i = 0; i < sets->count; i++)
        pset_free(sets->table[i]);
    free(sets->table);
}

struct pset *psets_find(const struct psets *sets, const char *name)
{
    for (int i = 0; i < sets->count; i++)
        if (!strcmp(sets->table[i]->name, name))
            return sets->table[i];
    return NULL;
}

bool pset_has(const struct pset *set, int process)
{
    for (int i = 0; i < set->count; i++)
        if (set->members[i] == process)
            return true;
    return false;
}

/* Have they a member in common? */
static bool pset_meets(const struct pset *a, const struct pset *b)
{
    for (int i = 0; i < a->count; i++)
        if (pset_has(b, a->members[i]))
            return true;
    return false;
}

/* Is a a proper subset of b? */
static bool pset_within(const struct pset *a, const struct pset *b)
{
    for (int i = 0; i < a->count; i++)
        if (!pset_has(b, a->members[i]))
            return false;
    return a->count < b->count;
}

void psets_leave(struct psets *sets, const struct pset *gone)
{
    for (int i = 0; i < sets->count; i++)
        sets->table[i]->stale |= pset_meets(sets->table[i], gone);
}

bool pset_is_of(const struct pset *set, const char *app)
{
    size_t prefix = strlen(PSETS_APP), length = strlen(app);
    if (strncmp(set->name, PSETS_APP, prefix) || strncmp(set->name + prefix, app, length))
        return false;
    char behind = set->name[prefix + length];
    return !behind || behind == '/';
}

int pset_assign(struct pset *set, const int *members, int count)
{
    if (count == set->count && !memcmp(members, set->members, (size_t)count * sizeof *members))
        return 0;
    int *copy = malloc((size_t)(count ? count : 1) * sizeof *copy);
    if (!copy)
        return -1;
    memcpy(copy, members, (size_t)count * sizeof *copy);
    free(set->members);
    set->members = copy;
    set->count = count;
    set->stale = false;
    set->version++;
    return 0;
}

/* ---- New ones ---------------------------------------------------------------------- */

static int check_name(const struct psets *sets, const char *name, struct error *error)
{
    if (!*name || strlen(name) >= PSETS_NAME_MAX)
        return error_set(error, ERROR_FAILED, "the name of a process set has 1 to %d characters", PSETS_NAME_MAX - 1);
    if (psets_find(sets, name))
        return error_set(error, ERROR_FAILED, "there is a process set %.200s already", name);
    return 0;
}

static int append(struct psets *sets, struct pset *set)
{
    struct pset **table = realloc(sets->table, (size_t)(sets->count + 1) * sizeof(struct pset *));
    if (!table)
        return -1;
    sets->table = table;
    sets->table[sets->count++] = set;
    return 0;
}

struct pset *psets_define(struct psets *sets, const char *name, const int *members, int count, struct error *error)
{
    if (check_name(sets, name, error))
        return NULL;
    struct pset *set = calloc(1, sizeof *set);
    if (!set || pset_assign(set, members, count) || !(set->data = cJSON_CreateObject()) ||
        !(set->sched = cJSON_CreateObject()) || append(sets, set)) {
        if (set)
            pset_free(set);
        error_memory(error);
        return NULL;
    }
    snprintf(set->name, sizeof set->name, "%s", name);
    set->version = 0;
    set->active = true;
    return set;
}

static bool is_delta_of(const struct pset *set, const char *app)
{
    char domain[PSETS_NAME_MAX];
    snprintf(domain, sizeof domain, PSETS_RTE "%.200s/rc/", app);
    return set->delta && !strncmp(set->name, domain, strlen(domain));
}

/* Definition 1. */
static int next_epoch(const struct psets *sets, const char *app)
{
    int latest = 0;
    for (int i = 0; i < sets->count; i++)
        if (is_delta_of(sets->table[i], app) && sets->table[i]->epoch > latest)
            latest = sets->table[i]->epoch;
    return latest + 1;
}

struct pset *psets_define_delta(struct psets *sets, const char *app, const char *word, const int *members, int count,
                                const struct pset *of, struct error *error)
{
    char name[PSETS_NAME_MAX];
    int epoch = of ? of->epoch : next_epoch(sets, app);
    snprintf(name, sizeof name, PSETS_RTE "%.200s/rc/%d-%.20s", app, epoch, word);
    struct pset *set = psets_define(sets, name, members, count, error);
    if (!set)
        return NULL;
    set->delta = true;
    set->epoch = epoch;
    return set;
}

enum { KEPT = 8 };

void psets_prune(struct psets *sets)
{
    int deltas = 0, kept = 0;
    for (int i = 0; i < sets->count; i++)
        deltas += sets->table[i]->delta;
    for (int i = 0; i < sets->count; i++) {
        if (sets->table[i]->delta && deltas-- > KEPT)
            pset_free(sets->table[i]);
        else
            sets->table[kept++] = sets->table[i];
    }
    sets->count = kept;
}

/* ---- The rules ---------------------------------------------------------------------- */

/* Active, of the application, and part of no other one that is. */
static bool is_malleable(const struct psets *sets, const char *app, const struct pset *set)
{
    if (!set->active || set->stale || !pset_is_of(set, app))
        return false;
    for (int i = 0; i < sets->count; i++) {
        const struct pset *other = sets->table[i];
        if (other->active && !other->stale && pset_is_of(other, app) && pset_within(set, other))
            return false;
    }
    return true;
}

void psets_malleable(const struct psets *sets, const char *app, pset_each *each, void *context)
{
    for (int i = 0; i < sets->count; i++)
        if (is_malleable(sets, app, sets->table[i]))
            each(context, sets->table[i]);
}

void psets_reference_counted(const struct psets *sets, const char *app, const struct pset *delta, pset_each *each,
                             void *context)
{
    for (int i = 0; i < sets->count; i++)
        if (is_malleable(sets, app, sets->table[i]) && pset_meets(sets->table[i], delta))
            each(context, sets->table[i]);
}

static bool is_affected(const struct pset *set, const char *app, const struct pset *of, const struct pset *delta)
{
    return !set->active && pset_is_of(set, app) && (pset_meets(set, delta) || pset_within(of, set));
}

void psets_affected(const struct psets *sets, const char *app, const struct pset *of, const struct pset *delta,
                    pset_each *each, void *context)
{
    for (int i = 0; i < sets->count; i++)
        if (is_affected(sets->table[i], app, of, delta))
            each(context, sets->table[i]);
}

/* ---- Hints for schedulers ------------------------------------------------------------ */

enum { HINT_MOST = 1000000 };

/* 0: it has none, or is none. */
static int read_hint(const char *text)
{
    char *end;
    long number = text && *text >= '0' && *text <= '9' ? strtol(text, &end, 10) : 0;
    return number > 0 && !*end && number <= HINT_MOST ? (int)number : 0;
}

static int hint_of(const struct pset *set, const char *key)
{
    return read_hint(json_text(set->sched, key));
}

static struct pset_hints hints_of(const struct pset *set)
{
    int preferred = hint_of(set, PSETS_HINT_PREFERRED);
    return (struct pset_hints){hint_of(set, PSETS_HINT_MIN), hint_of(set, PSETS_HINT_MAX),
                               preferred ? preferred : hint_of(set, PSETS_HINT_PREFERRED_OTHER)};
}

static bool has_hints(const struct pset *set)
{
    struct pset_hints hints = hints_of(set);
    return set->active && !set->stale && !set->delta && (hints.least || hints.most || hints.preferred);
}

/* The largest that shares nothing with those that are counted; of equal ones the last. NULL: there is none. */
static const struct pset *next_with_hints(const struct psets *sets, const struct pset *counted)
{
    const struct pset *next = NULL;
    for (int i = 0; i < sets->count; i++) {
        const struct pset *set = sets->table[i];
        if (has_hints(set) && (!next || set->count >= next->count) && !pset_meets(set, counted))
            next = set;
    }
    return next;
}

static void add_hints(struct pset_hints *sum, const struct pset *set, bool *bound)
{
    struct pset_hints own = hints_of(set);
    sum->least += own.least ? own.least : 1;
    sum->most += own.most;
    sum->preferred += own.preferred ? own.preferred : set->count;
    *bound &= own.most > 0;
}

/* Those of no set that was counted stay as many as they are. */
static void add_others(struct pset_hints *sum, const struct pset *world, const struct pset *counted)
{
    for (int i = 0; world && i < world->count; i++) {
        if (pset_has(counted, world->members[i]))
            continue;
        sum->least++;
        sum->most++;
        sum->preferred++;
    }
}

bool psets_hints(const struct psets *sets, struct pset_hints *hints)
{
    struct pset counted = {.count = 0};
    bool bound = true, wish = false;
    *hints = (struct pset_hints){0};
    for (const struct pset *set; (set = next_with_hints(sets, &counted));) {
        int *members = realloc(counted.members, (size_t)(counted.count + set->count) * sizeof *members);
        if (!members)
            break;
        counted.members = members;
        memcpy(members + counted.count, set->members, (size_t)set->count * sizeof *members);
        counted.count += set->count;
        add_hints(hints, set, &bound);
        wish |= hints_of(set).preferred > 0;
    }
    add_others(hints, psets_find(sets, PSETS_WORLD), &counted);
    free(counted.members);
    hints->most = bound ? hints->most : 0;
    hints->preferred = wish ? hints->preferred : 0;
    return counted.count;
}

/* As it will be: what is said now, or else what `from` says; NULL: nothing. */
static const char *hint_text(const struct pset_request *r, const struct pset *from, const char *key)
{
    for (int i = 0; i < r->sched.count; i++)
        if (!strcmp(r->sched.items[i].name, key))
            return r->sched.items[i].value;
    return from ? json_text(from->sched, key) : NULL;
}

static int check_hints(const struct pset_request *r, const struct pset *from, struct error *error)
{
    static const char *const numbers[] = {PSETS_HINT_MIN, PSETS_HINT_MAX, PSETS_HINT_PREFERRED,
                                          PSETS_HINT_PREFERRED_OTHER};
    if (hint_text(r, NULL, PSETS_HINT_PRIORITY))
        return error_set(error, ERROR_FAILED,
                         PSETS_HINT_PRIORITY
                         " is not for a program to say: its user does, by epoprm submit --priority");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const char *text = hint_text(r, NULL, numbers[i]);
        if (text && !read_hint(text))
            return error_set(error, ERROR_FAILED, "%s is '%.40s', which is no number of processes from 1 to %d",
                             numbers[i], text, HINT_MOST);
    }
    int least = read_hint(hint_text(r, from, PSETS_HINT_MIN)), most = read_hint(hint_text(r, from, PSETS_HINT_MAX));
    return most && least > most
               ? error_set(error, ERROR_FAILED, PSETS_HINT_MIN " is %d, above " PSETS_HINT_MAX ", %d", least, most)
               : 0;
}

/* ---- Operations ---------------------------------------------------------------------- */

/* The members of op(a, b), in the order of a, then of b; NULL: out of memory. The caller frees them. */
static int *combine(enum pset_op op, const struct pset *a, const struct pset *b, int *count)
{
    int *result = malloc((size_t)(a->count + b->count + 1) * sizeof *result);
    *count = 0;
    if (!result)
        return NULL;
    for (int i = 0; i < a->count; i++)
        if (op == PSET_OP_UNION || pset_has(b, a->members[i]) == (op == PSET_OP_INTERSECTION))
            result[(*count)++] = a->members[i];
    for (int i = 0; op == PSET_OP_UNION && i < b->count; i++)
        if (!pset_has(a, b->members[i]))
            result[(*count)++] = b->members[i];
    return result;
}

/* Of all operands. */
static int *combine_all(const struct pset_request *r, int *count)
{
    int *members = combine(r->op, r->a, r->b, count);
    for (int i = 0; members && i < r->more_count; i++) {
        const struct pset so_far = {.members = members, .count = *count};
        int *next = combine(r->op, &so_far, r->more[i], count);
        free(members);
        members = next;
    }
    return members;
}

static int later(int a, int b)
{
    return a > b ? a : b;
}

static void set_attributes(struct pset *set, const struct pset_request *r)
{
    if (r->active)
        set->active = *r->active;
    for (int i = 0; i < r->sched.count; i++)
        json_put_text(set->sched, r->sched.items[i].name, r->sched.items[i].value);
}

static void inherit(struct pset *set, const struct pset *from)
{
    cJSON *sched = cJSON_Duplicate(from->sched, 1);
    set->active = from->delta || from->active;
    if (sched) {
        cJSON_Delete(set->sched);
        set->sched = sched;
    }
}

/* The sets that the runtime cares for follow, but not into nothing. */
struct following {
    enum pset_op op;
    const struct pset *delta, *result;
    bool failed;
};

static void follow(void *context, struct pset *set)
{
    struct following *f = context;
    int count, *members;
    if (set == f->result)
        return;
    members = combine(f->op, set, f->delta, &count);
    if (!members || (count && pset_assign(set, members, count)))
        f->failed = true;
    else if (count)
        set->epoch = later(set->epoch, f->delta->epoch);
    free(members);
}

/* False: out of memory. */
static bool let_follow(struct psets *sets, const struct pset_request *r, const struct pset *result,
                       const struct pset *delta)
{
    struct following f = {r->op, delta, result, false};
    if (delta->delta)
        psets_affected(sets, r->app, r->a, delta, follow, &f);
    return !f.failed;
}

static struct pset *change_attributes(struct psets *sets, const struct pset_request *r, struct error *error)
{
    struct pset *set = r->target ? psets_find(sets, r->target) : NULL;
    if (set && strcmp(set->name, PSETS_WORLD)) {
        set_attributes(set, r);
        return set;
    }
    if (set)
        error_set(error, ERROR_FAILED, "%s is the runtime's", set->name);
    else
        error_set(error, ERROR_FAILED, "there is no process set %.200s whose attributes could be set",
                  r->target ? r->target : "(without a name)");
    return NULL;
}

static void name_result(struct psets *sets, const char *app, char *name, size_t size)
{
    do
        snprintf(name, size, PSETS_APP "%.200s/%d", app, ++sets->results);
    while (psets_find(sets, name));
}

/* May the program give that name? */
static int check_target(const struct pset_request *r, struct error *error)
{
    struct pset like = {.name = ""};
    snprintf(like.name, sizeof like.name, "%s", r->target);
    if (strlen(r->target) < sizeof like.name && pset_is_of(&like, r->app))
        return 0;
    return error_set(error, ERROR_FAILED, "a process set of this program is named " PSETS_APP "%.100s/..., not %.100s",
                     r->app, r->target);
}

static struct pset *place(struct psets *sets, const struct pset_request *r, const int *members, int count,
                          struct error *error)
{
    char name[PSETS_NAME_MAX];
    if (r->target && !strcmp(r->target, r->a->name)) {
        if (r->a->delta || !pset_is_of(r->a, r->app))
            error_set(error, ERROR_FAILED, "%s is the runtime's", r->a->name);
        else if (!pset_assign(r->a, members, count))
            return r->a;
        else
            error_memory(error);
        return NULL;
    }
    if (r->target && check_target(r, error))
        return NULL;
    if (r->target)
        snprintf(name, sizeof name, "%s", r->target);
    else
        name_result(sets, r->app, name, sizeof name);
    struct pset *set = psets_define(sets, name, members, count, error);
    if (set)
        inherit(set, r->a);
    return set;
}

struct pset *psets_operate(struct psets *sets, const struct pset_request *r, struct error *error)
{
    if (check_hints(r, r->a ? r->a : r->target ? psets_find(sets, r->target) : NULL, error))
        return NULL;
    if (r->op == PSET_OP_NULL)
        return change_attributes(sets, r, error);
    int count, *members = combine_all(r, &count), epoch = later(r->a->epoch, r->b->epoch);
    struct pset *result = NULL;
    for (int i = 0; i < r->more_count; i++)
        epoch = later(epoch, r->more[i]->epoch);
    if (!members)
        error_memory(error);
    else if (!count)
        error_set(error, ERROR_FAILED, "no process is left in the result of %s and %s%s", r->a->name, r->b->name,
                  r->more_count ? ", and others" : "");
    else
        result = place(sets, r, members, count, error);
    free(members);
    if (!result)
        return NULL;
    result->epoch = epoch;
    set_attributes(result, r);
    bool all = let_follow(sets, r, result, r->b);
    for (int i = 0; i < r->more_count; i++)
        all &= let_follow(sets, r, result, r->more[i]);
    if (!all)
        error_memory(error);
    return all ? result : NULL;
}

int psets_split(struct psets *sets, const char *app, const struct pset *set, const int *sizes, int count,
                struct pset **parts, struct error *error)
{
    int sum = 0, first = 0;
    for (int i = 0; i < count; i++) {
        if (sizes[i] < 1 || sizes[i] > set->count - sum)
            return error_set(error, ERROR_FAILED, "%s has %d processes, which cannot be split into parts like that",
                             set->name, set->count);
        sum += sizes[i];
    }
    if (!count)
        return error_set(error, ERROR_FAILED, "into how many parts is %s to be split?", set->name);
    for (int i = 0; i < count; first += sizes[i++]) {
        char name[PSETS_NAME_MAX];
        name_result(sets, app, name, sizeof name);
        parts[i] = psets_define(sets, name, set->members + first, sizes[i], error);
        if (!parts[i])
            return -1;
        inherit(parts[i], set);
        parts[i]->epoch = set->epoch;
    }
    return 0;
}
