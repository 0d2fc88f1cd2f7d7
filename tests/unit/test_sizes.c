/* World-size rules: what each kind accepts, and that rounding finds the largest accepted size. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <epop/program.h>

#include "epop_api/sizes.h"

static int is_triangular(int size)
{
    int sum = 0;
    for (int i = 1; sum < size; i++)
        sum += i;
    return sum == size;
}

static int nothing(int size)
{
    (void)size;
    return 0;
}

struct sample {
    epop_sizes_t sizes;
    int accepted[8]; /* all of them up to 20, ends with 0 */
};

static const struct sample samples[] = {
    {{.kind = EPOP_SIZE_ANY, .min = 3, .max = 6}, {3, 4, 5, 6}},
    {{.kind = EPOP_SIZE_ANY, .max = 2}, {1, 2}},
    {{.kind = EPOP_SIZE_MULTIPLE, .factor = 6}, {6, 12, 18}},
    {{.kind = EPOP_SIZE_MULTIPLE, .factor = 5, .min = 6, .max = 19}, {10, 15}},
    {{.kind = EPOP_SIZE_MULTIPLE, .factor = 0}, {0}},
    {{.kind = EPOP_SIZE_POWER_OF_TWO}, {1, 2, 4, 8, 16}},
    {{.kind = EPOP_SIZE_POWER_OF_TWO, .min = 3, .max = 15}, {4, 8}},
    {{.kind = EPOP_SIZE_SQUARE}, {1, 4, 9, 16}},
    {{.kind = EPOP_SIZE_SQUARE, .min = 5, .max = 8}, {0}},
    {{.kind = EPOP_SIZE_EVEN, .max = 9}, {2, 4, 6, 8}},
    {{.kind = EPOP_SIZE_ODD, .min = 14}, {15, 17, 19}},
    {{.kind = EPOP_SIZE_FUNCTION, .accepts = is_triangular}, {1, 3, 6, 10, 15}},
    {{.kind = EPOP_SIZE_FUNCTION, .accepts = is_triangular, .min = 2, .max = 9}, {3, 6}},
    {{.kind = EPOP_SIZE_FUNCTION, .accepts = nothing}, {0}},
    {{.kind = EPOP_SIZE_FUNCTION}, {0}},
    {{.kind = (epop_size_kind)77}, {0}},
};
#define SAMPLES (sizeof samples / sizeof *samples)

static int listed(const struct sample *sample, int size)
{
    for (int i = 0; i < 8 && sample->accepted[i]; i++) {
        if (sample->accepted[i] == size)
            return 1;
    }
    return 0;
}

static void accepts_what_is_listed(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLES; i++) {
        for (int size = -2; size <= 20; size++) {
            if (!!epop_sizes_accept(&samples[i].sizes, size) != listed(&samples[i], size))
                fail_msg("rule %zu, size %d", i, size);
        }
    }
}

static void rounds_down_to_the_largest_listed(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLES; i++) {
        int best = 0;
        for (int size = -2; size <= 20; size++) {
            if (size > 0 && listed(&samples[i], size))
                best = size;
            if (epop_sizes_round_down(&samples[i].sizes, size) != best)
                fail_msg("rule %zu, size %d: %d", i, size, epop_sizes_round_down(&samples[i].sizes, size));
        }
    }
}

static void null_is_any_size(void **state)
{
    (void)state;
    assert_true(epop_sizes_accept(NULL, 7));
    assert_false(epop_sizes_accept(NULL, 0));
    assert_int_equal(epop_sizes_round_down(NULL, 7), 7);
    assert_int_equal(epop_sizes_round_down(NULL, -7), 0);
}

static void large_sizes_do_not_overflow(void **state)
{
    (void)state;
    const epop_sizes_t square = {.kind = EPOP_SIZE_SQUARE}, power = {.kind = EPOP_SIZE_POWER_OF_TWO};
    assert_int_equal(epop_sizes_round_down(&square, INT_MAX), 46340 * 46340);
    assert_int_equal(epop_sizes_round_down(&power, INT_MAX), 1 << 30);
    assert_true(epop_sizes_accept(&power, 1 << 30));
}

static void own_rule_of_an_element_comes_first(void **state)
{
    (void)state;
    epop_sizes_t odd = {.kind = EPOP_SIZE_ODD};
    epop_element_t elements[] = {{.type = EPOP_INIT}, {.type = EPOP_EP, .sizes = &odd}};
    epop_program_t program = {.size = 2, .elements = elements, .sizes = {.kind = EPOP_SIZE_EVEN}};
    assert_ptr_equal(epop_sizes_at(&program, 1), &odd);
    assert_ptr_equal(epop_sizes_at(&program, 0), &program.sizes);
    assert_ptr_equal(epop_sizes_at(&program, 2), &program.sizes);
    assert_ptr_equal(epop_sizes_at(&program, -1), &program.sizes);
    assert_null(epop_sizes_at(NULL, 0));
}

static void rules_in_words(void **state)
{
    (void)state;
    static const struct {
        epop_sizes_t sizes;
        const char *text;
    } texts[] = {
        {{0}, "any size"},
        {{.max = 4}, "any size, at most 4"},
        {{.kind = EPOP_SIZE_MULTIPLE, .factor = 3, .min = 6}, "multiples of 3, at least 6"},
        {{.kind = EPOP_SIZE_SQUARE, .min = 4, .max = 16}, "squares, 4 to 16"},
        {{.kind = EPOP_SIZE_FUNCTION, .accepts = nothing}, "sizes chosen by the program's own function"},
        {{.kind = EPOP_SIZE_FUNCTION, .accepts = is_triangular, .min = 2, .max = 20}, "3, 6, 10 and 15"},
        {{.kind = EPOP_SIZE_FUNCTION, .accepts = is_triangular, .min = 2, .max = 3}, "3"},
        {{.kind = EPOP_SIZE_FUNCTION, .accepts = is_triangular, .max = 100},
         "sizes chosen by the program's own function, at most 100"},
        {{.kind = (epop_size_kind)77}, "an unknown rule"},
    };
    char text[100];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(epop_sizes_text(&texts[i].sizes, text, sizeof text), EPOP_OK);
        assert_string_equal(text, texts[i].text);
    }
    assert_int_equal(epop_sizes_text(NULL, text, 4), EPOP_OK);
    assert_string_equal(text, "any");
    assert_int_equal(epop_sizes_text(NULL, text, 0), EPOP_ERR_ARGUMENT);
}

/* ---- Rules as text ------------------------------------------------------------------------------ */

static const struct {
    const char *text;
    int accepted[9]; /* all of them up to 20, ends with 0 */
    epop_sizes_t sizes;
} texts[] = {
    {"any,18-", {18, 19, 20}, {.min = 18}},
    {"2,4,8", {2, 4, 8}, {.min = 2, .max = 8}},
    {"9-10,1,3-4", {1, 3, 4, 9, 10}, {.min = 1, .max = 10}},
    {"power-of-two", {1, 2, 4, 8, 16}, {.kind = EPOP_SIZE_POWER_OF_TWO}},
    {"3-9,power-of-two,preferred=8", {4, 8}, {.kind = EPOP_SIZE_POWER_OF_TWO, .min = 3, .max = 9, .preferred = 8}},
    {"weak,4-8", {4, 5, 6, 7, 8}, {.min = 4, .max = 8, .scaling = EPOP_SCALING_WEAK}},
    {"1-2,weak-work", {1, 2}, {.min = 1, .max = 2, .scaling = EPOP_SCALING_WEAK_WORK}},
    {"multiple:6", {6, 12, 18}, {.kind = EPOP_SIZE_MULTIPLE, .factor = 6}},
    {"multiple:6,5-7,18-", {6, 18}, {.kind = EPOP_SIZE_MULTIPLE, .factor = 6, .min = 5}},
    {"square", {1, 4, 9, 16}, {.kind = EPOP_SIZE_SQUARE}},
    {"even,1-5", {2, 4}, {.kind = EPOP_SIZE_EVEN, .min = 1, .max = 5}},
    {"odd,16-", {17, 19}, {.kind = EPOP_SIZE_ODD, .min = 16}},
};

static void a_rule_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct sizes_rule rule;
        assert_null(sizes_rule_read(&rule, texts[i].text));
        assert_memory_equal(&rule.sizes, &texts[i].sizes, sizeof rule.sizes);
        for (int size = -1, next = 0; size <= 20; size++) {
            bool listed = size == texts[i].accepted[next];
            if (sizes_rule_accepts(&rule, size) != listed)
                fail_msg("%s, size %d", texts[i].text, size);
            next += listed;
        }
    }
}

static void what_is_no_rule_is_told(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",           ",",           "2,",          "2 4",        "0",
                                        "-4",         "4-2",         "2-3-4",       "prime",      "even,odd",
                                        "multiple:0", "multiple",    "preferred=0", "preferred=", "2,4,8,eight",
                                        "1000001",    "99999999999", "weak,weak",   "weakly",     "work"};
    struct sizes_rule rule;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *why = sizes_rule_read(&rule, wrong[i]);
        if (!why || !strstr(why, "is no size rule: of any, even"))
            fail_msg("'%s': %s", wrong[i], why ? why : "right");
    }
    assert_string_equal(sizes_rule_read(&rule, "square,5-8"), "accepts no number of ranks");
    assert_string_equal(sizes_rule_read(&rule, "2,4,preferred=3"), "does not accept the number that it prefers");
}

static void a_rule_has_so_many_ranges(void **state)
{
    (void)state;
    struct sizes_rule rule;
    char text[4 * SIZES_RANGES_MAX] = "7";
    for (int i = 1; i < SIZES_RANGES_MAX; i++)
        strcat(text, ",7");
    assert_null(sizes_rule_read(&rule, text));
    assert_int_equal(rule.count, SIZES_RANGES_MAX);
    strcat(text, ",7");
    assert_non_null(sizes_rule_read(&rule, text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_what_is_listed),
        cmocka_unit_test(rounds_down_to_the_largest_listed),
        cmocka_unit_test(null_is_any_size),
        cmocka_unit_test(large_sizes_do_not_overflow),
        cmocka_unit_test(own_rule_of_an_element_comes_first),
        cmocka_unit_test(rules_in_words),
        cmocka_unit_test(a_rule_is_read),
        cmocka_unit_test(what_is_no_rule_is_told),
        cmocka_unit_test(a_rule_has_so_many_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
