/* The program of tests in which none runs: one elastic phase. */
#ifndef TEST_ONE_PHASE_H
#define TEST_ONE_PHASE_H

#include <epop/program.h>

static inline int never_init(int *argc, char ***argv, void **data)
{
    (void)argc, (void)argv, (void)data;
    return -1;
}

/* Group fixtures of cmocka: the program is their state. */
static inline int one_phase_set_up(void **state)
{
    epop_program_t *program = epop_program_create("test");
    epop_add_init(program, "init", never_init);
    epop_add_elastic(program, "phase", NULL, NULL, NULL);
    *state = program;
    return 0;
}

static inline int one_phase_tear_down(void **state)
{
    epop_program_free(*state);
    return 0;
}

#endif
