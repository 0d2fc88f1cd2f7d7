/* What the faulting code is, where the position in the program does not say it: a program that is being loaded, or one
 * that is unloaded by now. Written by the program's thread (see crash.h), read in the handler. */
#ifndef EPOP_CRASH_CODE_H
#define EPOP_CRASH_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/crash/text.h"

/* Adds "while the program was loaded, in get_program of FILE: " or the like. False: none is. */
bool code_add_loading(struct crash_text *text);

/* The file of the program that was at that address, if there was one; else NULL. */
const char *code_unloaded(uintptr_t address);

/* Before the job can settle on one report: is another process of the launch the first to print its own? */
bool code_comes_second(void);

#endif
