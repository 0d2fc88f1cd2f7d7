/*
 * Which mpiexec starts processes: that of EPOP_MPIEXEC, else the one of the build. The epop executable starts itself
 * again under it, and the runtime its joiners.
 */
#ifndef EPOP_MPIEXEC_H
#define EPOP_MPIEXEC_H

#include <limits.h>

/* As it was asked for: a path, or a name to look for in PATH. Local. */
const char *mpiexec_name(void);

/*
 * Where that is now: an absolute path without links, since Hydra looks for its proxy beside it. 0; or -1 with path ""
 * where there is no such file that can be executed. Local.
 */
int mpiexec_find(char path[PATH_MAX]);

#endif
