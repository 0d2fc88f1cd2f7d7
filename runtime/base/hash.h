/* A 64-bit hash (FNV-1a): it tells two things apart, and protects against nobody. */
#ifndef EPOP_BASE_HASH_H
#define EPOP_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_BEGIN UINT64_C(14695981039346656037)

/* so_far: HASH_BEGIN, or the hash of what comes before. */
static inline uint64_t hash_bytes(uint64_t so_far, const void *bytes, size_t count)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < count; i++)
        so_far = (so_far ^ p[i]) * UINT64_C(1099511628211);
    return so_far;
}

#endif
