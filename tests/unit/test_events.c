/* The coordinator's two queues: the job's own before requests, each in order, and neither for ever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "runtime/coordinator/events.h"

static struct events *events;

static int set_up(void **state)
{
    (void)state;
    events = calloc(1, sizeof *events);
    events_init(events);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    events_destroy(events);
    free(events);
    return 0;
}

static void message(int n)
{
    events_post(events, (struct event){.type = EVENT_MESSAGE, .process = n});
}

static void request(int n)
{
    events_post(events, (struct event){.type = EVENT_REQUEST, .process = n});
}

static void expect(int type, int n)
{
    struct event *event = events_take(events);
    assert_non_null(event);
    assert_int_equal(event->type, type);
    assert_int_equal(event->process, n);
    events_free(events, event);
}

static void test_messages_come_before_requests(void **state)
{
    (void)state;
    for (int n = 0; n < 1000; n++)
        request(n);
    message(0);
    events_post(events, (struct event){.type = EVENT_LOST, .process = 1});
    events_post(events, (struct event){.type = EVENT_BACKEND, .process = 2});
    events_post(events, (struct event){.type = EVENT_CLOSED, .process = 3});
    expect(EVENT_MESSAGE, 0);
    expect(EVENT_LOST, 1);
    expect(EVENT_BACKEND, 2);
    expect(EVENT_CLOSED, 3);
    for (int n = 0; n < 1000; n++)
        expect(EVENT_REQUEST, n);
    assert_null(events_take(events));
}

static void test_abandoned_comes_behind_its_request(void **state)
{
    (void)state;
    request(0);
    events_post(events, (struct event){.type = EVENT_ABANDONED, .process = 0});
    message(5);
    request(1);
    expect(EVENT_MESSAGE, 5);
    expect(EVENT_REQUEST, 0);
    expect(EVENT_ABANDONED, 0);
    expect(EVENT_REQUEST, 1);
    assert_null(events_take(events));
}

/* A job whose processes never stop telling something can still be asked to stop. */
static void test_messages_without_end_do_not_shut_requests_out(void **state)
{
    int taken = 0, type;
    (void)state;
    message(0);
    request(0);
    do {
        message(++taken);
        struct event *event = events_take(events);
        type = event->type;
        events_free(events, event);
    } while (type != EVENT_REQUEST && taken < 1000);
    assert_int_equal(taken, EVENTS_IN_A_ROW + 1);
    for (int n = EVENTS_IN_A_ROW; n <= taken; n++)
        expect(EVENT_MESSAGE, n);
    assert_null(events_take(events));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_messages_come_before_requests, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_abandoned_comes_behind_its_request, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_messages_without_end_do_not_shut_requests_out, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
