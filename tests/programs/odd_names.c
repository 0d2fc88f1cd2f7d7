/* Elements with names that JSON cannot hold as they are. */
#include <epop/epop.h>

static int init(int *argc, char ***argv, void **data)
{
    (void)argc;
    (void)argv;
    (void)data;
    epop_world();
    return 0;
}

static int nothing(void *data)
{
    (void)data;
    return 0;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("odd_names");
    epop_add_init(program, "a \"quoted\" \\ name", init);
    epop_add_rigid(program, "tab\tand\x01", nothing, NULL);
    epop_add_rigid(program, "na\xc3\xafve \xe6\xb8\xac\xe5\xae\x9a", nothing, NULL);
    epop_add_rigid(program, "latin \xe4", nothing, NULL);
    return program;
}
