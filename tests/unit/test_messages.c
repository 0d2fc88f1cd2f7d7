/* Messages that nobody understands, or that lack what they need: refused with their names by whoever gets them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/json.h"
#include "runtime/coordinator/coordinator.h"
#include "runtime/member/member.h"
#include "runtime/wire/messages.h"
#include "runtime/world/backend.h"
#include "tests/unit/one_phase.h"

/* ---- What is printed ------------------------------------------------------------ */

static FILE *lines;
static int terminal;

static void catch_lines(void)
{
    fflush(stderr);
    lines = tmpfile();
    assert_non_null(lines);
    terminal = dup(2);
    dup2(fileno(lines), 2);
}

static const char *caught(void)
{
    static char text[16384];
    fflush(stderr);
    dup2(terminal, 2);
    close(terminal);
    rewind(lines);
    text[fread(text, 1, sizeof text - 1, lines)] = '\0';
    fclose(lines);
    return text;
}

/* ---- A member ---------------------------------------------------------------------- */

static char told[64];

static int tell(void *context, const cJSON *message)
{
    (void)context;
    snprintf(told, sizeof told, "%s", json_text(message, "op"));
    return 0;
}

static void receive(struct member *member, const char *text)
{
    cJSON *message = cJSON_Parse(text);
    assert_non_null(message);
    member_receive(member, message);
    cJSON_Delete(message);
}

static void start_member(struct member *member)
{
    assert_int_equal(member_init(member, 1), 0);
    member->tell = tell;
    told[0] = '\0';
}

static void a_member_refuses_by_name(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"{\"op\":\"dance\"}", "\"dance\" is not understood"},
        {"{\"op\":\"count\"}", "\"count\" is not understood"},
        {"{\"op\":7}", "without a name"},
        {"{}", "without a name"},
        {"[]", "without a name"},
        {"{\"op\":\"freeze\"}", "'freeze' needs a member 'round'"},
        {"{\"op\":\"locate\",\"round\":\"1\"}", "'round' of 'locate' has to be an integer"},
        {"{\"op\":\"target\"}", "'target' needs a member 'count'"},
        {"{\"op\":\"wake\"}", "'wake' needs a member 'adaptation'"},
        {"{\"op\":\"meet\"}", "'meet' needs a member 'ports'"},
        {"{\"op\":\"finish\"}", "'finish' needs a member 'status'"},
        {"{\"op\":\"halt\",\"halt\":1}", "'halt' of 'halt' has to be true or false"},
        {"{\"op\":\"ping\",\"round\":1}", "'ping' has no member \"round\""},
        {"{\"op\":\"spawn_off\"}", "'spawn_off' is not for this process"},
    };
    struct member member;
    start_member(&member);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        catch_lines();
        receive(&member, bad[i][0]);
        const char *text = caught();
        assert_non_null(strstr(text, bad[i][1]));
        assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    }
    assert_string_equal(told, "");
    assert_false(member.frozen || member.decided || member.finish || member.stopped || member.wake.is ||
                 member.meeting.is);
    member_destroy(&member);
}

/* The control: what is complete is taken. */
static void a_member_takes_what_is_complete(void **state)
{
    (void)state;
    struct member member;
    start_member(&member);
    catch_lines();
    receive(&member, "{\"op\":\"freeze\",\"round\":1}");
    receive(&member, "{\"op\":\"halt\",\"halt\":true}");
    assert_string_equal(caught(), "");
    assert_string_equal(told, "count");
    assert_true(member.frozen && member.stopped);
    member_destroy(&member);
}

/* One that is there already holds at its next probe. */
static void a_member_goes_on_up_to_a_probe(void **state)
{
    (void)state;
    struct member member;
    start_member(&member);
    receive(&member, "{\"op\":\"freeze\",\"round\":1,\"up_to\":3}");
    assert_false(ceiling_probe(&member.ceiling));
    assert_false(ceiling_probe(&member.ceiling));
    assert_true(ceiling_probe(&member.ceiling));
    receive(&member, "{\"op\":\"freeze\",\"round\":2,\"up_to\":2}");
    assert_true(ceiling_probe(&member.ceiling));
    receive(&member, "{\"op\":\"target\",\"count\":6}");
    assert_false(ceiling_probe(&member.ceiling));
    receive(&member, "{\"op\":\"freeze\",\"round\":3}");
    assert_true(ceiling_probe(&member.ceiling));
    member_destroy(&member);
}

/* The rank could not take part, and would wait for its decision for ever. */
static void a_plan_that_cannot_be_read_ends_the_job(void **state)
{
    (void)state;
    struct member member;
    start_member(&member);
    receive(&member, "{\"op\":\"decide\",\"action\":\"adapt\",\"count\":1,\"plan\":{\"old_size\":2}}");
    assert_string_equal(told, "failed");
    assert_false(member.decided);
    member_destroy(&member);
}

/* It is not taken for one that is known. */
static void an_unknown_action_ends_the_job(void **state)
{
    (void)state;
    static const char *const bad[] = {"{\"op\":\"decide\",\"action\":\"fly\",\"count\":1}",
                                      "{\"op\":\"decide\",\"action\":\"adapt\",\"count\":1}",
                                      "{\"op\":\"decide\",\"count\":1}", "{\"op\":\"decide\",\"action\":1,\"count\":1}",
                                      "{\"op\":\"save\",\"number\":1,\"level\":\"file\",\"path\":\"\"}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct member member;
        start_member(&member);
        receive(&member, bad[i]);
        assert_string_equal(told, "failed");
        assert_false(member.decided);
        member_destroy(&member);
    }
}

static void a_decision_is_taken_by_its_name(void **state)
{
    (void)state;
    struct member member;
    start_member(&member);
    receive(&member, "{\"op\":\"decide\",\"action\":\"stop\",\"count\":1}");
    assert_true(member.decided && member.decision == ACTION_STOP);
    receive(&member, "{\"op\":\"decide\",\"action\":\"continue\",\"count\":2}");
    assert_true(member.decided && member.decision == ACTION_CONTINUE);
    member_destroy(&member);
}

static void look_at_the_lock(void *context, const struct order_spawn *order)
{
    struct member *member = context;
    assert_int_equal(order->count, 3);
    assert_int_equal(pthread_mutex_trylock(&member->lock), 0);
    pthread_mutex_unlock(&member->lock);
    told[0]++;
}
TAKES(order, spawn, look_at_the_lock)

static void others_messages_are_taken_without_a_lock(void **state)
{
    (void)state;
    static const struct message_row rows[] = {{order_spawn_id, order_spawn_taken}};
    struct member member;
    start_member(&member);
    member_understand(&member, rows, 1, &member);
    receive(&member, "{\"op\":\"spawn\",\"adaptation\":1,\"first\":2,\"count\":3}");
    catch_lines();
    receive(&member, "{\"op\":\"spawn\",\"adaptation\":1,\"first\":2}");
    assert_non_null(strstr(caught(), "'spawn' needs a member 'count'"));
    assert_int_equal(told[0], 1);
    member_destroy(&member);
}

/* ---- The coordinator ----------------------------------------------------------------- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    char code[16], reason[200], fatal[200];
    bool answered;
} seen = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void on_send(void *context, int process, const cJSON *message)
{
    (void)context, (void)process, (void)message;
}

static void on_publish(void *context, const cJSON *event)
{
    (void)context, (void)event;
}

static void on_fatal(void *context, const char *text)
{
    (void)context;
    snprintf(seen.fatal, sizeof seen.fatal, "%s", text);
}

static void on_answer(void *context, void *handle, const cJSON *answer)
{
    (void)context, (void)handle;
    pthread_mutex_lock(&seen.lock);
    snprintf(seen.code, sizeof seen.code, "%s", json_text(answer, "code"));
    snprintf(seen.reason, sizeof seen.reason, "%s", json_text(answer, "reason"));
    seen.answered = true;
    pthread_cond_signal(&seen.changed);
    pthread_mutex_unlock(&seen.lock);
}

static const struct coordinator_ops ops = {
    .send = on_send, .publish = on_publish, .answer = on_answer, .fatal = on_fatal};

static struct coordinator *start_coordinator(const epop_program_t *program)
{
    struct coordinator_config config = {.job = "test",
                                        .path = "test",
                                        .program = program,
                                        .backend = &backend_pool,
                                        .size = 2,
                                        .processes = 2,
                                        .maximum = 2,
                                        .freeze_timeout = 10,
                                        .finish_timeout = 5,
                                        .ops = &ops};
    memset(seen.fatal, 0, sizeof seen.fatal);
    struct coordinator *c = coordinator_start(&config);
    assert_non_null(c);
    return c;
}

static void send(struct coordinator *c, int process, const char *text)
{
    cJSON *message = cJSON_Parse(text);
    assert_non_null(message);
    coordinator_message(c, process, message);
    cJSON_Delete(message);
}

static void ask(struct coordinator *c, const char *text)
{
    cJSON *request = cJSON_Parse(text);
    assert_non_null(request);
    pthread_mutex_lock(&seen.lock);
    seen.answered = false;
    coordinator_request(c, &seen, request);
    while (!seen.answered)
        pthread_cond_wait(&seen.changed, &seen.lock);
    pthread_mutex_unlock(&seen.lock);
    cJSON_Delete(request);
}

/* All ranks have come, and to the end. */
static void end(struct coordinator *c)
{
    char stuck[200];
    for (int p = 0; p < 2; p++) {
        send(c, p, "{\"op\":\"hello\",\"host\":\"n1\",\"pid\":1}");
        send(c, p, "{\"op\":\"ended\"}");
        coordinator_closed(c, p);
    }
    assert_true(coordinator_wait(c, stuck, sizeof stuck));
    coordinator_destroy(c);
}

static void the_coordinator_refuses_by_name(void **state)
{
    static const char *const needy[] = {"count",     "arrived",   "meet",   "unstarted", "ready",   "linked",
                                        "connected", "committed", "parked", "position",  "located", "progress",
                                        "claim",     "breach",    "failed", "crashed"};
    const size_t count = sizeof needy / sizeof *needy;
    struct coordinator *c = start_coordinator(*state);
    char text[80];
    catch_lines();
    for (size_t i = 0; i < count; i++) {
        snprintf(text, sizeof text, "{\"op\":\"%s\"}", needy[i]);
        send(c, 1, text);
    }
    send(c, 1, "{\"op\":\"dance\"}");
    send(c, 1, "{}");
    send(c, 7, "{\"op\":\"ended\"}");
    end(c);
    const char *printed = caught();
    for (size_t i = 0; i < count; i++) {
        snprintf(text, sizeof text, "epop: '%s' needs a member", needy[i]);
        assert_non_null(strstr(printed, text));
    }
    assert_non_null(strstr(printed, "a message \"dance\" is not understood"));
    assert_non_null(strstr(printed, "a message without a name"));
    assert_non_null(strstr(printed, "process 7"));
    assert_string_equal(seen.fatal, "");
}

static void requests_are_refused_by_name(void **state)
{
    static const char *const bad[][2] = {
        {"{\"op\":\"dance\"}", "\"dance\" is not understood"},
        {"{\"op\":3}", "without a name"},
        {"{}", "without a name"},
        {"{\"op\":\"break\"}", "'break' needs a member 'at'"},
        {"{\"op\":\"arrived\"}", "\"arrived\" is not understood"},
        {"{\"op\":\"watch\"}", "not for the coordinator"},
    };
    struct coordinator *c = start_coordinator(*state);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ask(c, bad[i][0]);
        assert_string_equal(seen.code, "refused");
        assert_non_null(strstr(seen.reason, bad[i][1]));
    }
    end(c);
    assert_string_equal(seen.fatal, "");
}

int main(void)
{
    alarm(60);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_member_refuses_by_name),
        cmocka_unit_test(a_member_takes_what_is_complete),
        cmocka_unit_test(a_member_goes_on_up_to_a_probe),
        cmocka_unit_test(a_plan_that_cannot_be_read_ends_the_job),
        cmocka_unit_test(an_unknown_action_ends_the_job),
        cmocka_unit_test(a_decision_is_taken_by_its_name),
        cmocka_unit_test(others_messages_are_taken_without_a_lock),
        cmocka_unit_test(the_coordinator_refuses_by_name),
        cmocka_unit_test(requests_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, one_phase_set_up, one_phase_tear_down);
}
