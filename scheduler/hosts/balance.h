/*
 * A balance of a job, which the core has decided instead of taking what is measured while its ranks are uneven. Nothing
 * of it is in the journal but what happened: a daemon that starts again has the job measured anew.
 */
#ifndef SCHEDULER_HOSTS_BALANCE_H
#define SCHEDULER_HOSTS_BALANCE_H

#include "scheduler/hosts/state.h"

/* Asks the job for it; one that cannot be asked has refused. */
void hosts_balance_begin(struct hosts_job *job, const struct decision *decision);

/* What the job says meanwhile, and its answer. */
void hosts_balance_event(struct hosts_job *job, const cJSON *what);
void hosts_balance_answer(struct hosts_job *job, const cJSON *answer);

/* The job cannot be heard any more: whether it balances or not, it is as before. */
void hosts_balance_lose(struct hosts_job *job);

/* A sample has come: what came of the last balance is told, and a balance that is due is decided. Does the sample
 * count?
 */
bool hosts_balance_sampled(struct hosts_job *job);

/* Its status says whether a balance may help. */
void hosts_balance_status(struct hosts_job *job, const cJSON *status);

#endif
