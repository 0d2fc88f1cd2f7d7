/* From fork to exec: see command.h. */
#include "scheduler/attend/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
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

/* A path that is not absolute is one of the command's directory. A FIFO does if somebody reads it: it is not waited
 * for, as nodes are held meanwhile. */
static int open_output(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK, 0666);
    int flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);
    return flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) ? -1 : fd;
}

static int direct(const struct launch *launch)
{
    int in = open("/dev/null", O_RDONLY), out = open_output(launch->output);
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

int command_start(const struct launch *launch, pid_t *pid)
{
    pid_t guard = getpid();
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return -1;
    *pid = fork();
    if (*pid == 0)
        in_child(launch, guard, ends[1]);
    int error = errno;
    close(ends[1]);
    if (*pid > 0) {
        setpgid(*pid, *pid);
        return ends[0];
    }
    close(ends[0]);
    errno = error;
    return -1;
}

/* Closed by exec, and by the end of a process that was ended before that. */
int command_begun(int report, int *stage, int *number)
{
    struct failure failure;
    ssize_t length = read(report, &failure, sizeof failure);
    close(report);
    if (length != (ssize_t)sizeof failure)
        return 0;
    *stage = failure.stage;
    *number = failure.number;
    return -1;
}
