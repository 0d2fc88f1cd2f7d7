/* The ticket with which a process attaches, and the search for the token in what a newcomer says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/control/control.h"
#include "runtime/control/rundir.h"
#include "runtime/control/token.h"

static char token[CONTROL_TOKEN_MAX];

static int setup(void **state)
{
    (void)state;
    return control_token_make(token);
}

static void test_tokens_are_long_and_differ(void **state)
{
    char other[CONTROL_TOKEN_MAX];
    (void)state;
    assert_int_equal(control_token_make(other), 0);
    assert_int_equal(strlen(token), 64);
    assert_int_equal(strspn(token, "0123456789abcdef"), 64);
    assert_string_not_equal(token, other);
}

static void test_members_ticket(void **state)
{
    const int numbers[] = {1, 2, 1000, 2147483647};
    char nspace[CONTROL_NSPACE_MAX], again[CONTROL_NSPACE_MAX];
    int process = 0;
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        control_nspace_member(nspace, token, numbers[i]);
        control_nspace_member(again, token, numbers[i]);
        assert_string_not_equal(nspace, again);
        assert_true(strlen(nspace) < CONTROL_NSPACE_MAX - 1);
        assert_int_equal(control_nspace_check(nspace, token, &process), 0);
        assert_int_equal(process, numbers[i]);
    }
}

static void test_epopctls_ticket(void **state)
{
    char nspace[CONTROL_NSPACE_MAX];
    int process = 7;
    (void)state;
    control_nspace_client(nspace, token);
    assert_int_equal(control_nspace_check(nspace, token, &process), 0);
    assert_int_equal(process, -1);
}

static void test_bad_tickets(void **state)
{
    static const char *const tails[] = {"",
                                        "-",
                                        "-m",
                                        "-m1",
                                        "-m0.a",
                                        "-m-1.a",
                                        "-x1.a",
                                        "-m1x.a",
                                        "-m.a",
                                        "m1.a",
                                        "-1.a",
                                        "--1.a",
                                        "-m99999999999999999999.a",
                                        "-m1 .a",
                                        "-\11.a",
                                        "-c0.a",
                                        "-c1"};
    char nspace[300];
    int process;
    (void)state;
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        snprintf(nspace, sizeof nspace, "epop-%s%s", token, tails[i]);
        if (control_nspace_check(nspace, token, &process) != -1)
            fail_msg("accepted: %s", nspace);
    }
}

static void test_wrong_token(void **state)
{
    char nspace[CONTROL_NSPACE_MAX];
    int process;
    (void)state;
    for (size_t i = 0; i < 64; i++) {
        control_nspace_member(nspace, token, 1);
        char *digit = &nspace[strlen("epop-") + i];
        *digit = *digit == '0' ? '1' : '0';
        assert_int_equal(control_nspace_check(nspace, token, &process), -1);
    }
    assert_int_equal(control_nspace_check("", token, &process), -1);
    assert_int_equal(control_nspace_check("epop-", token, &process), -1);
}

static void test_token_is_found_wherever_it_stands(void **state)
{
    char bytes[200];
    (void)state;
    for (size_t at = 0; at + 64 <= sizeof bytes; at++) {
        memset(bytes, 'x', sizeof bytes);
        memcpy(bytes + at, token, 64);
        assert_int_equal(control_token_within(token, bytes, sizeof bytes), 1);
        bytes[at + 63] ^= 1;
        assert_int_equal(control_token_within(token, bytes, sizeof bytes), 0);
        bytes[at + 63] ^= 1;
        assert_int_equal(control_token_within(token, bytes, at + 63), 0); /* cut short */
    }
    assert_int_equal(control_token_within(token, bytes, 0), 0);
    assert_int_equal(control_token_within("", bytes, sizeof bytes), 0); /* before there is one, nobody gets in */
}

static void test_start_of_a_process(void **state)
{
    (void)state;
    assert_true(control_process_start(getpid()) > 0);
    assert_true(control_process_start(getpid()) == control_process_start(getpid()));
    assert_true(!control_process_start(0x7ffffffe));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens_are_long_and_differ),
        cmocka_unit_test(test_members_ticket),
        cmocka_unit_test(test_epopctls_ticket),
        cmocka_unit_test(test_bad_tickets),
        cmocka_unit_test(test_wrong_token),
        cmocka_unit_test(test_token_is_found_wherever_it_stands),
        cmocka_unit_test(test_start_of_a_process),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
