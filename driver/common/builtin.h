/* The built-in drivers. Another one is a file with its table, and a line here and in drivers.c. */
#ifndef DRIVER_BUILTIN_H
#define DRIVER_BUILTIN_H

#include <epop/driver.h>

extern const epop_driver_t driver_run;
extern const epop_driver_t driver_check;
extern const epop_driver_t driver_debug;
extern const epop_driver_t driver_trace;
extern const epop_driver_t driver_profile;
extern const epop_driver_t driver_tune;

#endif
