/* Which columns of a table fit into a narrow terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "terminal/output.h"

#define COLUMNS 4

static const int widths[COLUMNS] = {10, 5, 7, 3}, drop[] = {3, 1};

static void assert_shown(int room, const bool *expected)
{
    bool shown[COLUMNS];
    term_fit(widths, COLUMNS, drop, 2, room, shown);
    for (int column = 0; column < COLUMNS; column++)
        if (shown[column] != expected[column])
            fail_msg("column %d of %d characters", column, room);
}

static void all_fit(void **state)
{
    (void)state;
    assert_shown(31, (const bool[]){true, true, true, true});
    assert_shown(1000, (const bool[]){true, true, true, true});
}

static void the_least_important_goes_first(void **state)
{
    (void)state;
    assert_shown(30, (const bool[]){true, true, true, false});
    assert_shown(26, (const bool[]){true, true, true, false});
    assert_shown(25, (const bool[]){true, false, true, false});
    assert_shown(19, (const bool[]){true, false, true, false});
}

static void the_others_stay(void **state)
{
    (void)state;
    assert_shown(5, (const bool[]){true, false, true, false});
    assert_shown(0, (const bool[]){true, false, true, false});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_fit),
        cmocka_unit_test(the_least_important_goes_first),
        cmocka_unit_test(the_others_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
