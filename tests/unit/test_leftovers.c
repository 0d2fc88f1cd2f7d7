/* Files named as MPICH names its own: which are removed. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/hydra/leftovers.h"

/* A page; the caller closes it. path: a template. */
static int make(char *path)
{
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, 4096), 0);
    return fd;
}

static int exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static void test_what_nobody_has_is_removed(void **state)
{
    char path[] = "/dev/shm/mpich_shar_tmpXXXXXX", other[] = "/dev/shm/epop_test_XXXXXX";
    (void)state;
    close(make(path));
    close(make(other));
    leftovers_remove();
    assert_false(exists(path));
    assert_true(exists(other));
    unlink(other);
}

static void test_what_is_open_is_kept(void **state)
{
    char path[] = "/dev/shm/mpich_shar_tmpXXXXXX";
    (void)state;
    int fd = make(path);
    leftovers_remove();
    assert_true(exists(path));
    close(fd);
    leftovers_remove();
    assert_false(exists(path));
}

static void test_what_another_process_has_mapped_is_kept(void **state)
{
    char path[] = "/dev/shm/mpich_shar_tmpXXXXXX";
    (void)state;
    int fd = make(path);
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(page, MAP_FAILED);
    close(fd);
    pid_t child = fork();
    if (child == 0)
        for (;;)
            pause();
    munmap(page, 4096);
    leftovers_remove();
    int kept = exists(path);
    kill(child, SIGKILL);
    waitid(P_PID, (id_t)child, &(siginfo_t){0}, WEXITED | WNOWAIT);
    leftovers_remove(); /* it is not waited for yet */
    int left = exists(path);
    waitpid(child, NULL, 0);
    unlink(path);
    assert_true(kept);
    assert_false(left);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_nobody_has_is_removed),
        cmocka_unit_test(test_what_is_open_is_kept),
        cmocka_unit_test(test_what_another_process_has_mapped_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
