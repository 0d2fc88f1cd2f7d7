/*
 * What a rank claims at a roll call: with the debug driver each says where it is and what its block answered, and all
 * have to say the same. The coordinator compares, names who differs, and is where ranks are stopped for a debugger. No
 * MPI here.
 */
#ifndef EPOP_MEMBER_CLAIM_H
#define EPOP_MEMBER_CLAIM_H

#include <stdbool.h>
#include <stddef.h>

#include "epop/program.h"
#include "runtime/base/error.h"
#include "runtime/member/plan.h"

#define ROLLCALL_BREAKS_MAX 32

/* What a rank says. */
struct claim {
    struct position at;
    bool window;       /* said in a window, by old and joining ranks alike */
    bool begins;       /* an exec block is next, or the element begins: here ranks can be stopped */
    const char *words; /* compared, and printed when they differ: "its loop condition answered go on" */
    const void *block; /* the code that runs next, for a debugger; NULL: none */
};

/* Where to stop: PHASE[:ITERATION][@RANK]. */
struct breakpoint {
    int pc;
    int64_t iteration; /* -1: the first of every visit */
    int rank;          /* -1: all */
    char text[96];     /* as given */
};

/* How roll calls are held in this job. */
struct rollcall_options {
    bool warns; /* who differs is told of, and the job goes on */
    int count;
    struct breakpoint breaks[ROLLCALL_BREAKS_MAX];
};

/* 0, or -1 with one line of text: no such element, no number. Local. */
EPOP_API int epop__breakpoint_parse(const epop_program_t *program, const char *text, struct breakpoint *breakpoint,
                                    struct error *why);

#endif
