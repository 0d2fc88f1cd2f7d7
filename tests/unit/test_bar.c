/* The text of the progress bar. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/bar/text.h"

static struct bar_state at(int64_t iteration, double left)
{
    return (struct bar_state){
        .program = "heat", .size = 4, .iteration = iteration, .bound = 1000, .left = left, .running = true};
}

static const char *text_of(struct bar_state state, int width)
{
    static char text[600];
    bar_text(&state, width, text, sizeof text);
    return text;
}

static void usual(void **state)
{
    (void)state;
    assert_string_equal(text_of(at(450, 123), 70),
                        "heat  4 ranks [=========>            ]  45 %  450/1000  2 min 3 s left");
    assert_string_equal(text_of(at(0, -1), 60), "heat  4 ranks [>                     ]   0 %  0/1000  ? left");
    assert_string_equal(text_of(at(1000, 0), 60), "heat  4 ranks [=================] 100 %  1000/1000  0 s left");
    assert_string_equal(text_of(at(2000, 7300), 60), "heat  4 ranks [===========] 100 %  2000/1000  2 h 1 min left");
}

static void narrow(void **state)
{
    (void)state;
    assert_string_equal(text_of(at(450, 12), 45), "heat  4 ranks   45 %  450/1000  12 s left");
    assert_string_equal(text_of(at(450, 12), 30), " 45 %  450/1000  12 s left");
    assert_string_equal(text_of(at(450, 12), 6), " 45 % ");
    assert_string_equal(text_of(at(450, 12), 0), "");
}

static void every_width(void **state)
{
    (void)state;
    for (int width = 0; width < 700; width++)
        assert_true(strlen(text_of(at(width, width), width)) <= (size_t)width);
}

static void not_running(void **state)
{
    struct bar_state paused = at(450, 12);
    (void)state;
    paused.running = false;
    paused.state = "paused";
    assert_non_null(strstr(text_of(paused, 80), "450/1000  paused"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(usual), cmocka_unit_test(narrow), cmocka_unit_test(every_width),
                                       cmocka_unit_test(not_running)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
