/* This executable: see command.h. */
#include "runtime/adapt/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/array.h"
#include "runtime/base/say.h"

/* main's own argv is not at hand: its pointers may be NULL in MPI_Init_adapt, or have been changed. */
char **command_line(void)
{
    char *argument = NULL, **all = NULL;
    size_t length = 0, room = 0, count = 0;
    FILE *file = fopen("/proc/self/cmdline", "r");
    while (file && getdelim(&argument, &length, 0, file) >= 0) {
        if (array_reserve(&all, &room, count + 2, sizeof *all))
            break;
        all[count++] = argument;
        all[count] = NULL;
        argument = NULL;
        length = 0;
    }
    free(argument);
    if (file)
        fclose(file);
    if (!all)
        say_line("MPI_Init_adapt: cannot read this process's command line in /proc/self/cmdline");
    return all;
}

const char *command_path(char *text, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", text, size - 1);
    text[length < 0 ? 0 : length] = 0;
    return text;
}

const char *command_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
