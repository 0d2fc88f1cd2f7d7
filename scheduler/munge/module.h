/* What is built only where a library's headers are, and loaded only where it is used. */
#ifndef SCHEDULER_MUNGE_MODULE_H
#define SCHEDULER_MUNGE_MODULE_H

#include "runtime/base/error.h"

/* The symbol of lib/epop/FILE beside this executable. NULL: a line says why, and what to do. */
const void *module_load(const char *file, const char *symbol, struct error *error);

#endif
