/* Text in the lines that the core writes: ranges, kinds of jobs, reasons of policies. */
#ifndef SCHEDULER_CORE_TEXT_H
#define SCHEDULER_CORE_TEXT_H

#include <epop/policy.h>
#include <stdarg.h>
#include <stddef.h>

#define RANGE_TEXT_MAX 80

/* "4 to 16", "4, 9, 16"; long lists are cut short. Returns `text`. */
const char *range_text(const epop_policy_range_t *range, char text[RANGE_TEXT_MAX]);

/* "rigid", ... */
const char *kind_text(epop_policy_kind_t kind);

/* Makes it one line of UTF-8: a control character becomes a space, what is no UTF-8 a '?'. */
void line_text(char *text);

/* One line, whatever the policy writes: no control characters, and whole characters of UTF-8 where it is cut off. */
void reason_text(char *text, size_t size, const char *format, va_list arguments);

#endif
