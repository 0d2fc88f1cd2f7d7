/*
 * The agent of an executable that has sessions alone: a thread that probes, holds and goes through windows in the place
 * of the program's, which has no MPI_COMM_WORLD that could change under its hands. When that happens is decided by the
 * program's calls; what it does meanwhile is its own affair.
 */
#ifndef EPOP_ADAPT_AGENT_H
#define EPOP_ADAPT_AGENT_H

#include <mpi.h>
#include <stdbool.h>

/* A world as the program's threads may use it. Who has one keeps it; its communicator is there as long as the world is,
 * which the coordinator knows. */
struct agent_world {
    int id;          /* the adaptation that made it; 0: the first one */
    MPI_Comm comm;   /* of all processes; before a process has joined, of those that it was started with */
    MPI_Group group; /* of comm */
    int *processes;  /* their numbers, by rank; NULL before it has joined */
    int size;
    int users;
};

/* Starts it; joins: in a process that is to join, when it is asked to. Local. */
void agent_start(bool joins);

/* In such a process: let it join. Then: has it? Local. */
void agent_let_join(void);
bool agent_has_joined(void);

/* Has such a process the world that it joins, though the joining may not be through yet? Local. */
bool agent_has_world(void);
/* Waits until it has; and, in one that a change takes out, until it has left. Local. */
void agent_await_joining(void);
void agent_await_leaving(void);

/* Ends a process whose joining is off, quietly: there is nothing that its program could do. Else it returns. Local. */
void agent_end_if_off(void);

/* The present world. Any thread. */
struct agent_world *agent_world_take(void);
/* One of the caller's (processes is taken). */
struct agent_world *agent_world_new(int id, MPI_Comm comm, int *processes, int size);
/* Both are given back; the last user frees it. Any thread. */
void agent_world_drop(struct agent_world *it);

/* Waits until this process is in the world with that number, or in a later one. Local. */
void agent_await_world(int id);

/*
 * Waits for the window of an adaptation: at its end the process is through. opened is called between, when nothing can
 * be called off any more, and before what leaves must have let go of the others. False: it is off. Local.
 */
bool agent_await_change(int adaptation, void (*opened)(void *context), void *context);

/* The process has left the world by a window. Local. */
bool agent_has_left(void);

/* Ends the agent, and in a process that has left, or does not join, its part in the job. Waits for it. Local. */
void agent_stop(void);

/* Does the calling thread run for the agent? */
bool agent_is_it(void);

#endif
