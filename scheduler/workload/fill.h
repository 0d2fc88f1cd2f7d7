/* What the readers of workloads and the options that change them have in common: works are added, notes taken. */
#ifndef SCHEDULER_WORKLOAD_FILL_H
#define SCHEDULER_WORKLOAD_FILL_H

#include <stdint.h>

#include "runtime/base/error.h"
#include "scheduler/workload/workload.h"

/* Each returns -1 when out of memory. */

/* A new work, all 0; valid until the next one is added. */
struct work *workload_add(struct workload *workload);
/* A line of `notes`, without its end. */
int workload_note(struct workload *workload, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* By submission, then id. */
void workload_sort(struct workload *workload);
/* Two jobs with one number: *id is it. Works need not be in order. */
bool workload_has_twins(const struct workload *workload, int64_t *id);

/* A phase that takes `seconds` at `wanted` nodes, at any size; seconds > 0. The speedup is copied, its points too. */
int work_one_phase(struct work *work, const char *name, double seconds, const struct speedup *speedup);
/* Every size from min to max. */
void work_set_range(struct work *work, int min, int max);
int speedup_copy(struct speedup *copy, const struct speedup *speedup);

/* Node seconds at the wanted sizes over what the machine has from the first submission to the last; infinite when all
 * come at once. */
double workload_load(const struct workload *workload);

/* A number from 0 to 1 (excluded) that follows from these three alone: `what` names what it is drawn for. */
double drawn(uint64_t seed, int64_t id, const char *what);

#endif
