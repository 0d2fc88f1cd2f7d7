/* Whether something listens where a job said that it does: for those of other hosts, whose processes cannot be looked
 * at. */
#ifndef EPOP_CTL_REACH_H
#define EPOP_CTL_REACH_H

#include <stdbool.h>

#include "runtime/control/jobs.h"

/* Takes a second at most. */
bool ctl_listens(const struct control_job *job);

#endif
