/*
 * Allocatable arrays of Fortran as the parts of entries. The part of such an entry is what the compiler's descriptor of
 * the array points to, so that it moves as any other; when it has, the descriptor gets the bounds of the new part.
 */
#ifndef EPOP_DESCRIBE_ALLOCATABLE_H
#define EPOP_DESCRIBE_ALLOCATABLE_H

struct epop_description;

/* Gives all allocatable arrays of the list the bounds that they have on `rank` of `size` ranks. What owns nothing there
 * is allocated with no elements. 0, or -1: out of memory. Local. */
int describe_bounds(const struct epop_description *d, int rank, int size);

#endif
