/*
 * Why a plug-in stays in memory: see stays.h. glibc never unloads what defines a symbol that is to be unique in the
 * process, is marked so, or has thread-local destructors to come; nor that which something else that stays has taken a
 * symbol from, as libstdc++ does with what a C++ compiler emits in every object and exports from it.
 */
#include "driver/epop/stays.h"

#include <stdio.h>
#include <string.h>

#include "driver/epop/elf.h"
#include "runtime/base/error.h"

#define HIDE "export get_program alone: -Wl,--version-script=FILE with { global: get_program; local: *; };"

static int is_thread_destructor(const char *name)
{
    return !strcmp(name, "__cxa_thread_atexit") || !strcmp(name, "__cxa_thread_atexit_impl");
}

void stays_why(const char *path, char *text, size_t size)
{
    struct elf_file file;
    struct error unread;
    const char *symbol = NULL;
    snprintf(text, size, "the reason is not known");
    if (elf_open(path, &file, &unread))
        return;
    if (elf_flags_1(&file) & DF_1_NODELETE)
        snprintf(text, size, "it is linked with -z nodelete; link it without");
    else if ((symbol = elf_bound(&file, STB_GNU_UNIQUE)))
        snprintf(text, size, "it defines GNU-unique symbols, as %.100s; " HIDE, symbol);
    else if (elf_refers(&file, is_thread_destructor))
        snprintf(text, size,
                 "it has thread-local variables with destructors; allocate these in INIT, and free them in the "
                 "finalizer and where EPOP_LEAVING");
    else if ((symbol = elf_bound(&file, STB_WEAK)))
        snprintf(text, size, "a library that stays, as libstdc++ does, may use symbols of it, as %.100s; " HIDE,
                 symbol);
    elf_close(&file);
}
