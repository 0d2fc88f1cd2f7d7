/* Errors on standard error: see complain.h. */
#include "scheduler/epopsim/complain.h"

#include <stdio.h>

int complain(int status, const struct error *error)
{
    fputs("epopsim: ", stderr);
    for (const char *at = error->text; *at; at++)
        fputc((unsigned char)*at < ' ' || *at == 0x7f ? '?' : *at, stderr);
    fputc('\n', stderr);
    return status;
}
