/* Slurm's lists of nodes: "n[1-3,07],login". */
#ifndef SCHEDULER_SLURM_HOSTLIST_H
#define SCHEDULER_SLURM_HOSTLIST_H

#include "runtime/base/error.h"

struct hostlist {
    char **names;
    int count;
};

/* In the order of the text. -1: it is none, or names more than a machine has; then `list` is empty. */
int hostlist_expand(const char *text, struct hostlist *list, struct error *error);
void hostlist_free(struct hostlist *list);

#endif
