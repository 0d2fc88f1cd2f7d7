/*
 * A job of MPI processes: MPI and the control plane come up, every process learns its role, and all come to one
 * end. The glue between members, coordinator, control plane and backend.
 */
#ifndef EPOP_JOB_H
#define EPOP_JOB_H

#include <stdbool.h>
#include <stddef.h>

#include "epop/program.h"
#include "epop/visibility.h"
#include "runtime/backends/spawn.h"
#include "runtime/base/error.h"
#include "runtime/control/clock_offset.h"
#include "runtime/job/elastic.h"
#include "runtime/member/claim.h"

#define EPOP_PRIVATE EPOP_API /* exported for the epop executable; no part of the public interface */

/* Where one is not set, what the environment says (EPOP_CHECKPOINT_EVERY and so on, EPOP_RESTART) holds. */
struct checkpoint_options {
    double every;           /* seconds; 0: only on request */
    double memory;          /* the same in the memory of the hosts; 0: none */
    const char *directory;  /* NULL: the one that the job was started in */
    int keep;               /* complete files that stay; 0: all */
    bool behind;            /* files are written while the ranks go on */
    const char *restart;    /* a file, or a directory of such; NULL: begins anew */
    bool new_arguments;     /* and the arguments need not be those of the file */
    char *const *arguments; /* of the program, behind its name; stays the caller's */
};

struct speed; /* runtime/coordinator/progress.h */

struct job_options {
    int start;              /* ranks that start; 0: all */
    const char *backend;    /* a backend's name, or "auto" */
    const char *leave;      /* what becomes of processes that leave: "auto", "exit" or "park" */
    double prepare_timeout; /* seconds */
    double min_interval;
    double balance; /* as in struct coordinator_config */
    double finish_timeout;
    double watchdog; /* seconds; 0: none */
    bool watchdog_abort;
    bool quiet, verbose;
    bool no_pmix; /* no lib/epop/pmix-gateway */
    struct checkpoint_options checkpoint;
    const char *path;           /* of the program, as given */
    bool executable;            /* with a main() of its own: a joining process may come to a probe that was counted */
    bool sessions;              /* it has sessions alone, and no MPI_COMM_WORLD: an agent adapts in its place */
    bool no_ahead;              /* MPI without the threads that preconnect (runtime/backends/preconnect.h) */
    bool no_ahead_data;         /* constant data moves in the window, too */
    double ahead_limit;         /* seconds for which it may put off the window else */
    const char *measure_to;     /* as in struct coordinator_config */
    const struct speed *speeds; /* of the program's elements, as earlier runs had them; stays the caller's */
    int speed_count;
    int maximum;                /* most ranks, where processes can be started */
    struct spawn_options spawn; /* of the backend spawn */
    const char *elastic;        /* in Slurm: "MIN-MAX" nodes; NULL: $EPOP_ELASTIC (runtime/job/beside.h) */
    bool companions;            /* and those that are missing to MAX are queued at the start */
    char **command;             /* the command line of this process, to start others with; stays the caller's */
};

/* Members of job_options, as they are where nobody says otherwise. */
#define JOB_OPTIONS_USUAL .backend = "auto", .leave = "auto", .maximum = 256, .ahead_limit = 3, .prepare_timeout = 60

/* What a process does next. */
enum job_role {
    JOB_START, /* walks the program from its beginning */
    JOB_JOIN,  /* loads the program afresh, runs INIT, and joins the running ranks */
    JOB_OVER   /* the program has ended everywhere */
};

/* Processes may park in launches of which others run on: gives this one a keeper (runtime/hydra/keeper.h), behind
 * which it begins once more, by that command line. Before MPI. Local. */
EPOP_PRIVATE void epop__job_keep(char **command);

/* Initializes MPI with what threads the job needs, its own threads taking no signals; MPI's error code. Collective. */
int job_init_mpi(const struct job_options *options, int *argc, char ***argv);

/* Initializes MPI, if it is not up; the rank and size of the launch. Collective over the launch, as all functions here
 * but epop__job_fail. */
EPOP_PRIVATE void epop__job_init(const struct job_options *options, int *process, int *processes);

/* Was this process started to join a running job? Then no agreement on loading takes place: a failure is told to the
 * job by epop__job_join. Local. */
EPOP_PRIVATE int epop__job_joins(void);

/*
 * Did loading go well on every process? error is this process's own message, or NULL. If any has one, the first of
 * them prints it, and the result is false on all: MPI is finalized then.
 */
EPOP_PRIVATE int epop__job_all_loaded(const char *error);

/*
 * Chooses backend and starting ranks, makes the first world, and starts the control plane. The program is rank 0's
 * for as long as the job lasts. 0, or -1: the message is printed, MPI finalized.
 */
EPOP_PRIVATE int epop__job_start(const struct job_options *options, const epop_program_t *program);

/* Can there be more ranks again, where some have left? Local. */
EPOP_PRIVATE int epop__job_grows(void);

/* Waits for this process's next role; the first call does not wait on starting ranks. */
EPOP_PRIVATE enum job_role epop__job_next(void);

/* In the role JOB_JOIN: makes the joiners' world. failure: why this process cannot go on, or NULL. False when one
 * of the joiners cannot: then no INIT is run. */
EPOP_PRIVATE int epop__job_join(const char *failure);

/* Who measures MPI tells how many seconds the program's thread has spent in it so far; NULL: nobody does. Local. */
EPOP_PRIVATE void epop__job_mpi_time(double (*seconds)(void));

/* The table for the walk. */
EPOP_PRIVATE const struct elastic *epop__job_elastic(void);

/* The walk has ended here: waits until it has ended on every rank. */
EPOP_PRIVATE void epop__job_ended(void);

/* This process left the program. Is it the one that may not end, as it hosts the control plane? Then it stands by from
 * here on, with the program loaded, which the coordinator reads. Local. */
EPOP_PRIVATE int epop__job_hosts(void);

/* How this process's clock and that of process 0 differ (runtime/control/clock_offset.h). 0 or -1. Local. */
EPOP_PRIVATE int epop__job_clock(struct clock_reading *reading);

/* The directory for files of this job on this host, for its user alone: the same in all its processes here. Made if it
 * is missing. A descriptor that marks it as in use (runtime/control/control.h), or -1 with text. Local. */
EPOP_PRIVATE int epop__job_directory(const char *purpose, char *path, size_t size, struct error *error);

/* Does this process end now that it left (or does it park)? reusable: it is without a trace of the program. Local. */
EPOP_PRIVATE int epop__job_leaves(int reusable);

/* What this process of an executable did up to its probes, from that note on, for the coordinator. Local. */
void epop__job_stretch(const struct stretch_log *log, int from);
/* The adaptation of which the coordinator knows what it wanted to know by that, the last one. Local. */
int epop__job_settled(void);

/* This process left the program, which is unloaded: ends it, and does not return. Local. */
EPOP_PRIVATE void epop__job_leave(void) __attribute__((noreturn));

/* A descriptor that children which the program forks do not get (runtime/base/child.h). Any thread. */
EPOP_PRIVATE void epop__job_child_without(const int *fd);

/* A child of a driver's goes on when this process has ended; others are ended with it (runtime/hydra/holders.h). Any
 * thread. */
EPOP_PRIVATE void epop__job_spare(int pid);

/* This process left the program, or does not join: the job goes on without it, and it may end. Local. */
void epop__job_detach(void);

/* Behind that, in a process that runs on: the process manager, too, is told that it is through, and a crash is printed
 * and ends it with 0. MPI works on as long as it needs no other process. Local. */
void epop__job_alone(void);

/* Then: waits until the job has ended. Any thread. */
void epop__job_await_end(void);

/* This process left the program (or its joining is off), which is unloaded; reusable: without a trace. */
EPOP_PRIVATE void epop__job_parked(int reusable);

/* Ends control plane and MPI. Returns the exit status: that of the job, which all processes share, or in process 0 that
 * of a launcher that failed. */
EPOP_PRIVATE int epop__job_close(void);

/* The same for a process that runs on: as MPI_Finalize. */
int epop__job_finalize(void);

/* With the debug driver, before the job starts: roll calls are held, as *options says (it stays the caller's). */
EPOP_PRIVATE void epop__job_call_rolls(const struct rollcall_options *options);

/* A roll call (runtime/member/member.h). Nothing happens in a program that runs alone. The program's thread. */
EPOP_PRIVATE void epop__job_rollcall(const struct claim *claim);

/* This process breaks the contract, as one line of text says: the job ends with it. With rollcall_options.warns
 * it is only told of. */
EPOP_PRIVATE void epop__job_breach(const char *text);

/* The job failed in this process: ends all processes with status 1. Of several that fail, one is heard: the first
 * whose text reaches the coordinator. Does not return. */
EPOP_PRIVATE void epop__job_fail(const char *text) __attribute__((noreturn));

/*
 * Who walks a program, or the elastic MPI calls, is told of an exit() that the job does not expect: in this process,
 * not in one that it forked, on a thread that is in no function of MPI (where the library gave up, and has said why),
 * and not where it ends the job.
 */
struct job_exits {
    void (*exits)(int status);
    /* The process ends at once, perhaps in a signal handler, by such a call: "_exit(0)". What is to be said of it, or
     * NULL where it may. */
    const char *(*quits)(const char *call);
};

/* Once per process; before INIT, so that handlers of the program have run by then. The structure stays the caller's. */
EPOP_PRIVATE void epop__job_watch_exit(const struct job_exits *exits);

/* The program called exit() here, as one line of text says: as epop__job_fail; but a joining process that is not
 * connected yet is missed like any that dies. Returns in that one alone. */
EPOP_PRIVATE void epop__job_exits(const char *text);

/* The table for a program without MPI, or without a launch: one process, no control plane; SIGTERM stops it. */
EPOP_PRIVATE const struct elastic *epop__solo_elastic(void);

/* After it has ended: who stopped it early, or NULL. */
EPOP_PRIVATE const char *epop__solo_stopped_by(void);

#endif
