/* The one place where errors are printed. */
#ifndef SCHEDULER_EPOPSIM_COMPLAIN_H
#define SCHEDULER_EPOPSIM_COMPLAIN_H

#include "runtime/base/error.h"

enum { EXIT_DONE, EXIT_FAILED, EXIT_USAGE };

/* One line, whatever of the input it quotes. Gives the status back. */
int complain(int status, const struct error *error);

#endif
