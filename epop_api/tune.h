/* What the runtime tells the register of tunables. Internal. */
#ifndef EPOP_API_TUNE_H
#define EPOP_API_TUNE_H

#include "epop/tune.h"

/* A process begins with a program, of which nothing is registered yet. Any number of times. */
EPOP_API void epop__tunables_forget(void);

/* A tunable of that name begins with this value, if it allows it: before INIT. 0, or EPOP_ERR_MEMORY. */
EPOP_API int epop__tunable_preset(const char *name, int value);

#endif
