/* What epopctl says when it cannot: see output.h. */
#include "epopctl/output.h"

#include <stdarg.h>
#include <stdio.h>

void ctl_complain(const char *format, ...)
{
    va_list arguments;
    fflush(stdout);
    fputs("epopctl: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}
