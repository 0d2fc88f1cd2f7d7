/*
 * The engine: what starts processes on hosts. Hydra does it for MPICH, and PRRTE for Open MPI. Which one it has to be
 * follows from the MPI library that is in this process, so that one build with MPI's standard interface goes with both.
 */
#ifndef EPOP_LAUNCH_ENGINE_H
#define EPOP_LAUNCH_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct engine {
    const char *maker;       /* of the MPI library whose processes it starts */
    const char *name;        /* of the launcher, for messages */
    const char *mpiexec;     /* the command */
    const char *signs[3];    /* variables of a process that it started; NULL: no more */
    const char *size, *rank; /* likewise: of them those with these numbers */
    const char *host_option; /* of mpiexec, before a list of hosts */
    int failure;             /* the status of mpiexec where it fails itself; 0: it has none of its own */

    /* May one process of a launch end while the others run on? Local. */
    bool (*can_leave)(void);

    /* Tells it that this process ends from here on, which no other waits for: MPI must not be used any more. Then no
     * other process of that launch may call MPI_Finalize either. */
    void (*finalize)(void);

    /* Does mpiexec wait for ever for what it has started to reach hosts? As hydra_failed and hydra_is_alone. */
    bool (*failed)(pid_t mpiexec, char *name, size_t name_size, int *status);
    bool (*is_alone)(pid_t mpiexec);
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

/* Tells it, and ends the process with `status`. */
void engine_leave(int status) __attribute__((noreturn));

#endif
