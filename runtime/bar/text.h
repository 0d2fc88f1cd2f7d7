/* What a progress bar says, fitted to a terminal's width. */
#ifndef EPOP_BAR_TEXT_H
#define EPOP_BAR_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bar_state {
    const char *program;
    int size; /* ranks */
    int64_t iteration, bound;
    double left; /* seconds; negative: not known */
    bool running;
    const char *state; /* if it is not running: why it does not go on */
};

/* At most `width` columns, in ASCII: "heat  4 ranks [=====>     ]  45 %  450/1000  2 min 3 s left". */
void bar_text(const struct bar_state *state, int width, char *text, size_t size);

#endif
