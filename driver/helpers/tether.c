/*
 * tether ARGUMENT...: becomes the command that EPOP_TETHERED names (ssh, say), which then ends with the process that
 * started it. Given to the mpiexec of joining processes as its -launcher-exec (runtime/hydra/hydra.c).
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

int main(int argc, char **argv)
{
    const char *command = getenv(VARIABLE);
    pid_t parent = getppid();
    if (!command || argc < 2) {
        fprintf(stderr, "usage: " VARIABLE "=COMMAND tether ARGUMENT... (epop has mpiexec start it)\n");
        return NOT_FOUND;
    }
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        return NOT_FOUND; /* it ended before, so nobody waits */
    argv[0] = (char *)command;
    execvp(command, argv);
    fprintf(stderr, "epop: cannot start '%s': %s\n", command, strerror(errno));
    return NOT_FOUND;
}
