/* Which hosts a list names: short names and whole ones are used side by side. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_listed), cmocka_unit_test(test_not_listed),
                                       cmocka_unit_test(test_each),   cmocka_unit_test(test_long),
                                       cmocka_unit_test(test_valid),  cmocka_unit_test(test_not_valid)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
