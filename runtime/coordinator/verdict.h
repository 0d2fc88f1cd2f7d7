/*
 * Is the first probe of joining processes the next one of all, or that of their commit once more? By what everybody did
 * in MPI up to his first probes. No state, no messages.
 */
#ifndef EPOP_COORDINATOR_VERDICT_H
#define EPOP_COORDINATOR_VERDICT_H

#include <stdbool.h>

#include "runtime/member/stretch.h"

struct evidence {
    const struct stretch *staying; /* up to their first probe, say */
    int stayed;
    const struct stretch *first, *second; /* of the joining ones: up to that one, and up to the one behind */
    int joined;
};

struct verdict {
    enum first_probe what;
    bool sure; /* with the other one what is sent would not be what is received */
    bool open; /* nothing speaks against either; later probes may */
};

struct verdict verdict_of(const struct evidence *e);

#endif
