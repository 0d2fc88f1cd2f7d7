/* What top shows of what a job has measured. */
#ifndef EPOP_CTL_MEASURED_H
#define EPOP_CTL_MEASURED_H

#include <cjson/cJSON.h>
#include <stdbool.h>

struct ctl_measured {
    char rate[32], mtct[32], trend[32], memory[32]; /* "-" where there is none */
};

/* Of the element that the job is in; where nothing was measured in that, of the one with most iterations. The status
 * has the answer under "measure", or has none. */
void ctl_measured(const cJSON *status, struct ctl_measured *measured);

/* Has measuring begun less than so many seconds before the answer? */
bool ctl_measured_too_short(const cJSON *status, double seconds);

#endif
