/* Reading PHASE[:ITERATION][@RANK]. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "runtime/member/claim.h"

static epop_element_t elements[] = {{.type = EPOP_INIT, .name = "start"},
                                    {.type = EPOP_EP, .name = "work"},
                                    {.type = EPOP_BRANCH, .name = "a:1@2"},
                                    {.type = EPOP_RP},
                                    {.type = EPOP_RP, .name = "1"}};
static const epop_program_t program = {.name = "test", .size = 5, .elements = elements};

static struct breakpoint b;
static struct error why;

static int parse(const char *text)
{
    return epop__breakpoint_parse(&program, text, &b, &why);
}

static void expect(const char *text, int pc, int64_t iteration, int rank)
{
    assert_int_equal(parse(text), 0);
    assert_int_equal(b.pc, pc);
    assert_int_equal(b.iteration, iteration);
    assert_int_equal(b.rank, rank);
    assert_string_equal(b.text, text);
}

static void places(void **state)
{
    (void)state;
    expect("work", 1, -1, -1);
    expect("work:5", 1, 5, -1);
    expect("work@3", 1, -1, 3);
    expect("work:0@0", 1, 0, 0);
    expect("work:5000000000", 1, 5000000000, -1);
    expect("RP", 3, -1, -1);
    expect("2", 2, -1, -1);
    expect("3:7@1", 3, 7, 1);
    expect("1", 4, -1, -1); /* a name before a number */
    expect("a:1@2:0@1", 2, 0, 1);
}

static void refuse(const char *text, const char *part)
{
    assert_int_equal(parse(text), -1);
    assert_non_null(strstr(why.text, part));
    assert_null(strchr(why.text, '\n'));
}

static void no_places(void **state)
{
    char longest[200];
    (void)state;
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    refuse("", "PHASE[:ITERATION][@RANK]");
    refuse(longest, "PHASE[:ITERATION][@RANK]");
    refuse("nowhere", "test has no element 'nowhere'");
    refuse("9", "no element '9'");
    refuse("-1", "no element '-1'");
    refuse("work:", "no element 'work:'");
    refuse("work:-1", "no element 'work:-1'");
    refuse("work:99999999999999999999", "no element");
    refuse("start", "INIT is no place to stop at");
    refuse("2:1", "is a branch and has no iteration 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(places), cmocka_unit_test(no_places)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
