/* Jobs that begin when others have ended well (epoprm submit --after): until then the core does not know of them. */
#ifndef SCHEDULER_HOSTS_AFTER_H
#define SCHEDULER_HOSTS_AFTER_H

#include "scheduler/hosts/state.h"

/* Can a job come after these (ends with 0; NULL: none)? -1: one was never submitted, or has not ended well. */
int hosts_after_check(const struct hosts *hosts, const int64_t *after, struct error *error);

/* Which it comes after, by the journal. */
int hosts_after_read(struct hosts_job *job, struct error *error);

/* Of those that it comes after the ones that have ended well are struck out. */
enum after {
    AFTER_WAITS, /* still, or it comes after none */
    AFTER_READY, /* the last one has ended */
    AFTER_NEVER  /* one has not ended well: why */
};
enum after hosts_after_look(struct hosts_job *job, char why[HOSTS_REASON_MAX]);

#endif
