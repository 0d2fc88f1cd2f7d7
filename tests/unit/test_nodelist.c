/* Lists of nodes as Slurm writes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/base/batch.h"

static void names(const char *text, const char *expected)
{
    struct nodelist list = {0};
    char joined[200] = "";
    assert_int_equal(nodelist_add(&list, text), 0);
    for (size_t i = 0; i < list.count; i++) {
        strcat(joined, i ? " " : "");
        strcat(joined, list.names[i]);
    }
    assert_string_equal(joined, expected);
    nodelist_free(&list);
}

static void test_lists(void **state)
{
    (void)state;
    names("n1", "n1");
    names("n3,n1.a-b.org", "n3 n1.a-b.org");
    names("n[1-3]", "n1 n2 n3");
    names("n[08-11,2],gpu4", "n08 n09 n10 n11 n2 gpu4");
    names("r[1-2]n[1,4]x", "r1n1x r1n4x r2n1x r2n4x");
}

static void test_no_lists(void **state)
{
    static const char *const wrong[] = {"",     ",",      "n1,",     "n[",       "n[]",    "n[1",
                                        "n]1[", "n[3-1]", "n[1--2]", "n[1-2,]x", "n[a-b]", "n[0-99999999]",
                                        "n1,,", "n[-1]",  "n[1 2]",  "n[[1]]",   "n[1]n[2"};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct nodelist list = {0};
        assert_int_equal(nodelist_add(&list, wrong[i]), -1);
        nodelist_free(&list);
    }
}

static void test_numbers(void **state)
{
    static const int expected[] = {4, 4, 8, 16, 16, 16, 0};
    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_int_equal(nodelist_number("4(x2),8,16(x3)", i), expected[i]);
    assert_int_equal(nodelist_number("12", 0), 12);
    assert_int_equal(nodelist_number("12", 1), 0);
    static const char *const wrong[] = {NULL, "", "x", "-1", "0", "(x2)"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(nodelist_number(wrong[i], 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lists), cmocka_unit_test(test_no_lists),
                                       cmocka_unit_test(test_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
