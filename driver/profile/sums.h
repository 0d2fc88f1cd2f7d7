/* Sums over ranks, as they stand in the profile. */
#ifndef DRIVER_PROFILE_SUMS_H
#define DRIVER_PROFILE_SUMS_H

#include <cjson/cJSON.h>

/* What was measured in one element at one world size. */
struct world {
    int size;
    double *loop, *mpi, *visits, *iterations; /* by rank, times in seconds; negative: nothing is known of the rank */
    cJSON *functions;                         /* name -> [calls, seconds] */
    struct world *next;                       /* the next larger size */
};

/* The one of that size in the list, which is sorted; made if there is none. NULL when out of memory. */
struct world *world_at(struct world **list, int size);
/* Adds a cell of a record: of one process that was one rank of that size. */
void world_add(struct world *world, const cJSON *cell);
/* Mean seconds per iteration; 0 if none was made. */
double world_seconds(const struct world *world);
/* Of all ranks: the same on each, but one that was cut off, or came later, has counted fewer. */
double world_iterations(const struct world *world);
/* Mean loop time of the ranks. */
double world_mean(const struct world *world);
/* first: that of the smallest size that made iterations; NULL: none did. */
cJSON *world_json(const struct world *world, const struct world *first);
void worlds_free(struct world *list);

/* {total, mean, min, max, variance} of the values that are not negative. */
cJSON *over_ranks_json(const double *values, int count);

/* A number that may be missing: below 0 as null. */
void add_number_or_null(cJSON *object, const char *key, double value);

#endif
