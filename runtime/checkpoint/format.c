/* Checking and freeing the head of a checkpoint, and checksums as fast as memory is. */
#include "runtime/checkpoint/format.h"

#include <stdlib.h>
#include <string.h>

#define COUNT_MOST (INT64_C(1) << 53) /* what JSON can tell */

int checkpoint_head_check(const struct checkpoint_head *head, struct error *error)
{
    const struct {
        const char *name;
        int64_t value, least, most;
    } rows[] = {{"pc", head->at.pc, 0, CHECKPOINT_NUMBER_MOST},
                {"visit", head->at.visit, 0, COUNT_MOST},
                {"iteration", head->at.iteration, 0, COUNT_MOST},
                {"size", head->size, 1, CHECKPOINT_NUMBER_MOST},
                {"number", head->number, 1, CHECKPOINT_NUMBER_MOST},
                {"restarts", head->restarts, 0, CHECKPOINT_NUMBER_MOST},
                {"time", head->time >= 0 && head->time < COUNT_MOST ? 0 : -1, 0, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].value < rows[i].least || rows[i].value > rows[i].most)
            return error_set(error, ERROR_REFUSED, "is damaged: its '%s' is out of range", rows[i].name);
    return 0;
}

void checkpoint_head_free(struct checkpoint_head *head)
{
    free(head->program);
    free(head->structure);
    free(head->arguments);
    free(head->values);
    free(head->members);
    memset(head, 0, sizeof *head);
}

/* ---- Checksums ---------------------------------------------------------------------------------- */

static inline uint64_t mix_unit(uint64_t place, uint64_t unit)
{
    uint64_t x = unit + (place + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return x ^ x >> 32;
}

#define SUM_OF(type)                                                                                                   \
    for (size_t i = 0; i < bytes / sizeof(type); i++) {                                                                \
        type unit;                                                                                                     \
        memcpy(&unit, p + i * sizeof unit, sizeof unit);                                                               \
        sum += mix_unit((uint64_t)at / sizeof unit + i, unit);                                                         \
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
