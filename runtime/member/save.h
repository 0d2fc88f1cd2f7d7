/*
 * The order to make a checkpoint, which all ranks get where they hold, and what each of them says when it has done so.
 */
#ifndef EPOP_MEMBER_SAVE_H
#define EPOP_MEMBER_SAVE_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/wire/messages.h"

/* Where it is kept: in one file, or in the memory of the nodes. */
enum save_level { SAVE_FILE, SAVE_MEMORY, SAVE_LEVELS };

#define SAVE_PATH 1024

struct save_order {
    enum save_level level;
    int number;           /* of the checkpoint in the job */
    int restarts;         /* of the job so far */
    bool behind;          /* the ranks go on when they have copied it */
    char path[SAVE_PATH]; /* "" in memory */
    char base[SAVE_PATH]; /* an earlier file of its directory, which has the constant arrays as they still are; "": none
                           */
};

/* What this rank has saved. */
struct saved {
    int number;
    const char *failure; /* NULL: it is complete, or copied; the same on all ranks */
    int64_t bytes;       /* of this rank's part */
    bool linked;         /* it has its constant arrays in an earlier file; the same on all ranks */
};

const char *save_level_name(enum save_level level);

cJSON *save_order_to_json(const struct save_order *order);
void save_order_read(struct save_order *order, const struct order_save *said);

#endif
