/*
 * orphans WHAT: waits for the end of the process that has the other end of its standard input. One that ends well says
 * so; what any other left running, and would keep the job from ending, is ended here. EPOP starts it
 * (runtime/hydra/holders.c); WHAT is how that process's output is recognised (runtime/hydra/holders.h).
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "runtime/base/proctree.h"
#include "runtime/hydra/holders.h"

int main(int argc, char **argv)
{
    char byte;
    struct proc_id owner = argc == 2 ? holders_adopt(argv[1]) : (struct proc_id){0};
    struct pollfd end = {.fd = proctree_watch(&owner), .events = POLLIN};
    if (!owner.number || (end.fd < 0 && errno != ESRCH)) {
        fprintf(stderr, "usage: orphans WHAT (epop starts it)\n");
        return 2;
    }
    for (int number = 1; number < 32; number++)
        signal(number, SIG_IGN); /* those that the user sends are for the job */
    if (fork() == 0 && read(STDIN_FILENO, &byte, 1) == 0) {
        if (end.fd >= 0) /* it has not ended already, and may have become another program */
            poll(&end, 1, -1);
        holders_end();
    }
    return 0;
}
