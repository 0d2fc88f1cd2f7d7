/* Prints which plugins of hwloc are in this process when MPI is up, and what the environment says of it then. */
#include <epop/mpi_adapt.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_plugins(void)
{
    char line[4096], last[4096] = "";
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        char *name = strstr(line, "/hwloc_");
        if (name && strcmp(name, last)) {
            printf("plugin %s", name + 1);
            strcpy(last, name);
        }
    }
    if (maps)
        fclose(maps);
}

static void print_variable(const char *name)
{
    const char *value = getenv(name);
    printf("%s %s\n", name, value ? value : "unset");
}

int main(int argc, char **argv)
{
    int status;
    MPI_Init_adapt(&argc, &argv, &status);
    print_plugins();
    print_variable("HWLOC_COMPONENTS");
    print_variable("HWLOC_PLUGINS_PATH");
    return MPI_Finalize();
}
