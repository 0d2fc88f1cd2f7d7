/* Where jobs find the adviser: a port, and a file that names it. */
#ifndef SCHEDULER_SLURM_LISTENING_H
#define SCHEDULER_SLURM_LISTENING_H

#include "runtime/base/error.h"

struct listening {
    int fd;            /* who listens there takes it over */
    char address[320]; /* HOST:PORT, as the file has it */
    char file[4096];
};

/* port 0: that of the last time, which the file `memory` has, if it is free; else any. file NULL: /etc/epop/adviser as
 * root, else `adviser` in the user's shared run directory. -1: a line says why not. */
int listening_begin(struct listening *listening, int port, const char *file, const char *memory, struct error *error);
/* The file goes, unless another adviser has written it meanwhile. */
void listening_end(struct listening *listening);

#endif
