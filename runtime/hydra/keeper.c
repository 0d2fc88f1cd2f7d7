/* The keeper: see keeper.h. */
#include "runtime/hydra/keeper.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/hydra/pmi.h"

static _Atomic bool *expendable_; /* shared with the keeper; NULL: there is none */

/* What is meant for the process reaches it too: the launcher signals the process group. */
static void ignore_signals(void)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGUSR1, SIGUSR2, SIGTSTP};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], SIG_IGN);
}

/* The keeper has the process's connection to the launcher too: that of one that was killed is still open. */
static void keep(pid_t process) __attribute__((noreturn));
static void keep(pid_t process)
{
    int status = 0;
    ignore_signals();
    prctl(PR_SET_NAME,
          "epop-keeper"); /* in one word: Slurm reads it from /proc, and lost who has a blank, with its children */
    while (waitpid(process, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFSIGNALED(status) && *expendable_)
        pmi_leave(0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

void keeper_start(void)
{
    pid_t keeper = getpid();
    void *page = mmap(NULL, sizeof *expendable_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return;
    expendable_ = page;
    pid_t process = fork();
    if (process > 0)
        keep(process);
    if (process < 0) {
        munmap(page, sizeof *expendable_);
        expendable_ = NULL;
        return;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != keeper) /* it was killed before that */
        _exit(1);
}

void keeper_expendable(bool expendable)
{
    if (expendable_)
        *expendable_ = expendable;
}

void keeper_end(void)
{
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}
