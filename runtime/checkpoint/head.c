/* The head of a checkpoint: see head.h. */
#include "runtime/checkpoint/head.h"

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
    memset(head, 0, sizeof *head);
}
