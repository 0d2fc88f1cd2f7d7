/*
 * The contract between program and EPOP, as the debug driver watches it: where the program is, who breaks the contract,
 * and what all ranks have to claim alike at the same place. One state per process.
 */
#ifndef DEBUG_CONTRACT_H
#define DEBUG_CONTRACT_H

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

/* Where the program's own thread is, for its other threads. */
struct place contract_place(const struct debug *debug);
/* It enters that block; or is there, in the same block. */
void contract_enters(struct debug *debug, const epop_position_t *position, epop_block_t block);
void contract_moves(struct debug *debug, const epop_position_t *position);
/* "its exec block" */
const char *contract_block_text(epop_block_t block);
/* This process breaks the contract at that place: one line that names it, and what the job does about it. */
void contract_breach(const epop_position_t *position, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Roll calls, which every rank answers with what it says here: the element that it enters, that its exec block is next,
 * what a condition answered, that it has come to the end. */
void contract_claim_element(const struct debug *debug, const epop_position_t *position);
void contract_claim_block(const struct debug *debug, const epop_position_t *position);
void contract_claim_answer(const struct debug *debug, const epop_position_t *position, int answer);
/* In the present block, if it is one of a phase or a branch, and this is the program's own thread: what it calls. */
bool contract_is_in_phase(const struct debug *debug);
void contract_claim_call(const struct debug *debug, const char *words);
/* In the present block, which is an adapt block with an open window. */
void contract_claim_in_window(const struct debug *debug, const char *words);
void contract_claim_end(const struct debug *debug, const epop_position_t *position);

#endif
