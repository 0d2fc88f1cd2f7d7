/*
 * A program that crashes while it is loaded, where EPOP_TEST_FAULT says: in a constructor, in get_program, or by what
 * get_program returns ("elements"); on the process of the launch that EPOP_TEST_RANK says, or on all.
 */
#include <epop/epop.h>

#include "parts.h"

static int *volatile nowhere;
static volatile int found;

static int mine(const char *fault)
{
    const char *rank = getenv("EPOP_TEST_RANK"), *own = getenv("PMI_RANK");
    return fault_is(fault) && (!rank || (own && !strcmp(rank, own)));
}

static __attribute__((constructor)) void construct(void)
{
    if (mine("constructor"))
        found = *nowhere;
}

static int work(void *data)
{
    (void)data;
    return MPI_Barrier(epop_world());
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("crash_load");
    epop_add_init(program, "start", plain_init);
    epop_add_rigid(program, "work", work, NULL);
    if (mine("get_program"))
        found = *nowhere;
    if (mine("elements"))
        program->elements = (epop_element_t *)16; /* NOLINT */
    return program;
}
