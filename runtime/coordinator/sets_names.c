/* Names of process sets: see sets_names.h. */
#include "runtime/coordinator/sets_names.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "runtime/coordinator/inquiries.h"
#include "runtime/coordinator/state.h"

/* Sets of one: made when they are first asked for. */
static struct pset *self(struct coordinator *c, int process, struct error *why)
{
    char name[64];
    snprintf(name, sizeof name, PSETS_SELF "#%d", process);
    struct pset *set = psets_find(&c->changes.sets, name);
    if (set)
        return set;
    set = psets_define(&c->changes.sets, name, &process, 1, why);
    if (set)
        set->active = false;
    return set;
}

struct pset *sets_named(struct coordinator *c, const struct inquiry *inquiry, const char *name, struct error *why)
{
    if (inquiry->process >= 0 && !strcasecmp(name, PSETS_SELF))
        return self(c, inquiry->process, why);
    struct pset *set = strncmp(name, PSETS_SELF, strlen(PSETS_SELF)) ? psets_find(&c->changes.sets, name) : NULL;
    if (!set)
        error_set(why, ERROR_FAILED, "there is no process set %.200s", name);
    return set;
}

struct pset *sets_of(struct coordinator *c, const struct inquiry *inquiry, const char *name, struct error *why)
{
    if (name)
        return sets_named(c, inquiry, name, why);
    error_set(why, ERROR_FAILED, "no process set is named");
    return NULL;
}
