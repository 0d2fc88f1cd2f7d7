/*
 * Process sets of a job: names for processes, their attributes and dictionaries, and the rules by which they follow
 * resource changes. Processes are numbers here; who has them, and how sets are asked for, is
 * runtime/coordinator/sets.h.
 *
 * Source: D. Huber, Dynamic Processes Management in MPI and PMIx (TU Muenchen 2021), definitions 1 to 5.
 */
#ifndef EPOP_PSETS_H
#define EPOP_PSETS_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "runtime/base/error.h"
#include "runtime/wire/messages.h"

#define PSETS_APP   "mpi://app/"
#define PSETS_RTE   "mpi://rte/"
#define PSETS_WORLD "mpi://WORLD"
#define PSETS_SELF  "mpi://SELF"

enum { PSETS_NAME_MAX = 256 }; /* with its end; as MPI_MAX_PSET_NAME_LEN */

/* Numbers that programs know (epop/mpi_psets.h). */
enum pset_op {
    PSET_OP_NULL = 0,
    PSET_OP_ADD = 1,
    PSET_OP_SUB = 2,
    PSET_OP_REPLACE = 3,
    PSET_OP_GROW = 5,
    PSET_OP_SHRINK = 6,
    PSET_OP_UNION = 7,
    PSET_OP_DIFFERENCE = 8,
    PSET_OP_INTERSECTION = 9,
    PSET_OP_SPLIT = 11,
    PSET_OP_CANCEL = 12
};

struct pset {
    char name[PSETS_NAME_MAX];
    int *members; /* in the order of their ranks; no process twice */
    int count;
    int version, epoch;
    bool active;
    bool stale;                 /* some of its processes have left the job: the rules do not count it any more */
    int accepted;               /* the resource change that its processes accepted last */
    bool delta;                 /* in the domain of the runtime: it describes a resource change */
    bool aborted;               /* so that change is off */
    const struct pset *outcome; /* what the program makes of it; NULL: not said so far */
    cJSON *data;                /* its dictionary: texts by key; and what its attributes mpi_ps_sched_* are */
    cJSON *sched;
};

struct psets {
    struct pset **table; /* in the order in which they were made; none is ever taken out */
    int count;
    int results; /* names given out for results of operations */
};

void psets_init(struct psets *sets);
void psets_destroy(struct psets *sets);

/* NULL: there is none. */
struct pset *psets_find(const struct psets *sets, const char *name);

/* A new set, whose name must be free; NULL with text. The members are copied. */
struct pset *psets_define(struct psets *sets, const char *name, const int *members, int count, struct error *error);

/* A delta process set of an application, for an addition or a subtraction: mpi://rte/APP/rc/EPOCH-WORD, with the epoch
 * of definition 1, or that of `of`, the other one of the same change (NULL: it has none). */
struct pset *psets_define_delta(struct psets *sets, const char *app, const char *word, const int *members, int count,
                                const struct pset *of, struct error *error);

bool pset_has(const struct pset *set, int process);

/* Its new members, which are copied; a version more if they are others. 0, or -1: out of memory. */
int pset_assign(struct pset *set, const int *members, int count);

/* Forgets all delta process sets but the last few: for those whom nobody has seen. */
void psets_prune(struct psets *sets);

/* The processes of `gone` have left the job: sets that have some of them are stale. */
void psets_leave(struct psets *sets, const struct pset *gone);

/* Is it in the domain of that application, which is the predefined set's own name or a path below it? */
bool pset_is_of(const struct pset *set, const char *app);

/* Definitions 2, 3 and 4. They call `each` for every set that qualifies, in the order of the table. */
typedef void pset_each(void *context, struct pset *set);
void psets_malleable(const struct psets *sets, const char *app, pset_each *each, void *context);
void psets_reference_counted(const struct psets *sets, const char *app, const struct pset *delta, pset_each *each,
                             void *context);
void psets_affected(const struct psets *sets, const char *app, const struct pset *of, const struct pset *delta,
                    pset_each *each, void *context);

/* ---- Hints for schedulers ----------------------------------------------------------------------- */

/* Attributes that say how many processes a set needs; PREFERRED_OTHER is the successor's name for PREFERRED. Of one
 * that says PRIORITY nothing comes: psets_operate refuses it. */
#define PSETS_HINT_MIN             "mpi_ps_sched_num_procs_min"
#define PSETS_HINT_MAX             "mpi_ps_sched_num_procs_max"
#define PSETS_HINT_PREFERRED       "mpi_ps_sched_num_procs_pref"
#define PSETS_HINT_PREFERRED_OTHER "mpi_ps_sched_opt"
#define PSETS_HINT_PRIORITY        "mpi_ps_sched_priority"

/* Those of a job: processes. */
struct pset_hints {
    int least;
    int most;      /* 0: there is no bound */
    int preferred; /* 0: none was said */
};

/*
 * The sum over its active sets with hints that are not stale; of sets that share processes the largest counts, or the
 * one made last. A set that does not say its least needs one process; one that says no wish is as large as it wants to
 * be; and so are processes of mpi://WORLD that are in no such set, of which as many stay. False: no set has hints.
 */
bool psets_hints(const struct psets *sets, struct pset_hints *hints);

/* What an operation is to be applied to, and its result given. */
struct pset_request {
    enum pset_op op;          /* UNION, DIFFERENCE, INTERSECTION; or NULL: attributes of the target alone */
    struct pset *a, *b;       /* NULL with NULL */
    struct pset *const *more; /* further operands, one after the other */
    int more_count;
    const char *target;       /* the name that is wanted; NULL: any */
    const char *app;          /* the application */
    const bool *active;       /* NULL: as that of a */
    struct named_texts sched; /* attributes mpi_ps_sched_*, beside those of a */
};

/*
 * Definition 5, and what follows: the result is a new set, or, where the target is a's own name, a new version of it.
 * If b is a delta process set, or a further operand is, all sets that are recursively affected follow. The result, or
 * NULL with text: nothing has changed then.
 */
struct pset *psets_operate(struct psets *sets, const struct pset_request *request, struct error *error);

/* Consecutive parts of a set, so many processes each (their sum at most that of the set): made under names of the
 * application, into parts[count]. 0, or -1 with text. */
int psets_split(struct psets *sets, const char *app, const struct pset *set, const int *sizes, int count,
                struct pset **parts, struct error *error);

#endif
