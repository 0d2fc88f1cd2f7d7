/* Finds the launcher by what it leaves in the environment, and starts the command again under mpiexec. */
#include "driver/epop/launch.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/say.h"
#include "runtime/launch/mpiexec.h"

/* Set for the command that is started again: if that has no launcher either, a third try would not help. */
#define RELAUNCHED "EPOP_RELAUNCHED"

static int number_in_environment(const char *variable)
{
    const char *text = getenv(variable);
    char *end;
    if (!text || !text[0])
        return -1;
    long value = strtol(text, &end, 10);
    return *end == 0 && value >= 0 && value <= INT_MAX ? (int)value : -1;
}

struct launch launch_detect(void)
{
    /* Hydra and other PMI-1 and PMI-2 launchers, then those with PMIx. */
    static const char *const signs[] = {"PMI_RANK", "PMI_FD", "PMI_PORT", "PMI_SIZE", "PMIX_RANK"};
    struct launch launch = {NULL, number_in_environment("PMI_RANK"), number_in_environment("PMI_SIZE")};
    for (size_t i = 0; i < sizeof signs / sizeof *signs && !launch.launcher; i++) {
        if (getenv(signs[i]))
            launch.launcher = signs[i];
    }
    if (launch.rank < 0)
        launch.rank = number_in_environment("PMIX_RANK");
    if (launch.size < 0)
        launch.size = number_in_environment("OMPI_COMM_WORLD_SIZE");
    return launch;
}

int launch_speaks(void)
{
    return launch_detect().rank <= 0;
}

const char *launch_self(char *path, size_t size, const char *given)
{
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    if (length < 0)
        return given;
    path[length] = 0;
    return path;
}

static void exec_under(const char *launcher, char **argv)
{
    char own[PATH_MAX];
    int count = 0;
    while (argv[count])
        count++;
    char **command = calloc((size_t)count + 4, sizeof *command);
    if (!command)
        return;
    command[0] = (char *)launcher;
    command[1] = "-n";
    command[2] = "1";
    command[3] = (char *)launch_self(own, sizeof own, argv[0]);
    memcpy(command + 4, argv + 1, (size_t)(count - 1) * sizeof *command);
    setenv(RELAUNCHED, "1", 1);
    execv(launcher, command);
    free(command);
}

void launch_again_under_mpiexec(char **argv, int quiet)
{
    char launcher[PATH_MAX];
    const char *chosen = mpiexec_name();
    if (getenv(RELAUNCHED)) {
        say_line("'%s -n 1' started it without saying so in the environment; is it the launcher of MPI?", chosen);
        return;
    }
    if (mpiexec_find(launcher)) {
        say_line("the program uses MPI and the launcher '%s' is not found; set EPOP_MPIEXEC to it", chosen);
        return;
    }
    if (!quiet)
        say_line("started without a launcher: running under '%s -n 1'", chosen);
    exec_under(launcher, argv);
    say_line("cannot start '%s': %s", launcher, strerror(errno));
}
