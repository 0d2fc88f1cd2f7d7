/*
 * Looks through what all processes did up to their first probes for the first one that tells whether joining processes
 * are at the same one as the others (verdict.h). No state, no messages.
 */
#ifndef EPOP_COORDINATOR_SEARCH_H
#define EPOP_COORDINATOR_SEARCH_H

#include <stdint.h>

#include "runtime/coordinator/verdict.h"
#include "runtime/member/stretch.h"

struct search {
    const struct stretch_log **logs; /* not owned */
    int count;
    struct stretch *room;
};

/* For so many logs. -1: out of memory. */
int search_init(struct search *s, int most);
void search_free(struct search *s);
/* Of a process that has come to its first probe, or, if it joined, to its second. */
void search_add(struct search *s, const struct stretch_log *log);

/* Up to which probe all are known; the joining ones one farther. */
int64_t search_known(const struct search *s);
/* Behind a probe up to which it could be either; 0: from the first one on. Open: it still could, and `what` is what the
 * first one looks like; FIND: staying or joining processes are missing. */
struct verdict search_verdict(const struct search *s, int64_t after);

#endif
