/*
 * tether ARGUMENT...: becomes the command that EPOP_TETHERED names, which is sent SIGTERM when the thread that started
 * it ends. Of several names, a line each, the first is this one's and the others those of tethers that it starts: an
 * mpiexec and its ssh (runtime/hydra/hydra.c, scheduler/hosts/launch.c).
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define VARIABLE  "EPOP_TETHERED" /* from epop to this helper, not for users */
#define NOT_FOUND 127

/* NULL: there is none. */
static char *first_name(void)
{
    char *names = getenv(VARIABLE), *command = names ? strdup(names) : NULL, *rest = command;
    if (command && strsep(&rest, "\n") && rest)
        setenv(VARIABLE, rest, 1);
    return command;
}

int main(int argc, char **argv)
{
    char *command = first_name();
    pid_t parent = getppid();
    if (!command || argc < 2) {
        fprintf(stderr, "usage: " VARIABLE "=COMMAND tether ARGUMENT... (epop has mpiexec start it)\n");
        return NOT_FOUND;
    }
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        return NOT_FOUND; /* it ended before, so nobody waits */
    argv[0] = command;
    execvp(command, argv);
    fprintf(stderr, "epop: cannot start '%s': %s\n", command, strerror(errno));
    return NOT_FOUND;
}
