/*
 * Faults that a run is given, a line each:
 *   at 120 node 3 fails
 *   at 500 node 3 returns
 *   resize of job 7 refused          (its next one; "resize 2 of job 7 refused": its second)
 * Empty lines, and what follows a #, are nothing.
 */
#ifndef SCHEDULER_SIMULATED_SCRIPT_H
#define SCHEDULER_SIMULATED_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/error.h"

struct node_fault {
    double time;
    int node;
    bool up;
    int line; /* of the file */
};

struct resize_fault {
    int64_t job;
    int number; /* of its resizes, from 1 */
    int line;   /* of the file */
};

struct script {
    struct node_fault *nodes; /* by time */
    size_t node_count;
    struct resize_fault *resizes;
    size_t resize_count;
};

/* -1: the line names the file and the number of the line. */
int script_read(struct script *script, const char *path, struct error *error);
void script_free(struct script *script);

#endif
