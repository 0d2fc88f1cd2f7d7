/*
 * What a process did in MPI between a commit and one of its first probes. Of all processes of a world together it tells
 * whether these probes are the same one: what is sent is received, and who meets, meets equally often.
 */
#ifndef EPOP_MEMBER_STRETCH_H
#define EPOP_MEMBER_STRETCH_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/wire/messages.h"

/* Which probe is the first one of a joining process? */
enum first_probe {
    FIRST_PROBE_FIND,
    FIRST_PROBE_COUNTS, /* the next one of all */
    FIRST_PROBE_REPEATS /* that of the commit once more */
};

struct stretch {
    int64_t world;          /* collective calls over the whole world */
    int64_t sent, received; /* messages */
    int64_t parts;          /* collective calls over a part of it */
    uint64_t balance;       /* over all processes these add up to 0 at a common probe */
    double seconds;
};

#define STRETCHES_MOST 64

/* Up to each of a process's first probes after a commit; noted only when it has done something since the last one. */
struct stretch_log {
    int adaptation;
    bool joins;
    enum first_probe what; /* other than FIND: it is told, and nothing was observed */
    bool full;             /* nothing behind the last one is known */
    int64_t probe;         /* so far; the first is 1 */
    int count;
    struct stretch_at {
        int64_t probe;
        struct stretch stretch;
    } at[STRETCHES_MOST];
};

/* -1: there is none of that name. */
int first_probe_of(const char *name);

/* At the next probe. */
void stretch_note(struct stretch_log *log, const struct stretch *stretch);
/* Up to that probe, which is 1 at least and not behind the log's. */
const struct stretch *stretch_up_to(const struct stretch_log *log, int64_t probe);

/* The notes from that one on, and the other's: a log begins anew with another adaptation. */
cJSON *stretch_log_to_json(const struct stretch_log *log, int from);
void stretch_log_add(struct stretch_log *log, const struct report_stretch *report);

#endif
