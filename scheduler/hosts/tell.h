/* What happens is written down, and told to those who watch. */
#ifndef SCHEDULER_HOSTS_TELL_H
#define SCHEDULER_HOSTS_TELL_H

#include "scheduler/hosts/state.h"

/* As the journal has it: "waiting" ... */
const char *hosts_state_text(enum hosts_state state);

/* An event without job, or of one that stays as it is. */
void hosts_tell(struct hosts *hosts, int64_t job, const char *kind, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* All that an event has; its time is now. */
void hosts_tell_event(struct hosts *hosts, struct journal_event event);

/* The job is in this state from now on, in the journal, too. */
void hosts_tell_state(struct hosts_job *job, enum hosts_state state, const char *kind, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
