/*
 * Where the new block of a rank is made. A block that only loses elements is closed up and cut off when all that goes
 * has arrived; one that only gets some behind what it has is extended. Neither takes a second block, and both leave
 * what stays in its place as far as can be. For all others there is a new block beside the old one.
 */
#ifndef REDIST_SETTLE_H
#define REDIST_SETTLE_H

#include "runtime/redist/agree.h"
#include "runtime/redist/exchange.h"

/* The least block that is extended; bytes. A variable, so that tests can have small ones extended. */
extern int64_t redist_extended_bytes;

/* All local. First: sets `after` of an exchange that has plan, element and `before`; the old block is not touched. */
redist_fault redist_settle_prepare(redist_exchange *exchange);
/* The ranks have agreed. The old block may move: it is exchange->before afterwards. */
void redist_settle_begin(redist_exchange *exchange, const char *function);
/* All has arrived everywhere: `after` becomes the whole new block, and there is no other. */
void redist_settle_end(redist_exchange *exchange);
/* Instead of end: `before` is again the only block, with all that it had. True: it may have moved. */
bool redist_settle_undo(redist_exchange *exchange);

#endif
