/* Traces: what is read, what is left out and counted, and what is refused with which words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scheduler/workload/swf.h"

#define HEAD "; MaxNodes: 64\n; MaxProcs: 128\n"

/* number submit wait run used cpu memory requested limit memory status user group application queue partition ... */
#define LINE(id, submit, run, used, requested, limit, status)                                                          \
#id " " #submit " -1 " #run " " #used " -1 -1 " #requested " " #limit " -1 " #status " 4 1 7 0 -1 -1 -1\n"

static int read_text(struct workload *workload, const char *text, int nodes, struct error *error)
{
    struct input input = {.name = "trace.swf", .text = strdup(text), .size = strlen(text)};
    int failed = swf_read(workload, &input, nodes, error);
    input_free(&input);
    return failed;
}

static void refused(const char *text, const char *what)
{
    struct workload workload;
    struct error error = {0};
    assert_int_equal(read_text(&workload, text, 0, &error), -1);
    assert_int_equal(workload.count, 0);
    if (!strstr(error.text, what) || strchr(error.text, '\n'))
        fail_msg("\"%s\" does not say \"%s\"", error.text, what);
}

static void a_job(void **state)
{
    struct workload workload;
    struct error error;
    (void)state;
    assert_int_equal(read_text(&workload, HEAD "\n" LINE(3, 100, 60, 16, 32, 90, 1), 0, &error), 0);
    assert_int_equal(workload.nodes, 128);
    assert_int_equal(workload.count, 1);
    const struct work *work = workload.works;
    assert_int_equal(work->id, 3);
    assert_int_equal(work->user, 4);
    assert_string_equal(work->name, "app7");
    assert_int_equal(work->kind, EPOP_RIGID);
    assert_int_equal(work->wanted, 32);
    assert_int_equal(work->range.min, 32);
    assert_int_equal(work->range.max, 32);
    assert_float_equal(work->submit, 100, 0);
    assert_float_equal(work->limit, 90, 0);
    assert_float_equal(work_seconds(work, 32), 60, 1e-9);
    assert_non_null(strstr(workload.notes, "128 processors in 64 nodes"));
    workload_free(&workload);
}

static void what_was_not_asked_for_is_what_was_used(void **state)
{
    struct workload workload;
    struct error error;
    (void)state;
    assert_int_equal(read_text(&workload, HEAD LINE(1, 0, 60, 16, -1, -1, -1), 0, &error), 0);
    assert_int_equal(workload.works[0].wanted, 16);
    assert_float_equal(workload.works[0].limit, 60, 0);
    workload_free(&workload);
}

static void what_cannot_run_is_counted(void **state)
{
    struct workload workload;
    struct error error;
    (void)state;
    const char *text = HEAD LINE(1, 0, 0, 4, 4, 9, 5) LINE(2, 1, -1, 4, 4, 9, 0) LINE(3, 2, 5, -1, 0, 9, 1)
        LINE(4, 3, 5, 4, 4, 9, 3) LINE(5, 4, 5, 4, 4, 9, 5);
    assert_int_equal(read_text(&workload, text, 0, &error), 0);
    assert_int_equal(workload.count, 1);
    assert_int_equal(workload.works[0].id, 5);
    assert_non_null(strstr(workload.notes, "2 of 5 lines left out: no run time"));
    assert_non_null(strstr(workload.notes, "1 of 5 lines left out: no processors"));
    assert_non_null(strstr(workload.notes, "1 of 5 lines left out: parts of jobs"));
    workload_free(&workload);
}

static void the_machine_of_the_command_line_goes_first(void **state)
{
    struct workload workload;
    struct error error;
    (void)state;
    assert_int_equal(read_text(&workload, "; MaxProcs: none\n" LINE(1, 0, 5, 200, -1, -1, 1), 256, &error), 0);
    assert_int_equal(workload.nodes, 256);
    workload_free(&workload);
}

static void nodes_alone_are_the_machine(void **state)
{
    struct workload workload;
    struct error error;
    (void)state;
    assert_int_equal(read_text(&workload, "; MaxNodes: 32\r\n" LINE(1, 0, 5, 32, -1, -1, 1), 0, &error), 0);
    assert_int_equal(workload.nodes, 32);
    workload_free(&workload);
}

static void bad_lines_are_named(void **state)
{
    (void)state;
    refused(HEAD "1 0 -1 5 4\n", "trace.swf:3: field 6 (CPU time) is missing");
    refused(HEAD LINE(1, 0, 5, 4, 4, 9, 1) "x\n", "trace.swf:4: field 1 (job number) is \"x\"");
    refused(HEAD LINE(1, 0, 5s, 4, 4, 9, 1), "field 4 (run time) is \"5s\", which is no number");
    refused(HEAD LINE(1, 0, nan, 4, 4, 9, 1), "field 4 (run time) is \"nan\", which is no number");
    refused(HEAD LINE(1, -5, 5, 4, 4, 9, 1), "field 2 (submit time) is negative");
    refused(HEAD LINE(1, 9, 5, 4, 4, 9, 1) LINE(2, 8, 5, 4, 4, 9, 1),
            "trace.swf:4: field 2 (submit time) is 8, before line 3's 9: sort");
    refused(HEAD LINE(1, 0, 5, 4, 129, 9, 1), "field 8 (requested processors) is 129, and the machine has 128");
    refused(HEAD LINE(1, 0, 5, 500, -1, 9, 1), "field 5 (used processors) is 500, and the machine has 128");
    refused(HEAD LINE(1, 0, 5, 4.5, -1, 9, 1), "field 5 (used processors) is no whole number");
    refused(HEAD LINE(1.5, 0, 5, 4, -1, 9, 1), "field 1 (job number) is no whole number");
    refused(HEAD LINE(1, 0, 5, 4, 4, 9, 1 1), "more than 18 fields");
}

static void bad_files_are_named(void **state)
{
    (void)state;
    refused("", "trace.swf: has no job");
    refused("; Version: 2\n", "has no job");
    refused(LINE(1, 0, 5, 4, 4, 9, 1), "says neither MaxProcs nor MaxNodes");
    refused("; MaxProcs: many\n", "trace.swf:1: MaxProcs is no number");
    refused(HEAD LINE(1, 0, 5, 4, 4, 9, 1) LINE(1, 0, 5, 4, 4, 9, 1), "two jobs have the number 1");
    refused(HEAD LINE(1, 0, -1, 4, 4, 9, 1), "has no job that can be simulated: of 1 lines, 1 have no run time");
}

static void a_byte_0_is_no_text(void **state)
{
    static const char text[] = HEAD "1 0\0 -1 5\n";
    struct workload workload;
    struct error error = {0};
    struct input input = {.name = "trace.swf", .text = malloc(sizeof text), .size = sizeof text - 1};
    (void)state;
    assert_non_null(input.text);
    memcpy(input.text, text, sizeof text);
    assert_int_equal(swf_read(&workload, &input, 0, &error), -1);
    assert_non_null(strstr(error.text, "trace.swf:3: a byte 0"));
    input_free(&input);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job),
        cmocka_unit_test(what_was_not_asked_for_is_what_was_used),
        cmocka_unit_test(what_cannot_run_is_counted),
        cmocka_unit_test(the_machine_of_the_command_line_goes_first),
        cmocka_unit_test(nodes_alone_are_the_machine),
        cmocka_unit_test(bad_lines_are_named),
        cmocka_unit_test(bad_files_are_named),
        cmocka_unit_test(a_byte_0_is_no_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
