/*
 * The engine: what starts processes on hosts. Hydra does it for MPICH, and PRRTE for Open MPI. Which one it has to be
 * follows from the MPI library that is in this process, so that one build with MPI's standard interface goes with both.
 */
#ifndef EPOP_LAUNCH_ENGINE_H
#define EPOP_LAUNCH_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "runtime/base/error.h"

#define ENGINE_OPTIONS_MAX 16

struct engine {
    const char *maker;                   /* of the MPI library whose processes it starts */
    const char *name;                    /* of the launcher, for messages */
    const char *mpiexec;                 /* the command */
    const char *signs[3];                /* variables of a process that it started; NULL: no more */
    const char *size, *rank;             /* likewise: of them those with these numbers */
    const char *local_size, *local_rank; /* of the processes on this host */
    const char *host_option;             /* of mpiexec, before a list of hosts */
    int failure;                         /* the status of mpiexec where it fails itself; 0: it has none of its own */

    /* For that, and before MPI_Init: has it let processes leave. No other thread runs. NULL: nothing is to be done. */
    void (*prepare)(void);

    /* When MPI is up: has this process end when the launcher is killed. NULL: the launcher does. */
    void (*follow)(void);

    /* May one process of a launch end while the others run on? Local. */
    bool (*can_leave)(void);

    /* Tells it that this process ends from here on, which no other waits for: MPI must not be used any more. Then no
     * other process of that launch may call MPI_Finalize either, but by this. */
    void (*finalize)(void);
    bool ends_mpi; /* after it MPI cannot be used indeed, not even by a process alone */

    /* Does mpiexec wait for ever for what it has started to reach hosts? As hydra_failed and hydra_is_alone. */
    bool (*failed)(pid_t mpiexec, char *name, size_t name_size, int *status);
    bool (*is_alone)(pid_t mpiexec);

    /* ---- A further mpiexec, whose processes are to join this one's ---- */

    /* Can it start some? 0, or -1 with the reason. Local. */
    int (*can_start)(struct error *reason);

    /* How many options it needs to start them as this one was, and which: they are never freed. Call it once. Local. */
    int (*options)(char *options[ENGINE_OPTIONS_MAX]);

    /* As hydra_tether and hydra_launch_by; NULL: it is not needed, or cannot be. */
    char *(*tether)(const char *mpiexec, char **options, int *count, char *path, size_t size);
    int (*launch_by)(char **options, int *count, char *launcher, char *program);

    const char *const *variables; /* the beginnings of those of one launch alone; NULL: no more */
    int end;                      /* the signal at which mpiexec, told twice, ends its processes */
    bool session;                 /* it must be in one of its own */
    bool counts;                  /* it starts no more than it has slots for, and says so */
    bool forgets; /* on a host that all processes of a launch have left none can be connected to its others */

    /* Are words of its processes on the output of this launch by themselves, and not of that mpiexec alone? Local. */
    bool (*shows)(void);
};

extern const struct engine engine_hydra, engine_prrte;

/* Whose library is in this process: "MPICH", "Open MPI", or "" (runtime/backends/device.h). It is MPICH's until this is
 * called. Local. */
void engine_for(const char *maker);

/* That of the MPI library. */
const struct engine *engine(void);

/* Was this process started by it? Local. */
bool engine_started_this(void);

/* The i-th there is; NULL: there are no more. */
const struct engine *engine_number(size_t i);

/* As `prepare` of the present one, if it has that. */
void engine_prepare(void);

/* Tells it, and ends the process with `status`. */
void engine_leave(int status) __attribute__((noreturn));

/* A process that ends later, and uses MPI by itself until then, tells it in two steps: it is alone, and it is done with
 * MPI. Either may be the one at which it is told. */
void engine_alone(void);
void engine_done(void);

#endif
