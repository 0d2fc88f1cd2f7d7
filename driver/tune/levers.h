/*
 * What the knobs of the search are in this process: tunables of the program, control variables of MPI, OpenMP threads,
 * and the number of ranks, which is not set here. Every process of the job has the same ones, in the same order.
 */
#ifndef TUNE_LEVERS_H
#define TUNE_LEVERS_H

#include <epop/program.h>
#include <stdbool.h>

#include "driver/tune/search.h"
#include "runtime/base/error.h"

enum lever_kind { LEVER_TUNABLE, LEVER_CVAR, LEVER_THREADS, LEVER_RANKS };

struct lever {
    enum lever_kind kind;
    char name[64];
    int index;    /* of the tunable */
    void *handle; /* of the control variable */
};

struct levers {
    struct lever all[SEARCH_KNOBS];
    struct knob knobs[SEARCH_KNOBS];
    int count;
};

/* Values as the command line has them: 1,2,4 or 1-4 or both. The number read, in rising order, or -1. Local. */
int levers_read_list(const char *text, int *values, int most);

/* A control variable of MPI, by NAME=LIST, and the threads of a rank; before levers_find. -1: with text. Local. */
int levers_add_cvar(struct levers *levers, const char *text, struct error *error);
int levers_add_threads(struct levers *levers, const char *text, struct error *error);
/* The sizes on the list that these rules accept. */
int levers_add_ranks(struct levers *levers, const char *text, const epop_sizes_t *sizes, struct error *error);

/* The tunables that the program has registered. Local. */
void levers_add_tunables(struct levers *levers);

/* When the program is about to begin: what all of them are now is what they are usually. Local. */
void levers_begin(struct levers *levers, int ranks);

/* Sets all but the number of ranks, which is returned; 0: it is no knob. */
int levers_set(const struct levers *levers, const struct setting *setting);

/* Sets a control variable of MPI, or the threads of a rank, by its name; EPOP_ERR_STATE if there is none, or it cannot
 * be set. Local. */
int levers_set_cvar(const char *name, int value);
int levers_set_threads(int count);

/* Is MPI up in this process? Else it is alone. Local. */
bool levers_have_mpi(void);

void levers_free(struct levers *levers);

#endif
