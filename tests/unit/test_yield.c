/* When a rank that waits gives way: UCX's function and the yield are this test's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE = 1000, PATIENCE_IN_A_CROWD = 20 };

unsigned ucp_worker_progress(void *worker); /* the one that is tested */

static struct {
    unsigned answer;
    void *worker;
    int asked, yields, sought;
    int only_by_the_caller; /* nothing comes next in order */
} ucx;

static unsigned progress(void *worker)
{
    ucx.asked++;
    ucx.worker = worker;
    return ucx.answer;
}

void *__wrap_dlsym(void *handle, const char *name)
{
    unsigned (*found)(void *) = progress;
    assert_string_equal(name, "ucp_worker_progress");
    ucx.sought++;
    return handle == RTLD_NEXT && ucx.only_by_the_caller ? NULL : *(void **)&found;
}

int __real_dladdr(const void *address, Dl_info *info);
int __wrap_dladdr(const void *address, Dl_info *info)
{
    int found = __real_dladdr(address, info);
    info->dli_fname = "libc.so.6"; /* a library that is there, as the caller's */
    return found;
}

int __wrap_sched_yield(void)
{
    ucx.yields++;
    return 0;
}

static void *find_nothing(void *times)
{
    for (intptr_t i = 0; i < (intptr_t)times; i++)
        assert_int_equal(ucp_worker_progress(NULL), 0);
    return NULL;
}

static void test_found_by_the_caller_and_only_once(void **state)
{
    (void)state;
    ucx.only_by_the_caller = 1;
    find_nothing((void *)2);
    assert_int_equal(ucx.asked, 2);
    assert_int_equal(ucx.sought, 2);
}

static void test_what_ucx_says_is_passed_on(void **state)
{
    (void)state;
    int worker;
    ucx.answer = 3;
    assert_int_equal(ucp_worker_progress(&worker), 3);
    assert_ptr_equal(ucx.worker, &worker);
}

static void test_yields_after_a_while_until_something_comes(void **state)
{
    (void)state;
    find_nothing((void *)PATIENCE);
    assert_int_equal(ucx.yields, 0);
    find_nothing((void *)5);
    assert_int_equal(ucx.yields, 5);
    ucx.answer = 1;
    ucp_worker_progress(NULL);
    ucx.answer = 0;
    find_nothing((void *)PATIENCE);
    assert_int_equal(ucx.yields, 5);
    find_nothing((void *)1);
    assert_int_equal(ucx.yields, 6);
}

static void test_each_thread_counts_for_itself(void **state)
{
    (void)state;
    pthread_t other;
    find_nothing((void *)PATIENCE);
    assert_int_equal(pthread_create(&other, NULL, find_nothing, (void *)PATIENCE), 0);
    pthread_join(other, NULL);
    assert_int_equal(ucx.yields, 0);
}

/* ---- More ranks than processors ------------------------------------------------------------------ */

static void test_a_crowd_yields_soon(void **state)
{
    (void)state;
    find_nothing((void *)PATIENCE_IN_A_CROWD);
    assert_int_equal(ucx.yields, 0);
    find_nothing((void *)5);
    assert_int_equal(ucx.yields, 5);
}

/* Each begins with something that has come. */
static int setup(void **state)
{
    (void)state;
    static int before;
    if (before++) {
        ucx.answer = 1;
        ucp_worker_progress(NULL);
    }
    memset(&ucx, 0, sizeof ucx);
    return 0;
}

/* What it finds in its first call counts from then on: so those of a crowd have a process of their own. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_found_by_the_caller_and_only_once, setup),
        cmocka_unit_test_setup(test_what_ucx_says_is_passed_on, setup),
        cmocka_unit_test_setup(test_yields_after_a_while_until_something_comes, setup),
        cmocka_unit_test_setup(test_each_thread_counts_for_itself, setup),
    };
    const struct CMUnitTest in_a_crowd[] = {
        cmocka_unit_test_setup(test_found_by_the_caller_and_only_once, setup),
        cmocka_unit_test_setup(test_a_crowd_yields_soon, setup),
    };
    if (argc > 1)
        return cmocka_run_group_tests(in_a_crowd, NULL, NULL);
    setenv("MPI_LOCALNRANKS", "1", 1);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    setenv("MPI_LOCALNRANKS", "1000000", 1);
    if (!failed)
        execl("/proc/self/exe", argv[0], "crowd", (char *)NULL);
    return 1;
}
