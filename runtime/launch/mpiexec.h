/*
 * Which mpiexec starts processes: that of EPOP_MPIEXEC, else the one of the build, or of the MPI library that is met at
 * run time (engine.h). The epop executable starts itself again under it, and the runtime its joiners.
 */
#ifndef EPOP_MPIEXEC_H
#define EPOP_MPIEXEC_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* As it was asked for: a path, or a name to look for in PATH. Local. */
const char *mpiexec_name(void);

/*
 * Where that is now: an absolute path without links, since Hydra looks for its proxy beside it. 0; or -1 with path ""
 * where there is no such file that can be executed. Local.
 */
int mpiexec_find(char path[PATH_MAX]);

/*
 * Was this process started, with others, by a launcher that the MPI library does not know: another MPI's, or srun
 * without PMI? The library takes each of them for a job of one rank. Then true, with a line that says so, and whether
 * it is for this process to say. Local.
 */
enum { MPIEXEC_LINE = 400 };
bool mpiexec_is_foreign(char *line, size_t size, bool *speaks);

#endif
