/* Requests that were not answered in time. */
#ifndef EPOP_CTL_LATE_H
#define EPOP_CTL_LATE_H

#include <cjson/cJSON.h>

/* One line on stderr: it was not answered within that time, and how the job is. */
void ctl_complain_late(const cJSON *request, int timeout_ms);

#endif
