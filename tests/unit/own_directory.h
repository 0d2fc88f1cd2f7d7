/* Tests whose jobs have a runtime directory of their own: group fixtures of cmocka. */
#ifndef TEST_OWN_DIRECTORY_H
#define TEST_OWN_DIRECTORY_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char own_directory[] = "/tmp/epop-test-XXXXXX";

static inline int own_directory_set_up(void **state)
{
    (void)state;
    unsetenv("EPOP_RUNTIME_DIR");
    return mkdtemp(own_directory) ? setenv("XDG_RUNTIME_DIR", own_directory, 1) : -1;
}

static inline int own_directory_tear_down(void **state)
{
    char epop[64];
    (void)state;
    snprintf(epop, sizeof epop, "%s/epop", own_directory);
    rmdir(epop);
    rmdir(own_directory);
    return 0;
}

#endif
