/* One JSON object a line, on a connection that never blocks: what comes whole, in pieces, too long, and as nonsense. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/base/json.h"
#include "runtime/wire/line.h"

enum { LINE_MOST = 1000, UNSENT_MOST = 1 << 20, SECONDS = 10 };

struct end {
    struct event_base *base;
    struct wire_line *line;
    int other; /* the other end, by hand */
    int came, last, wanted, nonsense;
    size_t part;
    bool close_in_message, hold_after_one, done;
    char why[80];
};

static void on_message(void *context, const cJSON *message)
{
    struct end *end = context;
    end->came++;
    end->last = json_int(message, "n", -1);
    if (end->close_in_message)
        wire_line_close(end->line);
    if (end->hold_after_one)
        wire_line_hold(end->line, true);
    if (end->came == end->wanted || end->close_in_message || end->hold_after_one) {
        end->done = true;
        wire_wake(end->base);
    }
}

static void on_nonsense(void *context, const char *text)
{
    struct end *end = context;
    (void)text;
    end->nonsense++;
}

static void on_gone(void *context, const char *why)
{
    struct end *end = context;
    snprintf(end->why, sizeof end->why, "%s", why);
    end->done = true;
    wire_wake(end->base);
}

static void on_part(void *context, size_t bytes)
{
    struct end *end = context;
    end->part = bytes;
}

static void on_sent(void *context)
{
    struct end *end = context;
    end->done = true;
    wire_wake(end->base);
}

static const struct wire_line_ops tolerant = {.message = on_message, .nonsense = on_nonsense, .gone = on_gone},
                                  strict = {.message = on_message, .gone = on_gone},
                                  curious = {.message = on_message, .gone = on_gone, .part = on_part, .sent = on_sent};

static struct end begin(const struct wire_line_ops *ops, struct end *end)
{
    int pair[2];
    const struct wire_limits limits = {LINE_MOST, UNSENT_MOST};
    *end = (struct end){.base = wire_base_new()};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    end->other = pair[1];
    end->line = wire_line_new(end->base, pair[0], &limits, ops, end);
    assert_non_null(end->line);
    return *end;
}

static void finish(struct end *end)
{
    if (!end->close_in_message)
        wire_line_close(end->line);
    close(end->other);
    event_base_free(end->base);
}

static void put(const struct end *end, const char *text)
{
    assert_int_equal(write(end->other, text, strlen(text)), strlen(text));
}

static void await(struct end *end)
{
    assert_true(wire_wait(end->base, &end->done, SECONDS));
    end->done = false;
}

static void look_around(const struct end *end)
{
    for (int i = 0; i < 3; i++)
        event_base_loop(end->base, EVLOOP_NONBLOCK);
}

static void test_whole_lines_and_pieces(void **state)
{
    struct end end;
    (void)state;
    begin(&strict, &end);
    end.wanted = 3;
    put(&end, "{\"n\":1}\n{\"n\":2}\n{\"n\"");
    look_around(&end);
    assert_int_equal(end.came, 2);
    put(&end, ":3}\n");
    await(&end);
    assert_int_equal(end.last, 3);
    finish(&end);
}

static void test_the_last_line_comes_before_the_end(void **state)
{
    struct end end;
    (void)state;
    begin(&strict, &end);
    put(&end, "{\"n\":1}\n");
    shutdown(end.other, SHUT_WR);
    await(&end);
    assert_int_equal(end.came, 1);
    assert_string_equal(end.why, "the other end has closed the connection");
    finish(&end);
}

/* It does not fit into one piece; and the break is noticed by what is sent, before any of it was read. */
static void test_what_came_before_a_break_is_handed_out(void **state)
{
    enum { LINES = LINE_MOST };
    struct end end;
    char text[LINES * sizeof "{\"n\":1000}"];
    int used = 0;
    cJSON *message = json_message("late");
    (void)state;
    begin(&strict, &end);
    for (int i = 1; i <= LINES; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "{\"n\":%d}\n", i);
    put(&end, text);
    shutdown(end.other, SHUT_RDWR);
    assert_int_equal(wire_line_send(end.line, message), -1);
    await(&end);
    assert_int_equal(end.came, LINES);
    assert_int_equal(end.last, LINES);
    cJSON_Delete(message);
    finish(&end);
}

static void test_too_long_a_line(void **state)
{
    char text[LINE_MOST + 10];
    struct end end;
    (void)state;
    begin(&strict, &end);
    memset(text, ' ', sizeof text);
    text[sizeof text - 1] = '\0';
    put(&end, text);
    await(&end);
    assert_string_equal(end.why, "a line of it is too long");
    assert_int_equal(end.came, 0);
    finish(&end);
}

static void test_nonsense(void **state)
{
    struct end end;
    (void)state;
    begin(&tolerant, &end);
    end.wanted = 1;
    put(&end, "hello\n[1]\n\n{\"n\":7}\n");
    await(&end);
    assert_int_equal(end.nonsense, 3);
    assert_int_equal(end.last, 7);
    finish(&end);
    begin(&strict, &end);
    put(&end, "hello\n{\"n\":7}\n");
    await(&end);
    assert_string_equal(end.why, "it sends what is no JSON object");
    assert_int_equal(end.came, 0);
    finish(&end);
}

static void test_closed_by_whoever_takes_a_message(void **state)
{
    struct end end;
    (void)state;
    begin(&strict, &end);
    end.close_in_message = true;
    put(&end, "{\"n\":1}\n{\"n\":2}\n");
    await(&end);
    look_around(&end);
    assert_int_equal(end.came, 1);
    finish(&end);
}

static void test_nothing_is_handed_out_while_it_is_held(void **state)
{
    struct end end;
    (void)state;
    begin(&strict, &end);
    end.hold_after_one = true;
    put(&end, "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n");
    await(&end);
    look_around(&end);
    assert_int_equal(end.last, 1);
    end.hold_after_one = false;
    end.wanted = 3;
    wire_line_hold(end.line, false);
    await(&end);
    assert_int_equal(end.last, 3);
    finish(&end);
}

static void test_an_end_is_heard_while_it_is_held(void **state)
{
    struct end end;
    (void)state;
    begin(&strict, &end);
    wire_line_hold(end.line, true);
    shutdown(end.other, SHUT_RDWR);
    await(&end);
    assert_string_equal(end.why, "the other end has closed the connection");
    finish(&end);
}

/* More than the socket takes: it is sent when the other end reads, all of it and in order. */
static void test_what_is_not_taken_is_sent_later(void **state)
{
    enum { LINES = 20000 };
    struct end end;
    char line[64];
    (void)state;
    begin(&strict, &end);
    cJSON *message = cJSON_CreateObject();
    cJSON_AddNumberToObject(message, "n", 0);
    for (int n = 0; n < LINES; n++) {
        cJSON_SetNumberValue(cJSON_GetObjectItem(message, "n"), n);
        assert_int_equal(wire_line_send(end.line, message), 0);
    }
    assert_false(wire_line_is_sent(end.line));
    pid_t reader = fork();
    if (!reader) {
        FILE *file = fdopen(end.other, "r");
        int n = 0, got;
        while (n < LINES && fgets(line, sizeof line, file) && sscanf(line, "{\"n\":%d}", &got) == 1 && got == n)
            n++;
        _exit(n != LINES);
    }
    while (!wire_line_is_sent(end.line))
        event_base_loop(end.base, EVLOOP_ONCE);
    int status;
    assert_int_equal(waitpid(reader, &status, 0), reader);
    assert_int_equal(status, 0);
    cJSON_Delete(message);
    finish(&end);
}

static void test_one_that_never_reads_is_given_up(void **state)
{
    struct end end;
    int sent = 0;
    (void)state;
    begin(&strict, &end);
    cJSON *message = cJSON_CreateObject();
    cJSON_AddStringToObject(message, "text", "0123456789012345678901234567890123456789");
    while (sent < 1000000 && !wire_line_send(end.line, message))
        sent++;
    assert_in_range(sent, 1000, 999999);
    await(&end);
    assert_string_equal(end.why, "it does not read what it is sent");
    cJSON_Delete(message);
    finish(&end);
}

static void test_a_part_is_told(void **state)
{
    struct end end;
    (void)state;
    begin(&curious, &end);
    end.wanted = 1;
    put(&end, "{\"n\"");
    look_around(&end);
    assert_int_equal(end.part, 4);
    put(&end, ":7}\n{");
    await(&end);
    look_around(&end);
    assert_int_equal(end.part, 1);
    finish(&end);
}

/* As many as make it wait. */
static int send_many(const struct end *end)
{
    int sent = 0;
    cJSON *message = cJSON_CreateObject();
    for (; sent < 100000 && wire_line_is_sent(end->line); sent++)
        assert_int_equal(wire_line_send(end->line, message), 0);
    cJSON_Delete(message);
    assert_false(wire_line_is_sent(end->line));
    return sent;
}

/* In a process of its own, which ends well when so many have come, and the end. */
static pid_t read_all(const struct end *end, int lines)
{
    char line[64];
    pid_t reader = fork();
    if (reader)
        return reader;
    FILE *file = fdopen(end->other, "r");
    int n = 0;
    while (n < lines && fgets(line, sizeof line, file))
        n++;
    _exit(n != lines);
}

static void expect_well(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void test_told_when_all_is_sent(void **state)
{
    struct end end;
    (void)state;
    begin(&curious, &end);
    pid_t reader = read_all(&end, send_many(&end));
    await(&end);
    assert_true(wire_line_is_sent(end.line));
    expect_well(reader);
    finish(&end);
}

/* Who has said all that it has to say still hears what it is told. */
static void test_what_waits_goes_out_to_a_half_closed_end(void **state)
{
    struct end end;
    (void)state;
    begin(&strict, &end);
    int sent = send_many(&end);
    shutdown(end.other, SHUT_WR);
    await(&end);
    assert_string_equal(end.why, "the other end has closed the connection");
    wire_line_finish(end.line, SECONDS);
    pid_t reader = read_all(&end, sent);
    event_base_dispatch(end.base); /* until nothing is left to do */
    expect_well(reader);
    end.close_in_message = true; /* it is closed */
    finish(&end);
}

/* A copy of a dead process's connection would keep it open. */
static void test_forked_children_have_no_copy(void **state)
{
    struct end end;
    int status;
    (void)state;
    begin(&strict, &end);
    pid_t child = fork();
    if (!child)
        _exit(fcntl(wire_line_fd(end.line), F_GETFD) < 0 && fcntl(end.other, F_GETFD) >= 0 ? 0 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    finish(&end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_lines_and_pieces),
        cmocka_unit_test(test_the_last_line_comes_before_the_end),
        cmocka_unit_test(test_what_came_before_a_break_is_handed_out),
        cmocka_unit_test(test_too_long_a_line),
        cmocka_unit_test(test_nonsense),
        cmocka_unit_test(test_closed_by_whoever_takes_a_message),
        cmocka_unit_test(test_nothing_is_handed_out_while_it_is_held),
        cmocka_unit_test(test_an_end_is_heard_while_it_is_held),
        cmocka_unit_test(test_what_is_not_taken_is_sent_later),
        cmocka_unit_test(test_one_that_never_reads_is_given_up),
        cmocka_unit_test(test_a_part_is_told),
        cmocka_unit_test(test_told_when_all_is_sent),
        cmocka_unit_test(test_what_waits_goes_out_to_a_half_closed_end),
        cmocka_unit_test(test_forked_children_have_no_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
