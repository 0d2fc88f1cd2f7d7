/* What a program calls the members of its values, and the arrays of its sparse rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/describe/members.h"

static void require_member(const struct value_member *member, const char *name, enum member_class class, size_t size,
                           size_t count, size_t offset)
{
    assert_string_equal(member->name, name);
    assert_int_equal(member->class, class);
    assert_int_equal(member->size, size);
    assert_int_equal(member->count, count);
    assert_int_equal(member->offset, offset);
}

/* The compiler says where they are. */
static void test_a_structure(void **state)
{
    struct mixed {
        char tag;
        double dt, centre[3];
        unsigned short kind;
        int64_t step;
        long double sum;
        float k[2][5];
        bool on;
    };
    struct members members;
    struct error error;
    (void)state;
    assert_int_equal(members_declared("char tag; double dt, centre[3];\n unsigned  short kind; int64_t step ;"
                                      "long double sum; float k[2][5]; bool on;",
                                      &members, &error),
                     0);
    assert_int_equal(members.count, 8);
    assert_int_equal(members.bytes, sizeof(struct mixed));
    require_member(&members.list[0], "tag", (char)-1 < 0 ? MEMBER_SIGNED : MEMBER_UNSIGNED, 1, 1, 0);
    require_member(&members.list[1], "dt", MEMBER_FLOAT, 8, 1, offsetof(struct mixed, dt));
    require_member(&members.list[2], "centre", MEMBER_FLOAT, 8, 3, offsetof(struct mixed, centre));
    require_member(&members.list[3], "kind", MEMBER_UNSIGNED, 2, 1, offsetof(struct mixed, kind));
    require_member(&members.list[4], "step", MEMBER_SIGNED, 8, 1, offsetof(struct mixed, step));
    require_member(&members.list[5], "sum", MEMBER_FLOAT, sizeof(long double), 1, offsetof(struct mixed, sum));
    require_member(&members.list[6], "k", MEMBER_FLOAT, 4, 10, offsetof(struct mixed, k));
    require_member(&members.list[7], "on", MEMBER_UNSIGNED, 1, 1, offsetof(struct mixed, on));
    members_free(&members);
}

static void test_names(void **state)
{
    struct members members;
    struct error error;
    (void)state;
    assert_int_equal(members_named(" column, value_2 ", &members, &error), 0);
    assert_int_equal(members.count, 2);
    require_member(&members.list[0], "column", MEMBER_NONE, 0, 1, 0);
    require_member(&members.list[1], "value_2", MEMBER_NONE, 0, 1, 0);
    members_free(&members);
}

static void test_no_structures(void **state)
{
    static const struct {
        const char *text, *why;
    } wrong[] = {{"", "no type and name at its end"},
                 {"step", "no type and name at 'step'"},
                 {"real x", "no type of C's numbers at 'real x'"},
                 {"double *x", "no type and name at 'double *x'"},
                 {"unsigned long long long int a", "no type of C's numbers at 'unsigned long long long int a'"},
                 {"int a[0]", "no count in brackets at '[0]'"},
                 {"int a[-1]", "no count in brackets at '[-1]'"},
                 {"int a[2147483648]", "no count in brackets at '[2147483648]'"},
                 {"int a[70000][70000]", "no count in brackets at '[70000][70000]'"},
                 {"int a[3", "no count in brackets at '[3'"},
                 {"int a, ", "no name at its end"},
                 {"int 2a", "no name at '2a'"},
                 {"int a: 3", "something else at ': 3'"},
                 {"int a; double a", "a name that was there before at 'a'"},
                 {"int a;; int b", "no type and name at '; int b'"}};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct members members;
        struct error error;
        assert_int_equal(members_declared(wrong[i].text, &members, &error), -1);
        assert_string_equal(error.text, wrong[i].why);
        assert_null(members.list);
    }
}

static void test_no_names(void **state)
{
    static const char *const wrong[] = {"", ",", "a,", "a b", "a; b", "a, a", "a[2]", "a/b"};
    char longest[] = "x012345678901234567890123456789012345678901234567890123456789012", longer[sizeof longest + 1];
    struct members members;
    struct error error;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(members_named(wrong[i], &members, &error), -1);
    strcat(strcpy(longer, longest), "3");
    assert_int_equal(members_named(longer, &members, &error), -1);
    longest[sizeof longest - 2] = 0;
    assert_int_equal(members_named(longest, &members, &error), 0);
    members_free(&members);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_structure), cmocka_unit_test(test_names),
                                       cmocka_unit_test(test_no_structures), cmocka_unit_test(test_no_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
