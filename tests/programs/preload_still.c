/*
 * No program, but a library to be preloaded: as long as the file EPOP_TEST_STILL is there, nothing of the data that
 * goes ahead of a window gets through, but for the hello of each connection, as without that it would be missed. Who
 * tried has made EPOP_TEST_STILL.tried.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int is_still(void)
{
    char tried[4096];
    const char *path = getenv("EPOP_TEST_STILL");
    if (!path || access(path, F_OK) != 0)
        return 0;
    snprintf(tried, sizeof tried, "%s.tried", path);
    close(open(tried, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    return 1;
}

/* Others use sockets that block, or no such flag. */
ssize_t send(int fd, const void *data, size_t size, int flags)
{
    ssize_t (*real)(int, const void *, size_t, int);
    void *found = dlsym(RTLD_NEXT, "send");
    int is_hello = size >= 8 && !memcmp(data, "epopdata", 8);
    if (flags == MSG_NOSIGNAL && fcntl(fd, F_GETFL) & O_NONBLOCK && !is_hello && is_still()) {
        usleep(1000);
        errno = EAGAIN;
        return -1;
    }
    memcpy(&real, &found, sizeof found); /* ISO C converts no object pointer into a function's */
    return real(fd, data, size, flags);
}
