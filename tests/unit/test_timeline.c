/* Reading and sampling a trace: which spans come of which events, and which traces are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "report/timeline.h"

/* 6 seconds, so that a moment is each 10 ms; process 0 is a rank from 0.5 s on, process 3 from 2.5 s on. */
static const char profile_text[] =
    "{\"duration\":6,\"processes\":[{\"process\":0,\"pid\":7,\"ranks\":[{\"begin\":0.5}]},"
    "{\"process\":3,\"pid\":8,\"ranks\":[]}]}";

#define ABOUT                                                                                                          \
    "\"otherData\":{\"version\":2,\"partial\":false,\"processes\":[{\"process\":0,\"pid\":7,"                          \
    "\"kept\":{\"elements\":{\"one_in\":4}}}]}"
#define SLICE(pid, cat, name, begin, duration)                                                                         \
    "{\"ph\":\"X\",\"pid\":" #pid ",\"tid\":0,\"cat\":\"" cat "\",\"name\":\"" name "\",\"ts\":" #begin                \
    ",\"dur\":" #duration "}"
#define SHARE(pid, time, share)                                                                                        \
    "{\"ph\":\"C\",\"pid\":" #pid ",\"tid\":0,\"name\":\"MPI\",\"ts\":" #time ",\"args\":{\"share\":" #share "}}"

/* The trace's clock begins 0.4 s after the profile's. Events are in no order. */
static const char trace_text[] =
    "{\"traceEvents\":[{\"ph\":\"M\",\"pid\":0,\"name\":\"process_name\"}," SHARE(0, 2100000, 0.8) "," SLICE(0, "element", "work", 100000, 3000000) "," SLICE(
        3, "rank", "rank 1 of 2", 2100000,
        1000000) "," SLICE(0, "rank", "rank 0 of 1", 100000,
                           4000000) "," SLICE(0, "adaptation", "adaptation", 2000000,
                                              100000) "," SLICE(0, "adaptation", "hold", 2000000,
                                                                50000) "," SLICE(0, "mpi", "MPI_Bcast", 2200000,
                                                                                 50000) "," SHARE(0, 100000,
                                                                                                  0.25) "," SLICE(0,
                                                                                                                  "elem"
                                                                                                                  "ent",
                                                                                                                  "end",
                                                                                                                  3100000,
                                                                                                                  1000000) "," SHARE(0,
                                                                                                                                     4100000,
                                                                                                                                     0) "," SLICE(3,
                                                                                                                                                  "element",
                                                                                                                                                  "work",
                                                                                                                                                  2100000,
                                                                                                                                                  1000000) "]," ABOUT
                                                                                                                                                           "}";

struct files {
    cJSON *profile, *trace, *timeline;
};

static int setup(void **state)
{
    static struct files files;
    struct trace trace;
    char error[200];
    files.profile = cJSON_Parse(profile_text);
    files.trace = cJSON_Parse(trace_text);
    if (timeline_read_trace(&trace, files.trace, files.profile, error, sizeof error) != 0)
        return -1;
    files.timeline = timeline_of(&trace, cJSON_GetObjectItem(files.trace, "otherData"), files.profile);
    timeline_free_trace(&trace);
    *state = &files;
    return files.timeline == NULL ? -1 : 0;
}

static int teardown(void **state)
{
    struct files *files = *state;
    cJSON_Delete(files->profile);
    cJSON_Delete(files->trace);
    cJSON_Delete(files->timeline);
    return 0;
}

static void assert_near(double value, double expected)
{
    if (!(value - expected < 1e-6 && expected - value < 1e-6))
        fail_msg("%.9g is not %.9g", value, expected);
}

static void expect_span(const cJSON *span, int process, const char *name, double begin, double end, double mpi)
{
    assert_int_equal(cJSON_GetObjectItem(span, "process")->valueint, process);
    assert_string_equal(cJSON_GetObjectItem(span, "name")->valuestring, name);
    assert_near(cJSON_GetObjectItem(span, "begin")->valuedouble, begin);
    assert_near(cJSON_GetObjectItem(span, "end")->valuedouble, end);
    if (mpi < 0)
        assert_true(cJSON_IsNull(cJSON_GetObjectItem(span, "mpi")));
    else
        assert_near(cJSON_GetObjectItem(span, "mpi")->valuedouble, mpi);
}

/* On the profile's clock; the phase is cut by the adaptation. */
static void spans(void **state)
{
    struct files *files = *state;
    const cJSON *list = cJSON_GetObjectItem(files->timeline, "spans");
    assert_int_equal(cJSON_GetArraySize(list), 5);
    expect_span(cJSON_GetArrayItem(list, 0), 0, "work", 0.5, 2.4, 0.25);
    expect_span(cJSON_GetArrayItem(list, 1), 0, "work", 2.5, 3.5, 0.8);
    expect_span(cJSON_GetArrayItem(list, 2), 0, "end", 3.5, 4.5, 0.8);
    expect_span(cJSON_GetArrayItem(list, 3), 0, "resize", 2.4, 2.5, 0.25);
    expect_span(cJSON_GetArrayItem(list, 4), 3, "work", 2.5, 3.5, -1);
}

static void shares(void **state)
{
    struct files *files = *state;
    const cJSON *first = cJSON_GetArrayItem(cJSON_GetObjectItem(files->timeline, "shares"), 0);
    const cJSON *ratios = cJSON_GetObjectItem(first, "ratios");
    assert_int_equal(cJSON_GetArraySize(ratios), TIMELINE_MOMENTS);
    assert_true(cJSON_IsNull(cJSON_GetArrayItem(ratios, 49)));
    assert_near(cJSON_GetArrayItem(ratios, 50)->valuedouble, 0.25);
    assert_near(cJSON_GetArrayItem(ratios, 249)->valuedouble, 0.25);
    assert_near(cJSON_GetArrayItem(ratios, 250)->valuedouble, 0.8);
    assert_true(cJSON_IsNull(cJSON_GetArrayItem(ratios, 450)));
}

static void the_note_says_what_was_sampled(void **state)
{
    struct files *files = *state;
    const char *note = cJSON_GetObjectItem(files->timeline, "note")->valuestring;
    assert_non_null(strstr(note, "every 10 ms"));
    assert_non_null(strstr(note, "one in 4"));
    assert_null(strstr(note, "partial"));
}

static void refused(void **state)
{
    struct files *files = *state;
    static const char *const bad[][2] = {
        {"[]", "is not a trace"},
        {"{\"schema\":\"epop.profile\"}", "is a profile"},
        {"{\"traceEvents\":[]}", "is not a trace"},
        {"{\"traceEvents\":[],\"otherData\":{\"version\":1}}", "version 2"},
        {"{\"traceEvents\":[],\"otherData\":{\"version\":2,\"reason\":\"it runs\"}}", "no events: it runs"},
        {"{\"traceEvents\":[],\"otherData\":{\"version\":2,\"processes\":[{\"process\":0,\"pid\":9}]}}", "another run"},
        {"{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"rank\",\"name\":\"r\"}]," ABOUT "}", "/traceEvents/0"},
        {"{\"traceEvents\":[{\"ph\":\"M\"},{\"ph\":\"C\",\"name\":\"MPI\",\"pid\":0,\"ts\":1}]," ABOUT "}",
         "/traceEvents/1"},
        {"{\"traceEvents\":[" SLICE(0, "element", "x", 0, -1) "]," ABOUT "}", "/traceEvents/0"},
        {"{\"traceEvents\":[7]," ABOUT "}", "/traceEvents/0"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct trace trace;
        char error[200] = "";
        cJSON *json = cJSON_Parse(bad[i][0]);
        assert_non_null(json);
        assert_int_equal(timeline_read_trace(&trace, json, files->profile, error, sizeof error), -1);
        if (strstr(error, bad[i][1]) == NULL)
            fail_msg("\"%s\" is not in \"%s\"", bad[i][1], error);
        cJSON_Delete(json);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans),
        cmocka_unit_test(shares),
        cmocka_unit_test(the_note_says_what_was_sampled),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
