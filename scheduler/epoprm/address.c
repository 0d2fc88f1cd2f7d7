/* Addresses of sockets with long paths: see address.h. */
#include "scheduler/epoprm/address.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int open_directory(const char *path, size_t length)
{
    char *name = strndup(path, length ? length : 1);
    int directory = name ? open(name, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    free(name);
    return directory;
}

int address_make(struct sockaddr_un *address, int *directory, const char *path, struct error *error)
{
    const char *slash = strrchr(path, '/');
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    *directory = open_directory(slash ? path : ".", slash ? (size_t)(slash - path) : 1);
    if (*directory < 0)
        return error_set(error, ERROR_FAILED, "%s: its directory cannot be opened: %s", path, strerror(errno));
    snprintf(address->sun_path, sizeof address->sun_path, "/proc/self/fd/%d/%.64s", *directory,
             slash ? slash + 1 : path);
    return 0;
}
