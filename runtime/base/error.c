/* Setting an error. */
#include "runtime/base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *error, enum error_code code, const char *format, ...)
{
    char text[ERROR_TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    error->code = code;
    memcpy(error->text, text, sizeof text);
    return -1;
}

int error_memory(struct error *error)
{
    return error_set(error, ERROR_MEMORY, "out of memory");
}
