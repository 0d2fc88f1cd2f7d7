/* Who knows the token, and who does not: each end's code, over both challenges and what it says of itself. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/wire/attach.h"
#include "runtime/wire/proof.h"

#define ABOUT "attach member 1"

static char token[PROOF_TOKEN_MAX], client[PROOF_MAX], server[PROOF_MAX];

static int set_up(void **state)
{
    (void)state;
    return proof_random(token) || proof_random(client) || proof_random(server) ? -1 : 0;
}

static void make(char code[PROOF_MAX])
{
    proof_make(code, token, PROOF_CLIENT, client, server, ABOUT);
}

static void test_random_numbers_are_long_and_differ(void **state)
{
    char other[PROOF_MAX];
    (void)state;
    assert_int_equal(proof_random(other), 0);
    assert_int_equal(strlen(token), 64);
    assert_int_equal(strspn(token, "0123456789abcdef"), 64);
    assert_string_not_equal(token, other);
}

static void test_same_token_same_code(void **state)
{
    char one[PROOF_MAX], other[PROOF_MAX];
    (void)state;
    make(one);
    make(other);
    assert_int_equal(strlen(one), 64);
    assert_true(proof_is(one, other));
}

static void test_code_does_not_show_the_token(void **state)
{
    char code[PROOF_MAX];
    (void)state;
    make(code);
    for (size_t at = 0; at + 8 <= 64; at++) {
        char part[9] = "";
        memcpy(part, token + at, 8);
        assert_null(strstr(code, part));
    }
}

static void test_wrong_token(void **state)
{
    char right[PROOF_MAX], wrong[PROOF_MAX], other[PROOF_TOKEN_MAX];
    (void)state;
    make(right);
    for (size_t i = 0; i < 64; i++) {
        strcpy(other, token);
        other[i] = other[i] == '0' ? '1' : '0';
        proof_make(wrong, other, PROOF_CLIENT, client, server, ABOUT);
        assert_false(proof_is(right, wrong));
    }
    proof_make(wrong, "", PROOF_CLIENT, client, server, ABOUT);
    assert_false(proof_is(right, wrong));
}

/* Whoever has recorded an answer has nothing for another challenge, of either end. */
static void test_recorded_answer(void **state)
{
    char recorded[PROOF_MAX], wanted[PROOF_MAX], fresh[PROOF_MAX];
    (void)state;
    make(recorded);
    assert_int_equal(proof_random(fresh), 0);
    proof_make(wanted, token, PROOF_CLIENT, client, fresh, ABOUT);
    assert_false(proof_is(wanted, recorded));
    proof_make(wanted, token, PROOF_CLIENT, fresh, server, ABOUT);
    assert_false(proof_is(wanted, recorded));
}

/* What one end says is no answer for the other, nor for another role or number. */
static void test_other_end_and_other_role(void **state)
{
    static const struct {
        const char *role;
        int process;
    } others[] = {{"tool", -1}, {"lifeline", -1}, {"member", 2}, {"member", 11}, {"", -1}};
    char right[PROOF_MAX], code[PROOF_MAX], about[64];
    (void)state;
    attach_about(about, sizeof about, "member", 1);
    assert_string_equal(about, ABOUT);
    make(right);
    proof_make(code, token, PROOF_SERVER, client, server, ABOUT);
    assert_false(proof_is(right, code));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        attach_about(about, sizeof about, others[i].role, others[i].process);
        proof_make(code, token, PROOF_CLIENT, client, server, about);
        assert_false(proof_is(right, code));
    }
}

static void test_what_is_no_code(void **state)
{
    char code[PROOF_MAX], shown[PROOF_MAX + 1] = "";
    (void)state;
    make(code);
    assert_false(proof_is(code, NULL));
    assert_false(proof_is(code, ""));
    strcpy(shown, code);
    shown[63] = '\0';
    assert_false(proof_is(code, shown));
    strcpy(shown, code);
    strcat(shown, "0");
    assert_false(proof_is(code, shown));
    for (size_t i = 0; i < 64; i++) {
        strcpy(shown, code);
        shown[i] = shown[i] == 'a' ? 'b' : 'a';
        assert_false(proof_is(code, shown));
    }
    strcpy(shown, code);
    for (char *at = shown; *at; at++)
        *at = (char)toupper(*at);
    assert_false(proof_is(code, shown));
}

/* Strangers choose these texts. */
static void test_long_texts_stay_within(void **state)
{
    char text[2000], code[PROOF_MAX], other[PROOF_MAX], about[64];
    (void)state;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    attach_about(about, sizeof about, text, 2147483647);
    proof_make(code, token, PROOF_CLIENT, text, text, text);
    proof_make(other, token, PROOF_CLIENT, text, text, about);
    assert_int_equal(strlen(code), 64);
    assert_false(proof_is(code, other));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_numbers_are_long_and_differ),
        cmocka_unit_test(test_same_token_same_code),
        cmocka_unit_test(test_code_does_not_show_the_token),
        cmocka_unit_test(test_wrong_token),
        cmocka_unit_test(test_recorded_answer),
        cmocka_unit_test(test_other_end_and_other_role),
        cmocka_unit_test(test_what_is_no_code),
        cmocka_unit_test(test_long_texts_stay_within),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
