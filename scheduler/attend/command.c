/* From fork to exec: see command.h. */
#include "scheduler/attend/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scheduler/attend/guard.h"

struct failure {
    int stage, number;
};

static void forget_signals(void)
{
    sigset_t none;
    for (int number = 1; number < 32; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* A path that is not absolute is one of the command's directory. */
static int direct(const struct launch *launch)
{
    int in = open("/dev/null", O_RDONLY), out = open(launch->output, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (in < 0 || out < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0)
        return -1;
    if (in > STDERR_FILENO)
        close(in);
    if (out > STDERR_FILENO)
        close(out);
    return 0;
}

/* Comes back when it failed. */
static int become(const struct launch *launch)
{
    forget_signals();
    if (launch->cwd && chdir(launch->cwd))
        return STAGE_DIRECTORY;
    if (direct(launch))
        return STAGE_OUTPUT;
    environ = launch->environment;
    execvp(launch->argv[0], launch->argv);
    return STAGE_COMMAND;
}

static void in_child(const struct launch *launch, pid_t guard, int report)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != guard)
        _exit(1);
    struct failure failure = {.stage = become(launch)};
    failure.number = errno;
    if (write(report, &failure, sizeof failure) < 0)
        _exit(126);
    _exit(127);
}

int command_start(const struct launch *launch, pid_t *pid, int *stage, int *number)
{
    struct failure failure = {.stage = STAGE_COMMAND};
    pid_t guard = getpid();
    int ends[2];
    *pid = pipe2(ends, O_CLOEXEC) ? -1 : fork();
    failure.number = errno;
    if (*pid == 0)
        in_child(launch, guard, ends[1]);
    if (*pid > 0) {
        setpgid(*pid, *pid);
        close(ends[1]);
        if (!read(ends[0], &failure, sizeof failure)) { /* closed by exec */
            close(ends[0]);
            return 0;
        }
        waitpid(*pid, NULL, 0);
    }
    *stage = failure.stage;
    *number = failure.number;
    return -1;
}
