/* The helper that ends what a killed process left running: see orphans.h. */
#include "runtime/hydra/orphans.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/child.h"
#include "runtime/base/helper.h"
#include "runtime/base/spawn.h"

static char helper[PATH_MAX];
static const char *argument;
static pid_t self;
static int lifeline = -1; /* the helper reads from its other end */

/* It becomes nobody's child at once: the program may wait for all of its own. */
static int spawn(int lifeline_end)
{
    char *const argv[] = {helper, (char *)argument, NULL}, *const environment[] = {NULL};
    const struct spawn what = {.argv = argv,
                               .environment = environment,
                               .in = lifeline_end,
                               .out = SPAWN_NOTHING,
                               .err = SPAWN_NOTHING,
                               .session = true};
    pid_t pid;
    int error = spawn_program(&what, &pid);
    if (!error)
        waitpid(pid, NULL, 0);
    return error;
}

/* In a process that forked: its child is there, and does not have the lifeline. A child's own children are not looked
 * after. */
static void start(void)
{
    static atomic_flag begun = ATOMIC_FLAG_INIT;
    int ends[2];
    if (getpid() != self || atomic_flag_test_and_set(&begun) || pipe2(ends, O_CLOEXEC))
        return;
    lifeline = ends[1];
    child_without(&lifeline);
    if (spawn(ends[0])) {
        close(lifeline);
        lifeline = -1;
    }
    close(ends[0]);
}

void orphans_begin(const char *what)
{
    self = getpid();
    argument = what;
    if (!helper_find("orphans", helper, sizeof helper))
        pthread_atfork(NULL, start, NULL);
}

void orphans_end(void)
{
    if (lifeline >= 0 && write(lifeline, "", 1) == 1) {
        close(lifeline);
        lifeline = -1;
    }
}
