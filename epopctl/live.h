/* What watch and top show of a job. */
#ifndef EPOP_CTL_LIVE_H
#define EPOP_CTL_LIVE_H

#include <cjson/cJSON.h>
#include <stddef.h>

struct ctl_live {
    char progress[32], left[32], mtct[32], resize[64]; /* "-" where there is none */
};
void ctl_live(const cJSON *status, struct ctl_live *live);
/* One line, no longer than the terminal is wide. */
void ctl_live_line(const cJSON *status, char *text, size_t size);

#endif
