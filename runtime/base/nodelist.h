/* Lists of nodes as Slurm writes them: "n[1-3,07],gpu4" names n1, n2, n3, n07 and gpu4. */
#ifndef EPOP_BASE_NODELIST_H
#define EPOP_BASE_NODELIST_H

#include <stddef.h>

#define NODELIST_NAME_MAX 64

struct nodelist {
    char (*names)[NODELIST_NAME_MAX]; /* in the order of the text */
    size_t count, room;
};

/* Adds the nodes of the text to the list, which begins as {0}. 0; or -1: that is no such list, or names more than a
 * million nodes, or memory is short. */
int nodelist_add(struct nodelist *list, const char *text);

void nodelist_free(struct nodelist *list);

#endif
