/* Checksums: see checksum.h. As fast as memory, so that it does not show beside the writing. */
#include "runtime/checkpoint/checksum.h"

#include <string.h>

static inline uint64_t mix(uint64_t place, uint64_t unit)
{
    uint64_t x = unit + (place + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return x ^ x >> 32;
}

#define SUM_OF(type)                                                                                                   \
    for (size_t i = 0; i < bytes / sizeof(type); i++) {                                                                \
        type unit;                                                                                                     \
        memcpy(&unit, p + i * sizeof unit, sizeof unit);                                                               \
        sum += mix((uint64_t)at / sizeof unit + i, unit);                                                              \
    }

uint64_t checksum_part(int64_t size, int64_t at, const void *data, size_t bytes)
{
    const unsigned char *p = data;
    uint64_t sum = 0;
    if (size % 8 == 0)
        SUM_OF(uint64_t)
    else if (size % 4 == 0)
        SUM_OF(uint32_t)
    else if (size % 2 == 0)
        SUM_OF(uint16_t)
    else
        SUM_OF(uint8_t)
    return sum;
}
