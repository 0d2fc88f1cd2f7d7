/* The helper that ends what a killed process left running: see orphans.h. */
#include "runtime/hydra/orphans.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/child.h"
#include "runtime/base/paths.h"
#include "runtime/base/thread.h"

static char helper[PATH_MAX];
static void (*describe)(char *text, size_t size);
static pid_t self;
static int lifeline = -1; /* the helper reads from its other end */

/* It becomes nobody's child at once: the program may wait for all of its own, and should not see this one. */
static int spawn(int lifeline_end)
{
    char text[256], *const argv[] = {helper, text, NULL}, *const environment[] = {NULL};
    const struct spawn what = {.argv = argv,
                               .environment = environment,
                               .in = lifeline_end,
                               .out = SPAWN_NOTHING,
                               .err = SPAWN_NOTHING,
                               .session = true};
    sigset_t before;
    pid_t pid;
    describe(text, sizeof text);
    thread_mask_signals(&before);
    int error = spawn_program(&what, &pid);
    if (!error)
        waitpid(pid, NULL, 0);
    thread_unmask_signals(&before);
    return error;
}

/* In a process that forked: its child is there, and does not have the lifeline. A child's own children are not looked
 * after. */
static void start(void)
{
    static atomic_flag begun = ATOMIC_FLAG_INIT;
    int ends[2];
    if (getpid() != self || atomic_flag_test_and_set(&begun) ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return;
    lifeline = ends[1];
    child_without(&lifeline);
    if (spawn(ends[0])) {
        close(lifeline);
        lifeline = -1;
    }
    close(ends[0]);
}

void orphans_begin(void (*what)(char *text, size_t size))
{
    self = getpid();
    describe = what;
    if (!helper_find("orphans", helper, sizeof helper))
        pthread_atfork(NULL, start, NULL);
}

void orphans_end(void)
{
    if (lifeline < 0)
        return;
    send(lifeline, "", 1, MSG_NOSIGNAL);
    close(lifeline);
    lifeline = -1;
}
