/* A program in a static variable, of which abi_version was forgotten. */
#include "parts.h"

epop_program_t *get_program(void)
{
    static epop_element_t start = {.type = EPOP_INIT, .init = plain_init};
    static epop_program_t program = {.size = 1, .elements = &start};
    return &program;
}
