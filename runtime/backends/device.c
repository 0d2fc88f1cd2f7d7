/* What has to be known about the MPI library. Other rooms use it, and nothing else from here. */
#include "runtime/backends/device.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* The device's name stands in the library's version. */
bool device_sleeps(void)
{
    static _Atomic int answer; /* 0: not known yet */
    if (!answer) {
        char version[MPI_MAX_LIBRARY_VERSION_STRING];
        int length;
        MPI_Get_library_version(version, &length);
        answer = strstr(version, "ch3:sock") ? 1 : -1;
    }
    return answer > 0;
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
