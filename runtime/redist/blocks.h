/* Moving arrays in blocks (epop_redist_blocks), for programs and for described data. */
#ifndef REDIST_BLOCKS_H
#define REDIST_BLOCKS_H

#include "runtime/redist/element.h"
#include "runtime/redist/layout.h"

/* epop_redist_blocks, under the name that its messages have. */
int redist_blocks(const epop_window_t *window, const epop_blocks_t *before, const epop_blocks_t *after,
                  MPI_Datatype type, void *local, const char *function);

/*
 * From one layout of the same cells to another, from `old` to `new`, which has the room; ghosts of blocks are filled.
 * Layouts and type are known to be the same on all ranks, `fault` is what this rank found before. Collective over
 * window->all; EPOP_OK or the error of all.
 */
int redist_layout_move(const epop_window_t *window, const struct redist_layout layouts[2],
                       const redist_element *element, const void *old, void *new, redist_fault fault,
                       const char *function);

#endif
