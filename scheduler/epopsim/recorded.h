/* A file of recorded runs, whose decisions are to come again. */
#ifndef SCHEDULER_EPOPSIM_RECORDED_H
#define SCHEDULER_EPOPSIM_RECORDED_H

#include <cjson/cJSON.h>
#include <stddef.h>
#include <stdio.h>

#include "runtime/base/error.h"
#include "scheduler/simulated/schedule.h"

struct recorded {
    const char *path;
    struct schedule *runs;
    size_t count;
    cJSON *json; /* the whole file */
};

/* recorded_free is to be called in either case. */
int recorded_read(struct recorded *recorded, const char *path, struct error *error);
void recorded_free(struct recorded *recorded);

/* A line for each option that is another now; `now` is the head of what would be written. */
void recorded_differences(FILE *file, const struct recorded *recorded, const cJSON *now);

/* As --policy would name the recorded ones. Each is the caller's to free. */
int recorded_policies(const struct recorded *recorded, char ***words, size_t *count, size_t *room, struct error *error);

/* The run of the policy of that name, with those options. -1: there is none. */
int recorded_find(const struct recorded *recorded, const char *name, const char *spec, const struct schedule **run,
                  struct error *error);

#endif
