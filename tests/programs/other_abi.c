/* Compiled for another version of the program model: nothing behind abi_version is what it seems. */
#include <epop/program.h>

epop_program_t *get_program(void)
{
    static epop_program_t program = {.size = 7,
                                     .elements = (epop_element_t *)16,
                                     .abi_version = EPOP_ABI_VERSION + 41,
                                     .name = (const char *)16,
                                     .finalizer = 12345};
    return &program;
}
