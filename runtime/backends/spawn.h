/*
 * The spawn backend: MPI_Comm_spawn from inside the job, the way that join is compared with. Its options give the
 * alternatives of Martin-Alvarez, Aliaga, Castillo, Iserte, "Dynamic spawning of MPI processes applied to malleability"
 * (2023).
 */
#ifndef EPOP_BACKENDS_SPAWN_H
#define EPOP_BACKENDS_SPAWN_H

#include <stdbool.h>

struct joining;
struct launcher_job;

enum spawn_method {
    SPAWN_MERGE,   /* the old ranks stay, and new processes come to them */
    SPAWN_BASELINE /* all ranks are replaced by new processes */
};

enum spawn_strategy {
    SPAWN_PLAIN, /* all ranks spawn together */
    SPAWN_SINGLE /* rank 0 spawns alone, and the others connect to a port */
};

struct spawn_options {
    enum spawn_method method;
    enum spawn_strategy strategy;
    bool async; /* a helper thread spawns while the ranks compute; needs MPI_THREAD_MULTIPLE */
};

/* Before the backend is used. The strings stay the caller's. */
void spawn_init(const struct spawn_options *options);
void spawn_set_job(const struct launcher_job *job);

/* Was this process spawned to join a running job? Then it hears what for. Collective over the processes spawned. */
bool spawn_joining(struct joining *joining);

#endif
