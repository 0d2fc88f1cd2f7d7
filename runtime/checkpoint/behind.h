/* The end of a file that is written behind the program's back: store_table has what these promise. */
#ifndef EPOP_CHECKPOINT_BEHIND_H
#define EPOP_CHECKPOINT_BEHIND_H

#include <stdbool.h>

#include "runtime/checkpoint/store.h"

int behind_start(void *handle, const struct store_listener *listener, struct error *error);
int behind_settle(void *handle, bool complete, struct error *error);

#endif
