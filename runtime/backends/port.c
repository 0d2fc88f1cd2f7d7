/* Ports with long names: see port.h. */
#include "runtime/backends/port.h"

#include <mpi.h>
#include <stdio.h>

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
