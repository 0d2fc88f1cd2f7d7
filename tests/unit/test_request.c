/* A program that asks for another size in every iteration: what of that is sent to the coordinator. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/base/json.h"
#include "runtime/member/member.h"

static struct {
    int sent, size; /* the last one's */
    int result;     /* of the next ones */
    bool answers;   /* the coordinator has heard each before the call returns */
} way;
static struct member member;

static void hear(void)
{
    cJSON *message = json_message("heard");
    member_receive(&member, message);
    cJSON_Delete(message);
}

static int tell(void *context, const cJSON *message)
{
    (void)context;
    way.sent++;
    way.size = json_int(message, "size", 0);
    if (way.answers)
        hear();
    return way.result;
}

static int request(int size)
{
    cJSON *message = json_message("request");
    cJSON_AddNumberToObject(message, "size", size);
    return member_request(&member, message);
}

static void assert_sent(int count, int size)
{
    assert_int_equal(way.sent, count);
    assert_int_equal(way.size, size);
}

static int set_up(void **state)
{
    (void)state;
    way.sent = way.size = way.result = 0;
    way.answers = false;
    assert_int_equal(member_init(&member, 1), 0);
    member.tell = tell;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    member_destroy(&member);
    return 0;
}

static void test_the_same_once_until_it_is_heard(void **state)
{
    (void)state;
    assert_int_equal(request(4), 0);
    assert_int_equal(request(4), 0);
    assert_sent(1, 4);
    hear();
    assert_int_equal(request(4), 0);
    assert_sent(2, 4);
}

static void test_another_is_sent_at_once(void **state)
{
    (void)state;
    assert_int_equal(request(4), 0);
    assert_int_equal(request(6), 0);
    assert_sent(2, 6);
    assert_int_equal(request(4), 0);
    assert_sent(3, 4);
}

static void test_heard_before_the_call_returns(void **state)
{
    (void)state;
    way.answers = true;
    assert_int_equal(request(4), 0);
    assert_int_equal(request(4), 0);
    assert_sent(2, 4);
}

/* The same again must not pass for one that is on its way. */
static void test_what_could_not_be_sent(void **state)
{
    (void)state;
    way.result = -1;
    assert_int_equal(request(4), -1);
    assert_int_equal(request(4), -1);
    assert_sent(2, 4);
    way.result = 0;
    assert_int_equal(request(4), 0);
    assert_int_equal(request(4), 0);
    assert_sent(3, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_same_once_until_it_is_heard, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_another_is_sent_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_heard_before_the_call_returns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_could_not_be_sent, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
