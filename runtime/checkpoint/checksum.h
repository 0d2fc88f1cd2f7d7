/*
 * The checksum of a dataset: the sum modulo 2^64 of a number for each unit of 8, 4, 2 or 1 bytes (the largest that
 * divides the element), which depends on the unit's place in the dataset and on its content. So the parts of the ranks
 * can be summed up apart, and it does not depend on how many there are.
 */
#ifndef EPOP_CHECKPOINT_CHECKSUM_H
#define EPOP_CHECKPOINT_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* Of `bytes` bytes that begin at byte `at` of a dataset whose elements have `size` bytes; both are multiples of it, or
 * at least of the unit. */
uint64_t checksum_part(int64_t size, int64_t at, const void *data, size_t bytes);

#endif
