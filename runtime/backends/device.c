/* The device's name stands in the library's version. */
#include "runtime/backends/device.h"

#include <mpi.h>
#include <string.h>

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
