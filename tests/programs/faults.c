/*
 * A valid program without MPI that does at run time what EPOP_TEST_FAULT says. Its elements: start, work (three
 * iterations), turn (a branch), report.
 */
#include <stdio.h>

#include "parts.h"

enum { START, WORK, TURN, REPORT, ELEMENTS };

static int iterations;
static int *volatile nowhere;

static int start(int *argc, char ***argv, void **data)
{
    (void)argc, (void)argv, (void)data;
    exit_if_asked("init");
    return fault_is("init") ? 41 : 0;
}

static int work(void *data)
{
    (void)data;
    iterations++;
    exit_if_asked("exec");
    if (fault_is("segv") && iterations == 3)
        return *nowhere;
    return fault_is("exec") && iterations == 3 ? EPOP_ERR_MEMORY : 0;
}

static int more(void *data)
{
    (void)data;
    exit_if_asked("loop_condition");
    return iterations < 3;
}

static int turn(int pc, void *data)
{
    (void)data;
    exit_if_asked("branch_condition");
    if (fault_is("branch-to-init"))
        return START;
    if (fault_is("branch-below"))
        return -1;
    if (fault_is("branch-beyond"))
        return ELEMENTS + 1;
    if (fault_is("endless"))
        return TURN;
    return fault_is("branch-to-end") ? ELEMENTS : pc + 1;
}

static int report(void *data)
{
    (void)data;
    printf("%d iterations\n", iterations);
    return fault_is("last") ? -3 : 0;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("faults");
    epop_add_init(program, "start", start);
    epop_add_elastic(program, "work", work, plain_block, more);
    epop_add_branch(program, "turn", turn);
    epop_add_rigid(program, "report", report, NULL);
    return program;
}
