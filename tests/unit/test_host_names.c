/* Which hosts a list names: short names and whole ones are used side by side. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/base/host.h"

static void test_listed(void **state)
{
    (void)state;
    assert_true(hostlist_has("n1", "n1"));
    assert_true(hostlist_has("n0,n1,n2", "n1"));
    assert_true(hostlist_has("n1.cluster.org", "n1"));
    assert_true(hostlist_has("n0,n1", "n1.cluster.org"));
    assert_true(hostlist_has("n1.a.org", "n1.a.org"));
    assert_true(hostlist_has("n0,n1:4", "n1") && hostlist_has("n1:4", "n1.cluster.org"));
}

static void test_not_listed(void **state)
{
    (void)state;
    assert_false(hostlist_has("", "n1"));
    assert_false(hostlist_has("n10,n", "n1"));
    assert_false(hostlist_has("n1", "n10"));
    assert_false(hostlist_has("n1.a.org", "n1.b.org"));
    assert_false(hostlist_has("n1.a.or", "n1.a.org"));
    assert_false(hostlist_has("10.0.0.2", "10.0.0.1"));
}

static void test_each(void **state)
{
    char name[HOST_MAX];
    const char *at = "n1:2,n2.a.org,fe80::1,n3:";
    int count;
    (void)state;
    assert_true(hostlist_next(&at, name, &count) && !strcmp(name, "n1") && count == 2);
    assert_true(hostlist_next(&at, name, &count) && !strcmp(name, "n2.a.org") && count == 0);
    assert_true(hostlist_next(&at, name, NULL) && !strcmp(name, "fe80::1"));
    assert_true(hostlist_next(&at, name, &count) && !strcmp(name, "n3:") && count == 0);
    assert_false(hostlist_next(&at, name, &count));
}

/* Of 253 characters, as the domain name system allows. */
static void test_long(void **state)
{
    char list[260] = "n1.", name[HOST_MAX];
    const char *at = list;
    int count;
    (void)state;
    memset(list + 3, 'a', 250);
    strcpy(list + 253, ":12");
    assert_true(hostlist_valid(list) && hostlist_has(list, "n1"));
    assert_true(hostlist_next(&at, name, &count));
    assert_int_equal(count, 12);
    assert_int_equal(strlen(name), 253);
    assert_true(hostlist_has(list, name));
}

static void test_valid(void **state)
{
    (void)state;
    assert_true(hostlist_valid("n1"));
    assert_true(hostlist_valid("n1.a-b.org,n2:4,10.0.0.1,fe80::1"));
}

static void test_not_valid(void **state)
{
    static const char *const lists[] = {"", ",", "n1,", ",n1", "n1,,n2", "n1, n2", "n1 n2", "n1\n", "-n1", "n1,-x"};
    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        assert_false(hostlist_valid(lists[i]));
}

/* In a process of its own, whose host is called so. Its status. */
static int own_name_is(const char *name)
{
    int status = -1;
    pid_t pid = fork();
    if (!pid && (unshare(CLONE_NEWUTS) || sethostname(name, strlen(name))))
        _exit(77);
    if (!pid)
        _exit(strcmp(host_own(), name) != 0);
    assert_true(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Linux has names of up to 64 characters. */
static void test_own(void **state)
{
    char longest[HOST_OWN_MAX] = "";
    (void)state;
    memset(longest, 'n', sizeof longest - 1);
    int status = own_name_is("n1.cluster.org");
    if (status == 77)
        skip(); /* only root may have a host of its own */
    assert_int_equal(status, 0);
    assert_int_equal(own_name_is(longest), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_listed), cmocka_unit_test(test_not_listed),
                                       cmocka_unit_test(test_each),   cmocka_unit_test(test_long),
                                       cmocka_unit_test(test_valid),  cmocka_unit_test(test_not_valid),
                                       cmocka_unit_test(test_own)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
