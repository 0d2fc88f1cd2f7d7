/* This host's name. */
#include "runtime/base/host.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

static char own[HOST_OWN_MAX] = "localhost";

static void find(void)
{
    char name[HOST_OWN_MAX] = "";
    if (!gethostname(name, sizeof name - 1) && *name)
        memcpy(own, name, sizeof own);
}

const char *host_own(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find);
    return own;
}
