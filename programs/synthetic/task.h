/*
 * What synthetic has to do, the same on every rank: phases of iterations, the stages of each iteration, and the resizes
 * that the program itself asks for. Arguments and the .ini files of Proteo fill in the same.
 */
#ifndef SYNTHETIC_TASK_H
#define SYNTHETIC_TASK_H

#include <epop/epop.h>

#include <stdbool.h>

enum { PHASES = 16, STAGES = 64, RESIZES = 64, POINTS = 16, NAME = 32, PATH = 1024 };

/* NOTHING keeps the place of a stage that there is no other for. */
enum kind { SLEEP, PI, MATRIX, POINT, BCAST, ALLGATHERV, REDUCE, ALLREDUCE, NOTHING, KINDS };

/* What becomes of the times that the ranks need for the same iteration. */
enum capture { CAPTURE_MAX, CAPTURE_MEAN, CAPTURE_MEDIAN };

struct stage {
    enum kind kind;
    bool capped;         /* as many operations as fit into the time, not as many as were measured to */
    int64_t bytes;       /* of the one operation; 0: as many of `granularity` bytes as take the time */
    int64_t granularity; /* of one operation: samples, rows of the matrix, or bytes */
    double seconds;      /* on one rank */
    double operation;    /* seconds of one, where it computes */
};

struct phase {
    char name[NAME];
    bool rigid;
    int64_t iterations;
    int first, stages; /* of the task's */
    double mtct;       /* of stages that sleep; < 0: by the speedup */
    bool weak;         /* the time is the same on any number of ranks */
    double serial;     /* < 0: by the points; none: linear */
    int points, ranks[POINTS];
    double speedups[POINTS];
    int min, max;
};

struct resize {
    int64_t at; /* when so many iterations are done */
    int size;
    double factor;  /* on the time of stages from then on */
    bool in_window; /* constant data moves there, too */
};

struct task {
    int phase_count, stage_count, resize_count;
    struct phase phases[PHASES];
    struct stage stages[STAGES];
    struct resize resizes[RESIZES];
    int ranks;             /* to start with; 0: any number */
    double factor;         /* until the first resize */
    int64_t moving, ahead; /* elements that resizes move: in their window, and ahead of it */
    bool table, barriers;  /* times are printed; they are taken between barriers */
    enum capture capture;  /* over the ranks */
    double patience;       /* seconds that a resize is waited for when no iteration is left to be run without it */
    char output[PATH];     /* "": no file */
};

const char *task_kind(enum kind kind);
bool task_computes(const struct stage *stage);
bool task_communicates(const struct stage *stage);

/* One more, the last phase's; NULL: there are too many. */
struct stage *task_add_stage(struct task *task, enum kind kind);
struct phase *task_add_phase(struct task *task, const char *name);

int64_t task_iterations(const struct task *task);
double task_speedup(const struct phase *phase, int ranks);

/* From the arguments, with a line on standard error for what is wrong, and for each key of a file that is not
 * followed. 0 or an EPOP_ERR_. Local. */
int task_read(struct task *task, int argc, char **argv);

#endif
