/* get_program returns NULL. */
#include <epop/program.h>

epop_program_t *get_program(void)
{
    return 0;
}
