/* Scripts of faults: what is read, in which order, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "scheduler/simulated/script.h"

static int read_text(struct script *script, const char *text, struct error *error)
{
    char path[] = "/tmp/epop-test-script-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    int failed = script_read(script, path, error);
    unlink(path);
    return failed;
}

static void faults_come_by_time(void **state)
{
    struct script script;
    struct error error;
    (void)state;
    assert_int_equal(read_text(&script,
                               "at 500 node 3 returns\n\n# a comment\n  at 120.5 node 3 fails # the disk\r\n"
                               "resize of job 7 refused\nat 120.5 node 0 fails\nresize 2 of job 8 refused",
                               &error),
                     0);
    assert_int_equal(script.node_count, 3);
    assert_float_equal(script.nodes[0].time, 120.5, 0);
    assert_int_equal(script.nodes[0].node, 3);
    assert_false(script.nodes[0].up);
    assert_int_equal(script.nodes[1].node, 0);
    assert_true(script.nodes[2].up);
    assert_int_equal(script.resize_count, 2);
    assert_int_equal(script.resizes[0].job, 7);
    assert_int_equal(script.resizes[0].number, 1);
    assert_int_equal(script.resizes[1].job, 8);
    assert_int_equal(script.resizes[1].number, 2);
    script_free(&script);
    assert_null(script.nodes);
}

static void an_empty_one_has_none(void **state)
{
    struct script script;
    struct error error;
    (void)state;
    assert_int_equal(read_text(&script, "", &error), 0);
    assert_int_equal(script.node_count + script.resize_count, 0);
    script_free(&script);
}

static void lines_that_are_none_are_named(void **state)
{
    const char *const lines[] = {"at 1 node 3",
                                 "at nan node 3 fails",
                                 "at 1e999 node 3 fails",
                                 "at 1 node 3.5 fails",
                                 "at 1 node 99999999999 fails",
                                 "at 1 rack 3 fails",
                                 "resize",
                                 "resize of job",
                                 "resize -1 of job 7 refused"};
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct script script;
        struct error error = {0};
        char text[100];
        snprintf(text, sizeof text, "at 1 node 1 fails\n%s\n", lines[i]);
        if (!read_text(&script, text, &error))
            fail_msg("\"%s\" is taken", lines[i]);
        assert_non_null(strstr(error.text, ":2: no fault"));
        assert_null(strchr(error.text, '\n'));
        assert_null(script.nodes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_come_by_time),
        cmocka_unit_test(an_empty_one_has_none),
        cmocka_unit_test(lines_that_are_none_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
