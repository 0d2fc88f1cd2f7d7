/* Calls a function that nobody defines. */
#include "parts.h"

int nobody_defines_this(void);

epop_program_t *get_program(void)
{
    return nobody_defines_this() ? NULL : epop_program_create("unresolved");
}
