/* What a constructed program keeps beside its elements. */
#ifndef EPOP_API_PROGRAM_H
#define EPOP_API_PROGRAM_H

#include <stdbool.h>

#include <epop/program.h>

/* Did an element that was to be added find no memory? Few programs look at what each epop_add_ returns. */
bool epop__program_incomplete(const epop_program_t *program);

/* The function of INIT, wherever a program with elements has it; NULL: nowhere. */
typedef int init_block(int *argc, char ***argv, void **data);
EPOP_API init_block *epop__program_init(const epop_program_t *program);

/* The first arguments that may change, and those behind that one; NULL: no more. */
struct program_argument {
    char *name;
    struct program_argument *next;
};
const struct program_argument *epop__program_may_change(const epop_program_t *program);

/* The program's own blocks, as far as the structure of its version has them. */
struct program_blocks {
    void (*describe)(void *data, epop_description_t *d);
    int (*rebuild)(void *data);
    void (*release)(void *data);
    int (*pack)(void *data);
};
struct program_blocks epop__program_blocks(const epop_program_t *program);

#endif
