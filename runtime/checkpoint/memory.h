/*
 * The store in memory: each rank's part of a checkpoint lies in shared memory files of its host, and a copy of it on
 * the host of a partner, as SCR and FTI do it (their partner level). So it survives the death of every process of
 * the job, and of one host. Where all ranks are on one host there is no partner. There are two generations: the
 * older one goes when the newer one is complete on all hosts. What the newer one links to is a file of both, and stays.
 */
#ifndef EPOP_CHECKPOINT_MEMORY_H
#define EPOP_CHECKPOINT_MEMORY_H

#include <stdbool.h>

#include "runtime/checkpoint/store.h"

/* `path` is a directory in the memory of each host. open takes the newest generation of which every part is on one of
 * the hosts that the ranks are on. An earlier file, for link, is the number of a generation. */
extern const struct store_table store_memory;

/* No note where there is no other host. */
extern bool memory_is_quiet;

/* Is there a partner on another host? Of a file that is being written. Local. */
bool memory_has_partner(const void *file);

#endif
