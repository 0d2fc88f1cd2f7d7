/* What jobs are counted for, and what each account has used by the journal, which outlives the daemon. */
#ifndef SCHEDULER_HOSTS_ACCOUNTS_H
#define SCHEDULER_HOSTS_ACCOUNTS_H

#include "runtime/base/error.h"
#include "scheduler/core/shares.h"
#include "scheduler/journal/journal.h"

/* A job's account by what its user has said, which may be NULL or "": then the name of this user. */
const char *accounts_of(const char *said);

/* Shares as epoprm start was told them, with what was used until `now`. The caller's to free. */
int accounts_read(struct shares *shares, const char *text, double half_life, double now, struct journal *journal,
                  struct error *error);

#endif
