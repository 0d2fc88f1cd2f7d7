/* What a constructed program keeps beside its elements. */
#ifndef EPOP_API_PROGRAM_H
#define EPOP_API_PROGRAM_H

#include <stdbool.h>

#include <epop/program.h>

/* Did an element that was to be added find no memory? Few programs look at what each epop_add_ returns. */
bool epop__program_incomplete(const epop_program_t *program);

#endif
