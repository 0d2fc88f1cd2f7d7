/* What a file has but data, at all ranks. */
#ifndef EPOP_CHECKPOINT_CATALOG_H
#define EPOP_CHECKPOINT_CATALOG_H

#include <mpi.h>

#include "runtime/base/error.h"
#include "runtime/checkpoint/head.h"
#include "runtime/checkpoint/layout.h"

struct catalog {
    struct checkpoint_head head;
    struct layout_dataset *datasets;
    int count;
};

/* Loads the module. Local. 0, or -1 with text, which does not name the file. */
int catalog_read(struct catalog *catalog, const char *path, struct error *error);

/* From rank 0 of comm, where its reading had this result, to all. Collective. As outcome_of_first. */
int catalog_share(struct catalog *catalog, MPI_Comm comm, int result, struct error *error);

/* NULL: it is not there. */
const struct layout_dataset *catalog_find(const struct catalog *catalog, const char *name);

void catalog_free(struct catalog *catalog);

#endif
