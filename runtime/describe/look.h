/*
 * A first look at what a program describes, before anything moves: what would end the first resize, or keep the first
 * checkpoint from being made, is found at the start.
 */
#ifndef EPOP_DESCRIBE_LOOK_H
#define EPOP_DESCRIBE_LOOK_H

#include "runtime/describe/describe.h"

/* What there is to be looked at. */
enum look_depth {
    LOOK_FORM, /* names, flags, addresses: the data may still be made */
    LOOK_DATA  /* all: it is as a resize would find it */
};

/*
 * Runs the block once; nothing moves. 0; or -1 with the first fault of any rank, the same on all. *hint is what may be
 * wrong with the data, the same on all (ERROR_NONE: nothing is). Collective over comm.
 */
int describe_look(MPI_Comm comm, enum look_depth depth, describe_block *block, void *data, struct error *error,
                  struct error *hint);

/* Does an entry whose part is one block have it from malloc(), as far as can be told? Local. */
bool describe_is_allocated(const struct described *entry);

/* The form alone, of this rank's list. 0, or -1 with text. Local. */
int describe_look_alone(describe_block *block, void *data, struct error *error);

#endif
