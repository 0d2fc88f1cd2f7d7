/* The decoder of messages: what a row says is what is taken, and anything else is refused with the member's name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "runtime/wire/messages.h"

static cJSON *json;
static struct message message;
static struct error why;

static int forget(void **state)
{
    (void)state;
    message_free(&message);
    cJSON_Delete(json);
    json = NULL;
    return 0;
}

static bool decode(enum message_kind kind, const char *text)
{
    forget(NULL);
    json = cJSON_Parse(text);
    assert_non_null(json);
    return message_decode(&message, kind, json, &why);
}

static const struct request_resize *resize(const char *text)
{
    if (!decode(KIND_REQUEST, text))
        fail_msg("%s", why.text);
    assert_int_equal(message.id, request_resize_id);
    return message.is;
}

static void what_is_missing_is_the_default(void **state)
{
    (void)state;
    const struct request_resize *r = resize("{\"op\":\"resize\",\"size\":3}");
    assert_int_equal(r->size, 3);
    assert_int_equal(r->delta, INT_MIN);
    assert_int_equal(r->wait, 0);
    assert_int_equal(r->release_ranks.count, 0);
    assert_true(!r->scheduler && !r->add_hosts && !r->release_ranks.items && !r->slurm_jobs.items);
    assert_true(decode(KIND_REQUEST, "{\"op\":\"measure\"}"));
    assert_true(((const struct request_measure *)message.is)->keep == 30);
}

static void what_is_there_is_taken(void **state)
{
    (void)state;
    const struct request_resize *r =
        resize("{\"op\":\"resize\",\"id\":7,\"delta\":-2147483647,\"wait\":\"vacated\",\"scheduler\":true,"
               "\"add_hosts\":\"n1:2,n2\",\"slurm_job\":5,\"slurm_jobs\":{\"n1\":6,\"n2\":7},"
               "\"release_ranks\":[3,5],\"pset\":\"mpi://app/x\"}");
    assert_int_equal(r->size, INT_MIN);
    assert_int_equal(r->delta, -INT_MAX);
    assert_int_equal(r->wait, 2);
    assert_true(r->scheduler);
    assert_string_equal(r->add_hosts, "n1:2,n2");
    assert_int_equal(r->slurm_jobs.count, 2);
    assert_string_equal(r->slurm_jobs.items[1].name, "n2");
    assert_int_equal(r->slurm_jobs.items[1].value, 7);
    assert_int_equal(r->release_ranks.count, 2);
    assert_int_equal(r->release_ranks.items[1], 5);
    assert_string_equal(r->pset, "mpi://app/x");
    assert_ptr_equal(r->said, json);
}

static void parts_are_taken(void **state)
{
    (void)state;
    assert_true(decode(
        KIND_ORDER, "{\"op\":\"decide\",\"action\":\"adapt\",\"count\":9,\"plan\":{\"adaptation\":1,\"count\":9,"
                    "\"pc\":1,\"visit\":0,\"iteration\":4,\"old_size\":1,\"processes\":[0,1],\"new_ranks\":[0,1]}}"));
    const struct order_decide *decide = message.is;
    assert_int_equal(decide->action, 1);
    assert_int_equal(decide->plan->iteration, 4);
    assert_int_equal(decide->plan->processes.items[1], 1);
    assert_true(decode(KIND_REPORT,
                       "{\"op\":\"position\",\"pc\":0,\"visit\":0,\"iteration\":1,\"tally\":{\"size\":2,\"elements\":["
                       "{\"pc\":0,\"iterations\":4,\"seconds\":0.5},{\"pc\":1,\"iterations\":5,\"seconds\":1}]}}"));
    const struct report_position *position = message.is;
    assert_int_equal(position->tally->elements.count, 2);
    assert_int_equal(position->tally->elements.items[1].iterations, 5);
}

/* As it was, when what it came of is gone. */
static void one_is_kept(void **state)
{
    struct message kept;
    (void)state;
    const struct request_resize *r = resize("{\"op\":\"resize\",\"release_hosts\":\"n1\",\"release_ranks\":[1]}");
    assert_true(message_keep(&kept, KIND_REQUEST, r->said));
    forget(NULL);
    r = kept.is;
    assert_string_equal(r->release_hosts, "n1");
    assert_int_equal(r->release_ranks.items[0], 1);
    message_free(&kept);
    assert_null(kept.is);
}

static void refusals(void **state)
{
    static const struct {
        enum message_kind kind;
        const char *text, *why;
    } bad[] = {
        {KIND_REQUEST, "[]", "a request without a name, its text \"op\", is not understood"},
        {KIND_REQUEST, "7", "a request without a name"},
        {KIND_REQUEST, "{\"op\":7}", "a request without a name"},
        {KIND_REQUEST, "{\"op\":\"da\\nnce\"}", "a request \"da\\nnce\" is not understood"},
        {KIND_REQUEST, "{\"op\":\"freeze\",\"round\":1}", "a request \"freeze\" is not understood"},
        {KIND_REQUEST, "{\"op\":\"pause\",\"wait\":true}", "'pause' has no member \"wait\""},
        {KIND_REQUEST, "{\"op\":\"pause\",\"id\":-1}", "'pause' has no member \"id\""},
        {KIND_REQUEST, "{\"op\":\"pause\",\"a\\nb\":1}", "'pause' has no member \"a\\nb\""},
        {KIND_REQUEST, "{\"op\":\"break\"}", "'break' needs a member 'at': a line of text"},
        {KIND_REQUEST, "{\"op\":\"break\",\"at\":\"a\\nb\"}", "'at' of 'break' has to be a line of text"},
        {KIND_REQUEST, "{\"op\":\"measure\",\"keep\":-1}",
         "'keep' of 'measure' has to be a number of 0 or more, not -1"},
        {KIND_REQUEST, "{\"op\":\"measure\",\"asker\":5}",
         "'asker' of 'measure' has to be a text of 0 to 63 characters, not 5"},
        {KIND_REQUEST, "{\"op\":\"resize\"}",
         "'resize' needs one of the members size delta release_hosts keep_hosts release_ranks"},
        {KIND_REQUEST, "{\"op\":\"resize\",\"size\":2,\"delta\":1}", "'size' of 'resize' goes without 'delta'"},
        {KIND_REQUEST, "{\"op\":\"resize\",\"size\":2,\"slurm_job\":1}",
         "'slurm_job' of 'resize' goes with 'add_hosts'"},
        {KIND_REQUEST, "{\"op\":\"resize\",\"size\":2147483648}",
         "'size' of 'resize' has to be an integer from 0 to 2147483647, not 2147483648"},
        {KIND_REQUEST, "{\"op\":\"resize\",\"delta\":-2147483648}",
         "'delta' of 'resize' has to be an integer from -2147483647"},
        {KIND_REQUEST, "{\"op\":\"resize\",\"size\":1e300}", "'size' of 'resize' has to be an integer"},
        {KIND_REQUEST, "{\"op\":\"resize\",\"size\":2.5}", "'size' of 'resize' has to be an integer"},
        {KIND_REQUEST, "{\"op\":\"resize\",\"size\":null}", "'size' of 'resize' has to be an integer"},
        {KIND_REQUEST, "{\"op\":\"resize\",\"size\":2,\"wait\":\"long\"}",
         "'wait' of 'resize' has to be true, false or \"vacated\", not \"long\""},
        {KIND_REQUEST, "{\"op\":\"resize\",\"size\":2,\"scheduler\":false}",
         "'scheduler' of 'resize' has to be true, not false"},
        {KIND_REQUEST, "{\"op\":\"resize\",\"size\":2,\"add_hosts\":\"n1\",\"slurm_jobs\":[17]}",
         "'slurm_jobs' of 'resize' has to be an object of integers from 1"},
        {KIND_REQUEST, "{\"op\":\"resize\",\"size\":2,\"add_hosts\":\"n1\",\"slurm_jobs\":{\"n1\":\"x\"}}",
         "'slurm_jobs' of 'resize'"},
        {KIND_REQUEST, "{\"op\":\"resize\",\"release_ranks\":[1,1]}",
         "'release_ranks' of 'resize' has to be a list of integers"},
        {KIND_REQUEST, "{\"op\":\"resize\",\"release_ranks\":[]}", "at least one and none twice"},
        {KIND_REQUEST, "{\"op\":\"resize\",\"release_ranks\":{\"a\":1}}", "'release_ranks' of 'resize'"},
        {KIND_REQUEST, "{\"op\":\"psets\",\"about\":\"nothing\"}",
         "'about' of 'psets' has to be one of all, list, info, op, split, set"},
        {KIND_REQUEST, "{\"op\":\"psets\",\"about\":\"op\",\"type\":5}",
         "'type' of 'psets' has to be one of 0, 7, 8, 9, not 5"},
        {KIND_REQUEST, "{\"op\":\"psets\",\"about\":\"op\",\"sched\":{\"k\":5}}",
         "'sched' of 'psets' has to be an object of texts, their names beginning with mpi_ps_sched_"},
        {KIND_REQUEST, "{\"op\":\"psets\",\"about\":\"op\",\"sched\":{\"mpi_ps_sched_k\":5}}", "'sched' of 'psets'"},
        {KIND_REQUEST, "{\"op\":\"psets\",\"about\":\"set\",\"data\":{\"k\":null}}",
         "'data' of 'psets' has to be an object of texts"},
        {KIND_REPORT, "{\"op\":\"dance\"}", "a message \"dance\" is not understood"},
        {KIND_REPORT,
         "{\"op\":\"arrived\",\"count\":1,\"pc\":0,\"visit\":0,\"iteration\":0,\"tally\":{\"size\":1,\"elements\":[{"
         "\"pc\":0,\"iterations\":1}]}}",
         "'arrived' needs a member 'tally.elements[0].seconds': a number"},
        {KIND_REPORT,
         "{\"op\":\"arrived\",\"count\":1,\"pc\":0,\"visit\":0,\"iteration\":0,\"tally\":{\"size\":1,\"elements\":[],"
         "\"x\":1}}",
         "'arrived' has no member tally.\"x\""},
        {KIND_REPORT,
         "{\"op\":\"stretch\",\"adaptation\":1,\"joins\":true,\"what\":\"find\",\"probe\":1,\"full\":false,\"done\":[5]"
         "}",
         "'done' of 'stretch' has to be a list of objects"},
        {KIND_ORDER, "{\"op\":\"decide\",\"action\":\"fly\",\"count\":1}",
         "'action' of 'decide' has to be one of continue, adapt, stop"},
        {KIND_EVENT, "{\"event\":\"committed\",\"time\":1}", "'committed' needs a member 'adaptation'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (decode(bad[i].kind, bad[i].text))
            fail_msg("%s is taken", bad[i].text);
        if (!strstr(why.text, bad[i].why))
            fail_msg("%s: %s\nis not: %s", bad[i].text, why.text, bad[i].why);
        assert_null(strchr(why.text, '\n'));
        assert_null(message.is);
        assert_null(message.blocks);
    }
}

/* What is not a text of UTF-8's is not cut in the middle of a character. */
static void long_values_are_cut(void **state)
{
    char text[400] = "{\"op\":\"resize\",\"size\":\"";
    (void)state;
    for (int i = 0; i < 100; i++)
        strcat(text, "\xc3\xa9");
    strcat(text, "\"}");
    assert_false(decode(KIND_REQUEST, text));
    assert_string_equal(strchr(why.text, '\xc3') + 2 * ((64 - 5) / 2), "...");
}

/* One of another kind is none, also where it has the same name. */
static void names_are_of_a_kind(void **state)
{
    (void)state;
    assert_true(decode(KIND_ORDER, "{\"op\":\"alive\"}"));
    assert_int_equal(message.id, order_alive_id);
    assert_true(decode(KIND_REPORT, "{\"op\":\"alive\"}"));
    assert_int_equal(message.id, report_alive_id);
    assert_false(decode(KIND_REQUEST, "{\"op\":\"alive\"}"));
    assert_int_equal(message.id, MESSAGE_NONE);
    assert_false(decode(KIND_ORDER, "{\"op\":\"freeze\"}"));
    assert_int_equal(message.id, order_freeze_id);
    assert_string_equal(message_help(KIND_REQUEST, "pause"), "hold all ranks at their next common iteration");
}

#define TEST(function) cmocka_unit_test_teardown(function, forget)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_missing_is_the_default),
        TEST(what_is_there_is_taken),
        TEST(parts_are_taken),
        TEST(one_is_kept),
        TEST(refusals),
        TEST(long_values_are_cut),
        TEST(names_are_of_a_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
