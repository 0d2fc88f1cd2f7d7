/*
 * The driver interface: a table of hooks around the walk through a program.
 *
 * A driver is such a table, built in or in a shared object of your own (`--driver ./mine.so`).
 * docs/reference/drivers.md shows how to write one.
 */
#ifndef EPOP_DRIVER_H
#define EPOP_DRIVER_H

#include <epop/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Positions and options --------------------------------------------------------------- */

/* The version of the table; another one is refused. */
#define EPOP_DRIVER_ABI_VERSION 3u

/* Where a process is in the program. */
typedef struct epop_position {
    const epop_program_t *program;
    int pc;            /* of the present element */
    int64_t visit;     /* elements entered so far, without INIT */
    int64_t iteration; /* of the present visit, from 0 */
    int rank, size;    /* in the present world; -1 and 0 before there is one */
} epop_position_t;

/* The blocks of an element. */
typedef enum epop_block {
    EPOP_BLOCK_INIT = 0,
    EPOP_BLOCK_ADAPT = 1,
    EPOP_BLOCK_EXEC = 2,
    EPOP_BLOCK_LOOP = 3,
    EPOP_BLOCK_BRANCH = 4
} epop_block_t;

/* What `loaded` returns to say: do not walk, all is done. */
#define EPOP_DRIVER_DONE (-1)

/* An option on the command line. */
typedef struct epop_driver_option {
    const char *name;     /* without dashes */
    const char *argument; /* as shown by --help; NULL: none */
    const char *help;     /* one line */
} epop_driver_option_t;

/* A flag: never walks, needs neither MPI nor a launcher. */
#define EPOP_DRIVER_NO_WALK 1u

/* What `option` may return: the program runs, up to the end of INIT, whatever the flags say. */
#define EPOP_DRIVER_INIT (-2)

/* ---- An adaptation in one process ----------------------------------------------------------- */

/* Bytes that the library moved between this process and another one. */
typedef struct epop_traffic {
    int process; /* the other one's number in the job */
    int64_t sent, received;
} epop_traffic_t;

/* The bytes of one described array. */
typedef struct epop_array_traffic {
    const char *name;
    int64_t sent, received;
    int64_t least; /* had to be received in any case */
    int64_t ahead; /* received before the window, not counted above */
} epop_array_traffic_t;

/* What `adapted` is told; what an adapt block sends by MPI itself is not included. */
typedef struct epop_adapted {
    int adaptation;                             /* its number in the job, from 1 */
    int process;                                /* this process's number in the job */
    int old_rank, old_size, new_rank, new_size; /* rank -1: no member */
    const epop_traffic_t *traffic;              /* above 0 */
    int traffic_count;
    int64_t least; /* bytes that had to be received in any case */
    /* Nanoseconds of CLOCK_MONOTONIC: when this process learned of the adaptation, when the library began and ended to
     * move data (0: it did not), and before and after epop_adapt_commit. */
    int64_t decided, move_begin, move_end, commit_begin, commit_end;
    const epop_array_traffic_t *arrays; /* the described arrays */
    int array_count;
} epop_adapted_t;

/* ---- The job, as process 0 sees it ----------------------------------------------------------- */

/* A result of `record`. */
typedef struct epop_record {
    int process;
    const char *text;
} epop_record_t;

/* An adaptation. Times are seconds since 1970, or 0 if it has not come to that. */
typedef struct epop_adaptation {
    int id, from, to;
    const char *state; /* "preparing", "prepared", "window", "committed", "failed", "cancelled" */
    const char *by;    /* who asked: "epopctl", "program", "phase", "option" ... */
    int pc;            /* -1: not known yet */
    int64_t visit, iteration;
    const char *reason; /* why it failed or was cancelled; "" */
    double requested, prepared, agreed, committed;
    double stall;     /* the most seconds that a staying rank stood still; if none stays: that no rank computed */
    int balance;      /* non-zero: nobody comes or goes, and data is dealt out anew */
    double imbalance; /* of that: the longest that a rank had to compute over the mean; 0: not known yet */
} epop_adaptation_t;

/* A request that was refused. */
typedef struct epop_refusal {
    double time; /* seconds since 1970 */
    const char *reason;
} epop_refusal_t;

/* A fault after which `epop --recover` started the job again, before this start. */
typedef struct epop_recovery {
    double time; /* of the fault, seconds since 1970 */
    const char *reason;
    const char *from;   /* "memory", "file" or "beginning" */
    int number, size;   /* number of the checkpoint, or 0; ranks started */
    int64_t iterations; /* lost */
    double lost;        /* seconds from the checkpoint to the fault */
    double seconds;     /* from the fault to the first iteration */
} epop_recovery_t;

/* A complete checkpoint. */
typedef struct epop_checkpoint {
    int number;        /* counts on over restarts */
    const char *level; /* "file" or "memory" */
    const char *path;  /* of the file; "" */
    int pc;
    int64_t visit, iteration; /* the next one */
    int64_t bytes;            /* of all ranks */
    double time;              /* seconds since 1970 */
    double seconds, stall;    /* seconds that it took; that the ranks stood still */
} epop_checkpoint_t;

/* How the job ended. */
typedef enum epop_job_end {
    EPOP_JOB_RUNNING, /* it has not */
    EPOP_JOB_ENDED,
    EPOP_JOB_STOPPED,
    EPOP_JOB_FAILED
} epop_job_end_t;

/* What `write` is given. */
typedef struct epop_job {
    const char *id, *path;
    const char *backend; /* NULL: a program without MPI */
    int size;            /* ranks at the start */
    double started, now; /* seconds since 1970 */
    epop_job_end_t end;
    const char *reason; /* why it was stopped or failed; else NULL */
    int quiet;          /* print errors only */
    const epop_adaptation_t *adaptations;
    int adaptation_count;
    const epop_refusal_t *refusals;
    int refusal_count;
    const epop_record_t *records; /* of this driver, sorted by process */
    int record_count;
    const epop_recovery_t *recoveries; /* before this start */
    int recovery_count;
    const epop_checkpoint_t *checkpoints; /* of this start */
    int checkpoint_count;
} epop_job_t;

/* ---- The table ---------------------------------------------------------------------------- */

/* A driver. Hooks may be NULL. They get what `open` stored as `state`, and run in the program's thread on every rank; a
 * hook that communicates on epop_world() must do so on all ranks. */
typedef struct epop_driver {
    unsigned abi_version; /* EPOP_DRIVER_ABI_VERSION */
    unsigned struct_size; /* sizeof(epop_driver_t) */
    const char *name;     /* mandatory */
    const char *summary;  /* one line for --help */
    unsigned flags;
    const epop_driver_option_t *options; /* ends with a NULL name; may be NULL */

    /* The first three return 0 or an error number. */
    int (*open)(void **state);                                       /* first; MPI is not up */
    int (*option)(void *state, const char *name, const char *value); /* for each option given */
    /* The program is valid, and nothing of it has run. `rank` is the process's number in the launch. */
    int (*loaded)(void *state, const epop_program_t *program, int rank);
    void (*element_enter)(void *state, const epop_position_t *position); /* every element */
    void (*element_leave)(void *state, const epop_position_t *position);
    void (*iteration_begin)(void *state, const epop_position_t *position); /* after the probe */
    void (*iteration_end)(void *state, const epop_position_t *position);
    void (*adaptation_begin)(void *state,
                             const epop_position_t *position); /* around the adapt block, on all its ranks */
    void (*adaptation_end)(void *state, const epop_position_t *position);
    void (*finished)(void *state, const epop_position_t *position); /* the walk ended well */
    void (*failed)(void *state, const epop_position_t *position, int error);
    void (*close)(void *state); /* last; frees the state */

    /* While a probe stands still, or a joining process waits: for an agreement, a pause or an adaptation. If the rank
     * is -1 at the end, this process has left. */
    void (*hold_begin)(void *state, const epop_position_t *position);
    void (*hold_end)(void *state, const epop_position_t *position);
    /* What the adapt block moved; before adaptation_end. */
    void (*adapted)(void *state, const epop_position_t *position, const epop_adapted_t *adapted);
    /* Explains the error number that a hook has just returned in a line, or returns NULL. */
    const char *(*explain)(void *state);

    /* Returns, for `write`, the results of this process as text from malloc(), or NULL. `last`: it leaves the program,
     * or the program has ended; later results start afresh. Otherwise another thread calls, while the program runs,
     * hangs or has crashed, and the text replaces the previous one. */
    char *(*record)(void *state, int last);
    /* Writes the results of all processes, in process 0 in a thread of its own: at the end, on a failure, and every
     * `checkpoint` seconds. Returns non-zero if it could not, and has said so; at the end the job then has status 1. */
    int (*write)(void *state, const epop_job_t *job);
    double (*checkpoint)(void *state); /* seconds until the next `write`; 0: only the last one */

    /* Around every block, also if it returns an error. */
    void (*block_enter)(void *state, const epop_position_t *position, epop_block_t block, void *data);
    void (*block_leave)(void *state, const epop_position_t *position, epop_block_t block, void *data);
    void (*decided)(void *state, const epop_position_t *position, int answer); /* by a loop condition or branch */
} epop_driver_t;

/* Every driver exports it. The table belongs to the driver and is copied. Local. */
EPOP_EXPORT const epop_driver_t *epop_get_driver(void);

#ifdef __cplusplus
}
#endif
#endif
