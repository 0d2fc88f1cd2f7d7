/* What the files of the debug driver share. One state per process. */
#ifndef DRIVER_DEBUG_H
#define DRIVER_DEBUG_H

#include <stdbool.h>

#include <epop/driver.h>

#include "runtime/base/error.h"
#include "runtime/member/claim.h"

/* Of the present block, or the last one. */
struct place {
    epop_position_t position;
    epop_block_t block;
    int64_t run; /* blocks that have begun in this process */
};

struct debug {
    struct rollcall_options rolls;
    const char *specs[ROLLCALL_BREAKS_MAX]; /* of --break, as given; read when the program is known */
    struct error error;
    bool joining; /* in the life of a process that is not in the world yet: it is in no roll call */
    struct place place;
    void *data;         /* the program's data pointer when the block began */
    uint64_t structure; /* of the program's elements, when INIT began */
};

/* ---- breach.c ---- */

/* Where the program's own thread is, for its other threads. */
struct place debug_place(const struct debug *debug);
/* It enters that block; or is there, in the same block. */
void debug_enters(struct debug *debug, const epop_position_t *position, epop_block_t block);
void debug_moves(struct debug *debug, const epop_position_t *position);
/* "the exec block" */
const char *block_text(epop_block_t block);
/* This process breaks the contract at that place: one line that names it, and what the job does about it. */
void breach(const epop_position_t *position, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- rolls.c: what all ranks have to say alike ---- */

void rolls_enter(const struct debug *debug, const epop_position_t *position);
void rolls_begin(const struct debug *debug, const epop_position_t *position);
void rolls_decided(const struct debug *debug, const epop_position_t *position, int answer);
/* In the present block, which is an adapt block with an open window. */
void rolls_window(const struct debug *debug, const char *words);
void rolls_finished(const struct debug *debug, const epop_position_t *position);

/* ---- program.c: what a block may not change ---- */

void program_before(struct debug *debug);
void program_after(struct debug *debug, void *data);

/* ---- redist.c: what moves in a window ---- */

void redist_start(const struct debug *debug);
void redist_stop(void);

/* ---- described.c: what is described ---- */

void described_start(const struct debug *debug);
void described_stop(void);
/* A phase begins to iterate in this world; and it stands still, or ends. */
void described_begin(const epop_position_t *position);
void described_look(struct debug *debug, const epop_position_t *position);

#endif
