/* What has to be known about the MPI library: its version, its device, and the names of its ports. */
#ifndef EPOP_BACKENDS_DEVICE_H
#define EPOP_BACKENDS_DEVICE_H

#include <stdbool.h>

#define MAKER_MPICH    "MPICH"
#define MAKER_OPEN_MPI "Open MPI"

/* What the library says of itself. `library` is "MPICH 4.0.2", or another library's first line of text. Of MPICH and
 * Open MPI `maker` is one of the names above, and `version` is as "4.0.2"; both are "" else. `name` of MPICH's device
 * is "ch4:ucx", else "unknown". */
struct device {
    char library[96], maker[16], version[32], name[32];
};

/* Also before MPI_Init; any thread. */
struct device device_read(void);

/* Do waiting processes sleep? Of MPICH's devices only that of sockets lets them; the others spin. Also before MPI_Init.
 */
bool device_sleeps(void);

/* Does MPI_Comm_disconnect wait until all processes call it? Open MPI's does; MPICH's only closes connections. */
bool device_disconnects_together(void);

/* Does it take processes of different launches for the same one in a group of them? MPICH over ch4 does before 4.2: it
 * cuts the numbers of processes down to those within their launch (pmodels/mpich, issue 6832). */
bool device_mixes_groups(void);

/*
 * A process that is alone in its world, as a joining one can be, is found by others on other hosts. UCX looks for new
 * connections only where there is one already, unless its environment says UCX_ADAPTIVE_PROGRESS=n; what users set
 * stays. Before MPI_Init, and before the environment of joining processes is taken. No other thread runs.
 */
void device_be_found(void);

/*
 * The longest name of a port. MPI_MAX_PORT_NAME is 256 in MPICH, and what ch4:ucx puts into a name is 424 and more:
 * MPICH takes the info key port_name_size for that (4.3 and later).
 */
#define PORT_MOST 4096

/* MPI_Open_port, with space for any name. Returns MPI's error code. Local. */
int port_open(char port[PORT_MOST]);

#endif
