/* Ways to hang, for programs and executables of the tests: "loop", "recv" (a message that nobody sends), "deaf" (the
 * process's control plane takes no more connections, and it loops). Another word is none. Each says so before. */
#ifndef TEST_HANG_H
#define TEST_HANG_H

#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* In the place of each socket that listens comes one on which nothing ever arrives. */
static inline void be_deaf(void)
{
    int pair[2], listens;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        return;
    for (int fd = 3; fd < 256; fd++) {
        socklen_t size = sizeof listens;
        if (!getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) && listens)
            dup2(pair[0], fd);
    }
}

/* Whether rank 0 has it, which it says once. A message in each iteration would fill what MPI has for a rank that is
 * stopped, after some dozens, and keep rank 0 there. */
static inline int told(int what)
{
    static int said;
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (said || (!rank && !what))
        return said;
    if (!rank)
        said = 1;
    else
        MPI_Iprobe(0, 78, MPI_COMM_WORLD, &said, MPI_STATUS_IGNORE);
    if (rank && said)
        MPI_Recv(NULL, 0, MPI_INT, 0, 78, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int other = 1; !rank && other < size; other++)
        MPI_Send(NULL, 0, MPI_INT, other, 78, MPI_COMM_WORLD);
    return said;
}

/* Does not return if that is a way to hang. */
static inline void hang(const char *how)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    int token;
    if (!strcmp(how, "deaf"))
        be_deaf();
    printf("hangs: %s\n", how);
    fflush(stdout);
    if (!strcmp(how, "recv"))
        MPI_Recv(&token, 1, MPI_INT, 0, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    while (!strcmp(how, "deaf") || !strcmp(how, "loop"))
        nanosleep(&moment, NULL);
}

#endif
