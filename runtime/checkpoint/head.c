/* The head of a checkpoint: see head.h. */
#include "runtime/checkpoint/head.h"

#include <stdlib.h>
#include <string.h>

void checkpoint_head_free(struct checkpoint_head *head)
{
    free(head->program);
    free(head->structure);
    free(head->arguments);
    free(head->values);
    memset(head, 0, sizeof *head);
}
