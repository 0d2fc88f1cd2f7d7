/* Every block shows that it ran. */
#include <stdio.h>

#include "parts.h"

static int boom_init(int *argc, char ***argv, void **data)
{
    (void)argc, (void)argv, (void)data;
    puts("boom");
    return 1;
}

static int boom(void *data)
{
    (void)data;
    puts("boom");
    abort();
}

static int boom_branch(int pc, void *data)
{
    return boom(data) + pc;
}

static void boom_progress(void *data, epop_progress_t *progress)
{
    (void)progress;
    boom(data);
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("explosive");
    epop_add_init(program, "start", boom_init);
    int work = epop_add_elastic(program, "work", boom, boom, boom);
    program->elements[work].progress = boom_progress;
    epop_add_branch(program, "again", boom_branch);
    epop_add_rigid(program, "report", boom, boom);
    return program;
}
