/*
 * How an element of a program speeds up with the nodes that it has: models of the literature, or a table that was
 * measured.
 *
 * Amdahl: G. Amdahl, AFIPS 1967. Downey: A. Downey, "A model for speedup of parallel programs", UC Berkeley 1997: A is
 * the average parallelism, sigma the coefficient of its variance.
 */
#ifndef SCHEDULER_WORKLOAD_SPEEDUP_H
#define SCHEDULER_WORKLOAD_SPEEDUP_H

#include <stdbool.h>

#include "runtime/base/error.h"

enum speedup_model { SPEEDUP_LINEAR, SPEEDUP_AMDAHL, SPEEDUP_DOWNEY, SPEEDUP_TABLE };

struct speedup_point {
    int nodes;
    double speedup, mtct; /* mtct < 0: follows from the speedup */
};

struct speedup {
    enum speedup_model model;
    double serial;                /* AMDAHL: the share that does not speed up */
    double parallelism, sigma;    /* DOWNEY: A and sigma */
    struct speedup_point *points; /* TABLE: ascending; 1 at one node; between two of them a straight line; beyond
                                     the last it stays; owned */
    int count;
};

/* At least 1 node. Speedup over one node, above 0. */
double speedup_at(const struct speedup *speedup, int nodes);

/* MPI time to compute time: what does not speed up is time in MPI, nodes / speedup - 1, but where a table says it. */
double speedup_mtct(const struct speedup *speedup, int nodes);

/* -1: no memory; its points are the copy's own. */
int speedup_copy(struct speedup *copy, const struct speedup *speedup);

/* ---- Models by their names ---------------------------------------------------------------------- */

/* As in options. The parallelism may be told as a multiple of the nodes that a job wants. */
struct speedup_rule {
    bool set;
    struct speedup speedup;
    bool relative; /* DOWNEY: `parallelism` times the wanted nodes */
};

/* "linear", "amdahl:serial=0.05", "downey:A=2w,sigma=0.5" (2w: twice the wanted nodes; A=64: of every job). */
int speedup_rule_parse(struct speedup_rule *rule, const char *text, struct error *error);

#endif
