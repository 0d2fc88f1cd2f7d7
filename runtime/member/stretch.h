/*
 * What a process did in MPI between a commit and one of its first probes. Of all processes of a world together it tells
 * whether these probes are the same one: what is sent is received, and who meets, meets equally often.
 */
#ifndef EPOP_MEMBER_STRETCH_H
#define EPOP_MEMBER_STRETCH_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

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

/* What a process says at its first probes after a commit. */
struct stretch_report {
    int adaptation;
    int probe;             /* 1 or 2 */
    bool joins;            /* a joining process, which says it at both */
    enum first_probe what; /* it is told, and nothing was observed */
    struct stretch stretch;
};

const char *first_probe_name(enum first_probe what);
/* -1: there is none of that name. */
int first_probe_of(const char *name);

cJSON *stretch_report_to_json(const struct stretch_report *report);
struct stretch_report stretch_report_from_json(const cJSON *json);

#endif
