/* Which files of checkpoints may go when a new one is complete: all but the newest, and those that these link to. */
#ifndef EPOP_COORDINATOR_ROTATION_H
#define EPOP_COORDINATOR_ROTATION_H

#include <stddef.h>

struct rotation_file {
    int number;
    int base; /* the file that it links to for its constant arrays; itself or 0: none */
};

struct rotation {
    struct rotation_file *files; /* complete, in the order of their numbers */
    size_t count, room;
};

void rotation_destroy(struct rotation *rotation);
/* A new one is complete. 0, or -1: out of memory. */
int rotation_add(struct rotation *rotation, int number, int base);
/* The next one that may go if `keep` are to stay, which is taken out of the list; 0: none. */
int rotation_next(struct rotation *rotation, int keep);

#endif
