/* Leaving Hydra without MPI_Finalize: see pmi.h. */
#include "runtime/backends/pmi.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANSWER_TIMEOUT_MS 2000

static int connection(void)
{
    const char *fd = getenv("PMI_FD");
    return fd ? atoi(fd) : -1;
}

bool pmi_can_leave(void)
{
    return connection() > 2;
}

/* The acknowledgement is one line; without it the manager would take the end of this process for a failure. */
static void wait_for_line(int fd)
{
    char c = 0;
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    while (c != '\n' && poll(&ready, 1, ANSWER_TIMEOUT_MS) > 0)
        if (read(fd, &c, 1) != 1)
            return;
}

void pmi_finalize(void)
{
    static const char text[] = "cmd=finalize\n";
    if (write(connection(), text, sizeof text - 1) == (ssize_t)(sizeof text - 1))
        wait_for_line(connection());
}

void pmi_leave(int status)
{
    fflush(NULL);
    pmi_finalize();
    _exit(status);
}
