/* Which process set a name means to whom asks, and to whom it belongs. */
#ifndef EPOP_COORDINATOR_SETS_NAMES_H
#define EPOP_COORDINATOR_SETS_NAMES_H

#include "runtime/base/error.h"
#include "runtime/psets/psets.h"

struct coordinator;
struct inquiry;

/* The set of that name. NULL with text: there is none. */
struct pset *sets_named(struct coordinator *c, const struct inquiry *inquiry, const char *name, struct error *why);

/* The same of a member of the question; NULL: it has none. */
struct pset *sets_of(struct coordinator *c, const struct inquiry *inquiry, const char *name, struct error *why);

#endif
