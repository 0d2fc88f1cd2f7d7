/* Prints the arguments that INIT is given, one per line; without MPI. */
#include <stdio.h>

#include "parts.h"

static int start(int *argc, char ***argv, void **data)
{
    (void)data;
    for (int i = 0; i < *argc; i++)
        printf("%d=%s\n", i, (*argv)[i]);
    return (*argv)[*argc] != NULL;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("arguments");
    epop_add_init(program, "start", start);
    return program;
}
