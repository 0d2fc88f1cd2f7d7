/* The parts of the trace driver: lanes that are thinned, clocks made one, buffers as text, strings for JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "driver/trace/buffer.h"
#include "driver/trace/handover.h"
#include "driver/trace/out.h"

#define SIZE (256 << 10)

static struct trace_header *buffer;

static int start(void **state)
{
    (void)state;
    buffer = calloc(1, SIZE);
    buffer_init(buffer, SIZE, 1000);
    return buffer ? 0 : -1;
}

static int finish(void **state)
{
    (void)state;
    free(buffer);
    return 0;
}

static void add(enum trace_lane_name lane, uint32_t number, int64_t duration)
{
    buffer_add(buffer, lane, &(struct trace_record){.begin = number + 1, .duration = duration, .number = number});
}

static void lanes_lie_in_the_buffer(void **state)
{
    (void)state;
    assert_true(buffer_is_valid(buffer, SIZE));
    assert_false(buffer_is_valid(buffer, SIZE - 1));
    buffer->lanes[TRACE_CALLS].used = buffer->lanes[TRACE_CALLS].capacity + 1;
    assert_false(buffer_is_valid(buffer, SIZE));
}

static void a_full_lane_keeps_one_record_in_so_many(void **state)
{
    (void)state;
    const struct trace_lane *lane = &buffer->lanes[TRACE_ITERATIONS];
    for (uint32_t i = 0; i < 100 * lane->capacity + 7; i++)
        add(TRACE_ITERATIONS, i, 5);
    assert_int_equal(lane->stride, 128);
    assert_true(lane->used > lane->capacity / 2 && lane->used <= lane->capacity);
    for (uint32_t i = 0; i < lane->used; i++)
        assert_int_equal(buffer_records(buffer, TRACE_ITERATIONS)[i].number, i * 128);
}

/* Of calls the longest stay, wherever they are, and some of the rest. */
static void long_calls_are_kept(void **state)
{
    (void)state;
    const struct trace_lane *lane = &buffer->lanes[TRACE_CALLS];
    uint32_t count = 50 * lane->capacity, kept_long = 0;
    for (uint32_t i = 0; i < count; i++)
        add(TRACE_CALLS, i, i % 1000 == 999 ? 1000000000 : 1500);
    for (uint32_t i = 0; i < lane->used; i++)
        kept_long += buffer_records(buffer, TRACE_CALLS)[i].duration > 1500;
    assert_int_equal(kept_long, count / 1000);
    assert_true(lane->used > 2 * kept_long);
}

static void time_of(int64_t here, int64_t there)
{
    assert_int_equal(buffer_common_time(buffer, here), there);
}

static void times_come_onto_one_clock(void **state)
{
    (void)state;
    time_of(1000, 1000); /* no reading, nothing to correct */
    buffer->clocks = 1;
    buffer->clock[0] = (struct trace_clock){.at = 0, .offset = -300, .uncertainty = 50};
    time_of(1000, 700);
    buffer->clocks = 2;
    buffer->clock[1] = (struct trace_clock){.at = 1000000, .offset = -310, .uncertainty = 5};
    time_of(1000, 690); /* no more than noise: the better reading counts */
    buffer->clock[1].offset = -2300;
    time_of(500000, 500000 - 1300); /* a drift of 2 in 1000 */
    buffer->same_clock = true;
    time_of(1000, 1000);
}

static void a_buffer_as_text(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 100; i++)
        add(TRACE_ELEMENTS, i, 10 * i);
    add(TRACE_STRUCTURE, 7, 3);
    buffer->process = 42;
    char *text = handover_pack(buffer);
    struct trace_header *read = handover_read(text);
    assert_non_null(read);
    assert_int_equal(read->process, 42);
    assert_int_equal(read->lanes[TRACE_ELEMENTS].used, 100);
    assert_memory_equal(buffer_records(read, TRACE_ELEMENTS), buffer_records(buffer, TRACE_ELEMENTS),
                        100 * sizeof(struct trace_record));
    assert_int_equal(buffer_records(read, TRACE_STRUCTURE)[0].number, 7);
    free(read);
    text[strlen(text) / 2] = 0; /* cut */
    assert_null(handover_read(text));
    text[8] = '!';
    assert_null(handover_read(text));
    free(text);
}

static void a_large_buffer_is_thinned_for_the_way(void **state)
{
    (void)state;
    size_t size = 8 << 20;
    struct trace_header *large = calloc(1, size);
    buffer_init(large, size, 1000);
    const struct trace_lane *lane = &large->lanes[TRACE_ITERATIONS];
    for (uint32_t i = 0; i < lane->capacity; i++)
        buffer_add(large, TRACE_ITERATIONS, &(struct trace_record){.begin = 1, .number = i});
    char *text = handover_pack(large);
    assert_true(strlen(text) <= TRACE_HANDOVER_BYTES / 3 * 4 + 4);
    assert_int_equal(lane->used, lane->capacity); /* the buffer itself stays */
    free(text);
    free(large);
}

static void escapes(const char *text, const char *expected)
{
    char escaped[64];
    out_escape(text, escaped, sizeof escaped);
    assert_string_equal(escaped, expected);
}

static void strings_for_json(void **state)
{
    char escaped[16];
    (void)state;
    escapes("plain", "plain");
    escapes("a\"b\\c\n", "a\\u0022b\\u005cc\\u000a");
    escapes("\xc3\xa4\xe6\xb8\xac\xf0\x9f\x94\xa5", "\xc3\xa4\xe6\xb8\xac\xf0\x9f\x94\xa5");
    escapes("\xe4-\xc3", "?-?");                /* no UTF-8, and cut */
    escapes("\xc0\xaf \xed\xa0\x80", "?? ???"); /* too long a form, a surrogate */
    out_escape("0123456789abcdefghij", escaped, sizeof escaped);
    assert_string_equal(escaped, "012345678"); /* what does not fit is left out */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, finish)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(lanes_lie_in_the_buffer), TEST(a_full_lane_keeps_one_record_in_so_many),
        TEST(long_calls_are_kept),     TEST(times_come_onto_one_clock),
        TEST(a_buffer_as_text),        TEST(a_large_buffer_is_thinned_for_the_way),
        TEST(strings_for_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
