/* The versions of other software that EPOP's tests were run with. */
#include "runtime/base/tried.h"

#include <stdio.h>
#include <string.h>

/* Of those with two numbers any third one is as good. */
static const struct {
    const char *what, *versions;
} table[] = {
    {"MPICH", "4.0.2, 4.2.1, 5.0.2"}, {"Open MPI", "6.0.0rc2"}, {"HDF5", "1.10, 1.14"},
    {"OpenPMIx", "4.2.2, 5.0.7"},     {"Slurm", "22.05"},
};

/* Is it one of "4.0.2, 4.2.1", or one with a further number? */
static bool is_among(const char *version, const char *versions)
{
    while (*versions) {
        size_t length = strcspn(versions, ",");
        if (!strncmp(version, versions, length) && (!version[length] || version[length] == '.'))
            return true;
        versions += length + strspn(versions + length, ", ");
    }
    return false;
}

bool tried_with(const char *what, const char *version, char text[TRIED_TEXT])
{
    const char *versions = "";
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcmp(table[i].what, what))
            versions = table[i].versions;
    if (is_among(version, versions))
        return true;
    snprintf(text, TRIED_TEXT, "EPOP's tests were not run with %s %.40s, but with %s", what, version, versions);
    return false;
}
