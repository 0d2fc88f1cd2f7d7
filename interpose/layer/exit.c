/* _exit as programs meet it: no handler of exit's sees it, and a process manager that does may take the job for done.
 */
#include <stdlib.h>
#include <unistd.h>

#include "interpose/instead.h"

#define CALL __attribute__((visibility("default")))

CALL void _exit(int status)
{
    epop__instead__exit(status);
}

CALL void _Exit(int status)
{
    epop__instead__exit(status);
}
