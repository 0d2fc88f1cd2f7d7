/* Ordinary blocks for the odd programs: each does nothing, and does it well. */
#ifndef TEST_PARTS_H
#define TEST_PARTS_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <epop/program.h>

static inline int plain_init(int *argc, char ***argv, void **data)
{
    (void)argc, (void)argv, (void)data;
    return 0;
}

static inline int plain_block(void *data)
{
    (void)data;
    return 0;
}

static inline int next_element(int pc, void *data)
{
    (void)data;
    return pc + 1;
}

/* Which fault the test wants, "" for none. */
static inline int fault_is(const char *name)
{
    const char *fault = getenv("EPOP_TEST_FAULT");
    return fault && strcmp(fault, name) == 0;
}

/* Ends the process in a block of that name, if the fault is "exit-BLOCK", "_exit-BLOCK" or "quick_exit-BLOCK". */
static inline void exit_if_asked(const char *block)
{
    const char *fault = getenv("EPOP_TEST_FAULT"), *where = fault ? strchr(fault, '-') : NULL;
    if (!where || strcmp(where + 1, block) != 0)
        return;
    if (strncmp(fault, "exit-", 5) == 0)
        exit(0);
    if (strncmp(fault, "_exit-", 6) == 0)
        _exit(0);
    if (strncmp(fault, "quick_exit-", 11) == 0)
        quick_exit(0);
}

#endif
