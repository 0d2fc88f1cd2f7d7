/* What has to be known about the MPI library. Other rooms use it, and nothing else from here. */
#include "runtime/backends/device.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The value of a line "KEY:<spaces>VALUE"; `without` where there is none. */
static void read_line(const char *text, const char *key, const char *without, char *value, size_t size)
{
    const char *line = strstr(text, key);
    line = line ? line + strlen(key) + strspn(line + strlen(key), ": \t") : without;
    snprintf(value, size, "%.*s", (int)strcspn(line, "\n"), line);
}

/* By MPI's second name: no driver or program that observes calls sees it. */
struct device device_read(void)
{
    struct device device = {0};
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    PMPI_Get_library_version(text, &length);
    read_line(text, "MPICH Version", "", device.version, sizeof device.version);
    read_line(text, "MPICH Device", "unknown", device.name, sizeof device.name);
    if (device.version[0])
        strcpy(device.maker, MAKER_MPICH);
    else if (sscanf(text, MAKER_OPEN_MPI " v%31[^, \n]", device.version) == 1)
        strcpy(device.maker, MAKER_OPEN_MPI);
    if (device.maker[0])
        snprintf(device.library, sizeof device.library, "%s %s", device.maker, device.version);
    else
        snprintf(device.library, sizeof device.library, "%.*s", (int)strcspn(text, "\n"), text);
    return device;
}

bool device_sleeps(void)
{
    static _Atomic int answer; /* 0: not known yet */
    if (!answer) {
        struct device device = device_read();
        answer = strcmp(device.name, "ch3:sock") ? -1 : 1;
    }
    return answer > 0;
}

bool device_disconnects_together(void)
{
    struct device device = device_read();
    return !strcmp(device.maker, MAKER_OPEN_MPI);
}

bool device_mixes_groups(void)
{
    struct device device = device_read();
    int major = 0, minor = 0;
    sscanf(device.version, "%d.%d", &major, &minor);
    return !strncmp(device.name, "ch4:", 4) && major == 4 && minor < 2;
}

void device_be_found(void)
{
    struct device device = device_read();
    if (!strcmp(device.name, "ch4:ucx"))
        setenv("UCX_ADAPTIVE_PROGRESS", "n", 0);
}

int port_open(char port[PORT_MOST])
{
    char size[16];
    MPI_Info info;
    MPI_Info_create(&info);
    snprintf(size, sizeof size, "%d", PORT_MOST);
    MPI_Info_set(info, "port_name_size", size);
    int result = MPI_Open_port(info, port);
    MPI_Info_free(&info);
    return result;
}
