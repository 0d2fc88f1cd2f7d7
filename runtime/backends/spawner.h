/*
 * The call of MPI_Comm_spawn, and what the new processes are told then. With a helper thread: tasks one after the
 * other, each a thread that waits for the one before, so that nobody but the window waits for them.
 */
#ifndef EPOP_SPAWNER_H
#define EPOP_SPAWNER_H

#include <cjson/cJSON.h>
#include <mpi.h>

#include "runtime/backends/launcher.h"
#include "runtime/base/error.h"

/* The present directory is that of the processes that will be spawned. */
void spawner_set_job(const struct launcher_job *job);

/* Is what would be spawned there? 0, or -1 with the reason: the process manager does not tell. Local; any thread. */
int spawner_check(struct error *error);

/* Spawns `count` processes with numbers from `first` on. plan: for joiners that come in the window, else NULL.
 * Collective over comm; its rank 0 is the root. MPI_COMM_NULL with one line of text if MPI could not. */
MPI_Comm spawner_spawn(MPI_Comm comm, int adaptation, int first, int count, const cJSON *plan, struct error *error);

/* The other side: reads what the spawning ranks tell. The JSON is the caller's. Collective over the spawned. */
cJSON *spawner_listen(MPI_Comm parent);

/* Has the helper thread spawn over comm. keep: the intercommunicator stays, for spawner_take or spawner_drop; else it
 * is disconnected at once. The coordinator is told if MPI could not. Local; any thread, one at a time. */
void spawner_begin(MPI_Comm comm, int adaptation, int first, int count, bool keep);

/* Waits for the helper thread; the intercommunicator is the caller's then. */
MPI_Comm spawner_take(void);

/* The joining is off: has the helper thread disconnect. Local. */
void spawner_drop(void);

#endif
