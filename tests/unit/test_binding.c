/* Which cores a joining process takes, on machines larger than this one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "runtime/base/binding.h"

static void assert_share(const char *possible, const char *used, int each, int index, int count, const char *expected)
{
    cpu_set_t all, taken, mine;
    char text[BINDING_TEXT_MAX];

    binding_parse(possible, &all);
    binding_parse(used, &taken);
    binding_share(&all, &taken, each, index, count, &mine);
    binding_text(&mine, text);
    assert_string_equal(text, expected);
}

static void test_one_each(void **state)
{
    (void)state;
    assert_share("0-7", "0-1", 1, 0, 2, "2");
    assert_share("0-7", "0-1", 1, 1, 2, "3");
    assert_share("0-7", "2,4", 1, 2, 3, "3");
    assert_share("4-7", "0-4", 1, 0, 1, "5");
}

static void test_as_many_as_a_running_rank_has(void **state)
{
    (void)state;
    assert_share("0-15", "0-3,8-11", 4, 0, 2, "4-7");
    assert_share("0-15", "0-3,8-11", 4, 1, 2, "12-15");
    assert_share("0-15", "0-3,8-11", 4, 2, 3, "12-13");
}

static void test_too_few_are_shared(void **state)
{
    (void)state;
    assert_share("0-7", "0-5", 1, 2, 3, "6-7");
}

static void test_none_left(void **state)
{
    (void)state;
    assert_share("0-3", "0-3", 1, 0, 1, "0-3");
}

static void test_text(void **state)
{
    static const char *const texts[] = {"", "0", "0-1", "1,3,5-7", "0-1023"};
    cpu_set_t cores;
    char text[BINDING_TEXT_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        binding_parse(texts[i], &cores);
        binding_text(&cores, text);
        assert_string_equal(text, texts[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_each),
        cmocka_unit_test(test_as_many_as_a_running_rank_has),
        cmocka_unit_test(test_too_few_are_shared),
        cmocka_unit_test(test_none_left),
        cmocka_unit_test(test_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
