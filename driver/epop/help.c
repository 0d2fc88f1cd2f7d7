/* --help and --version. */
#include "driver/epop/help.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void print_option(const struct option_row *option)
{
    char left[64], letter[8] = "    ";
    if (option->letter)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(left, sizeof left, "%s--%s %s", letter, option->name, option->argument ? option->argument : "");
    printf("  %-30s %s\n", left, option->help);
}

void help_print(const struct option_row *options, int count, const struct drivers *drivers)
{
    printf("Usage: epop [options] PROGRAM.so [arguments of the program]\n"
           "       mpiexec -n N epop [options] PROGRAM.so [arguments of the program]\n\n"
           "Runs an EPOP program, whose number of processes can change while it runs. A program that does not use MPI\n"
           "needs no mpiexec; PROGRAM may also be the bare name of an installed program or example.\n\nOptions:\n");
    for (int i = 0; i < count; i++)
        print_option(&options[i]);
    putchar('\n');
    drivers_help(drivers, stdout);
    printf("\nExamples:\n"
           "  mpiexec -n 4 epop ./cannon.so A.npy B.npy C.npy    run on 4 ranks\n"
           "  mpiexec -n 8 epop --start 4 ./cannon.so ...        4 ranks run, 4 stand by: see epopctl resize\n"
           "  epop --driver check ./cannon.so                    check the program and print its structure\n"
           "  epop --help --driver check                         the options of a driver\n\n"
           "Exit status:\n"
           "  0  the program ended well\n"
           "  1  the job failed while it ran\n"
           "  2  wrong usage, or a program or driver that cannot be loaded\n");
}

/* The value of a "KEY:<tab>value" line of MPI's version text, "" if it has none; *length without the line's end. */
static const char *version_field(const char *text, const char *key, int *length)
{
    const char *line = strstr(text, key);
    const char *value = line ? line + strlen(key) + strspn(line + strlen(key), ": \t") : "";
    *length = (int)strcspn(value, "\n");
    return value;
}

void version_print(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, version_length, device_length;
    printf("epop %s (interfaces: programs %u, drivers %u)\n", EPOP_VERSION, EPOP_ABI_VERSION, EPOP_DRIVER_ABI_VERSION);
    if (MPI_Get_library_version(text, &length) != MPI_SUCCESS)
        return;
    const char *version = version_field(text, "MPICH Version", &version_length);
    const char *device = version_field(text, "MPICH Device", &device_length);
    printf("MPICH %.*s, device %.*s; built with MPICH %s\n", version_length, version, device_length, device,
           MPICH_VERSION);
}
