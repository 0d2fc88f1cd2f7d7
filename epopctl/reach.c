/* Whether a job listens: see reach.h. */
#include "epopctl/reach.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/wire/link.h"
#include "runtime/wire/socket.h"

#define LIMIT_MS 1000

bool ctl_listens(const struct control_job *job)
{
    struct wire_target target;
    if (wire_target_of(job->uri, &target))
        return true; /* not known */
    int fd = target.path[0] ? wire_connect_path(target.path)
                            : wire_connect_address((const struct sockaddr *)&target.address, sizeof target.address);
    int error = 0;
    socklen_t size = sizeof error;
    struct pollfd done = {.fd = fd, .events = POLLOUT};
    if (fd < 0)
        return errno == EAGAIN; /* many others ask it just now */
    bool listens = poll(&done, 1, LIMIT_MS) == 1 && !getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) && !error;
    close(fd);
    return listens;
}
