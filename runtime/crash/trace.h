/* The functions that a crashed thread was in. What is called in a handler is safe there. */
#ifndef EPOP_CRASH_TRACE_H
#define EPOP_CRASH_TRACE_H

#include "runtime/crash/text.h"

/* Loads what unwinding needs, and finds the helper that turns addresses into names. Not in a handler. */
void trace_prepare(void);

/* In a handler. Adds a line for each function, innermost first, from the context that the handler was given. Within
 * three seconds. */
void trace_add(struct crash_text *text, void *context);

/* A crash while trace_add was looking at the stack: gives up there, and does not return. Does nothing otherwise. */
void trace_give_up(void);

/* Where the stack of that context ends; 0: unknown. */
uintptr_t trace_stack_pointer(const void *context);

#endif
