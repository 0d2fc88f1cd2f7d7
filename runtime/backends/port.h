/* Ports of MPI, where processes of one launch accept those of another. */
#ifndef EPOP_PORT_H
#define EPOP_PORT_H

/*
 * The longest name of a port. MPI_MAX_PORT_NAME is 256 in MPICH, and what ch4:ucx puts into a name is 424 and more:
 * MPICH takes the info key port_name_size for that (4.3 and later).
 */
#define PORT_MOST 4096

/* MPI_Open_port, with space for any name. Returns MPI's error code. Local. */
int port_open(char port[PORT_MOST]);

#endif
