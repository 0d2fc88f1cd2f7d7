/* What a launcher prints is passed on as it is, but for what Hydra says itself. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/hydra/relay.h"

#define RULER "===================================================================================\n"

#define NOTICE "[mpiexec@vm] Sending Ctrl-C to processes as requested\n"

static const char banner[] =
    "\n" RULER "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n"
    "=   PID 27423 RUNNING AT vm\n=   EXIT CODE: 9\n=   CLEANING UP REMAINING PROCESSES\n" RULER
    "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)\n"
    "This typically refers to a problem with your application.\n"
    "Please see the FAQ page for debugging suggestions\n";

static int redirect(int fd, FILE *file)
{
    int kept = dup(fd);
    fflush(NULL);
    dup2(fileno(file), fd);
    return kept;
}

static void restore(int fd, int kept)
{
    fflush(NULL);
    dup2(kept, fd);
    close(kept);
}

static void read_back(FILE *file, char *text, size_t size)
{
    rewind(file);
    text[fread(text, 1, size - 1, file)] = 0;
    fclose(file);
}

/* A child writes the text in pieces of `piece` bytes, to one of its outputs; what arrives. */
static void relayed(const char *text, size_t piece, int fd, char *arrived, size_t size)
{
    struct relay relay;
    FILE *file = tmpfile();
    assert_int_equal(relay_open(&relay), 0);
    pid_t child = fork();
    if (child == 0) {
        int to = fd == 1 ? relay.out[1] : relay.err[1];
        for (size_t done = 0, length = strlen(text); done < length; done += piece)
            if (write(to, text + done, length - done < piece ? length - done : piece) < 0)
                _exit(1);
        _exit(0);
    }
    relay_started(&relay);
    int kept = redirect(fd, file);
    relay_run(&relay, child);
    restore(fd, kept);
    waitpid(child, NULL, 0);
    read_back(file, arrived, size);
}

static void check(const char *text, const char *expected)
{
    char arrived[20000];
    static const size_t pieces[] = {1, 7, 100000};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        for (int fd = 1; fd <= 2; fd++) {
            relayed(text, pieces[i], fd, arrived, sizeof arrived);
            assert_string_equal(arrived, expected);
        }
}

static void test_output_passes(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "one line\n",
                                        "two\nlines\n",
                                        "\n\nempty ones\n\n\n",
                                        "no end",
                                        "\n",
                                        "= not\n= a banner\n",
                                        "You say\nThis is\n",
                                        "[mine] [0]\n[m",
                                        "=====\nshort\n=====\n",
                                        RULER "a table\n" RULER,
                                        "\n" RULER "\n" RULER RULER};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check(texts[i], texts[i]);
}

static void test_long_lines_pass(void **state)
{
    (void)state;
    char text[10002], arrived[20000];
    for (char c = '='; c <= 'Z'; c += 'Z' - '=') {
        memset(text, c, 10000);
        strcpy(text + 10000, "\n");
        relayed(text, 3000, 1, arrived, sizeof arrived);
        assert_string_equal(arrived, text);
    }
}

static void test_hydras_own_is_left_out(void **state)
{
    (void)state;
    char text[4000];
    check(NOTICE "[mpiexec@vm] Press Ctrl-C again to force abort\nCtrl-C caught... cleaning up processes\n", "");
    check(banner, "");
    snprintf(text, sizeof text, "before\n%safter\n", banner);
    check(text, "before\nafter\n");
}

/* It comes from a signal handler, whatever mpiexec is writing at that moment: at any place of the banner, once or
 * twice, nothing is left of either. */
static void test_notice_anywhere_in_the_banner(void **state)
{
    (void)state;
    static const char *const notices[] = {NOTICE, "[mpiexec@a.b-c] Press Ctrl-C again to force abort\n"};
    char text[4000], arrived[4000];
    for (size_t at = 0; at <= strlen(banner); at++) {
        snprintf(text, sizeof text, "before\n%.*s%s%s%safter\n", (int)at, banner, notices[at % 2],
                 at % 3 ? "" : notices[0], banner + at);
        relayed(text, at % 2 ? 7 : 4000, 1, arrived, sizeof arrived);
        assert_string_equal(arrived, "before\nafter\n");
    }
}

/* A signal in the midst of Hydra's fflush: what was just written is written again. */
static void test_ruler_with_a_part_twice(void **state)
{
    static const char half[] = "\n==================================================";
    static const char rest[] = "=================================\n";
    const char *second = strstr(banner + 2, RULER);
    char text[2000], arrived[2000];
    (void)state;
    assert_int_equal(strlen(half) - 1 + strlen(rest), strlen(RULER));
    snprintf(text, sizeof text, "%s%s" NOTICE "%safter\n", half, half, banner + strlen(half));
    relayed(text, 1000, 1, arrived, sizeof arrived);
    assert_string_equal(arrived, "after\n");
    snprintf(text, sizeof text, "\n" RULER "%s%safter\n", rest, banner + 1 + strlen(RULER));
    relayed(text, 1000, 1, arrived, sizeof arrived);
    assert_string_equal(arrived, "after\n");
    snprintf(text, sizeof text, "%.*s%sbetween\n%safter\n", (int)(second - banner + (int)strlen(RULER)), banner, rest,
             rest);
    relayed(text, 1000, 1, arrived, sizeof arrived);
    snprintf(text, sizeof text, "between\n%safter\n", rest);
    assert_string_equal(arrived, text);
}

static void test_notice_in_a_line_of_the_program(void **state)
{
    (void)state;
    check("ready> " NOTICE "yes\n", "ready> yes\n");
    check("\n" NOTICE "\nx" NOTICE "\n", "\n\nx\n");
    check("the line \"[mpiexec@vm] Sending\" is not one\n", "the line \"[mpiexec@vm] Sending\" is not one\n");
}

/* A prompt without an end of line is seen while the process runs. */
static void test_part_of_a_line_passes_at_once(void **state)
{
    (void)state;
    struct relay relay;
    int seen[2], done[2];
    char text[16] = "", byte = 0;
    assert_int_equal(relay_open(&relay), 0);
    assert_int_equal(pipe(seen) | pipe(done), 0);
    pid_t child = fork();
    if (child == 0) { /* ends only when the prompt has come out */
        byte = write(relay.out[1], "ready> ", 7) == 7 && read(done[0], &byte, 1) == 1;
        _exit(!byte);
    }
    pid_t reader = fork();
    if (reader == 0) {
        alarm(20);
        ssize_t got = read(seen[0], text, 7);
        _exit(!(got == 7 && !strcmp(text, "ready> ") && write(done[1], "x", 1) == 1));
    }
    relay_started(&relay);
    int kept = dup(1), status = 1;
    fflush(NULL);
    dup2(seen[1], 1);
    relay_run(&relay, child);
    restore(1, kept);
    waitpid(reader, &status, 0);
    assert_int_equal(status, 0);
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

/* A child writes the text to its standard error; what of it arrives on that of this process. */
static void relay_words(struct relay *relay, const char *text, bool hidden, char *arrived, size_t size)
{
    FILE *file = tmpfile();
    assert_int_equal(relay_open(relay), 0);
    relay->hidden = hidden;
    pid_t child = fork();
    if (child == 0)
        _exit(write(relay->err[1], text, strlen(text)) < 0);
    relay_started(relay);
    int kept = redirect(2, file);
    relay_run(relay, child);
    restore(2, kept);
    waitpid(child, NULL, 0);
    read_back(file, arrived, size);
}

static void test_last_words_are_kept(void **state)
{
    struct relay relay = {0};
    char said[RELAY_SAID], arrived[200] = "";
    static const char text[] = "srun: error: too late\nsrun: error: busy\n[mpiexec@vm] is gone\n\n";
    (void)state;
    relay_words(&relay, text, false, arrived, sizeof arrived);
    assert_string_equal(arrived, "srun: error: too late\nsrun: error: busy\n\n");
    assert_true(relay_said(&relay, "srun", said, sizeof said));
    assert_string_equal(said, "error: busy");
    assert_false(relay_said(&relay, "ssh", said, sizeof said));
    assert_string_equal(said, "");
}

#define EDGE "--------------------------------------------------------------------------\n"

/* PRRTE's boxes are too long for a reason in one line. */
static void test_words_of_a_box_are_not_kept(void **state)
{
    struct relay relay = {0};
    char arrived[600] = "";
    static const char text[] = "[vm:1] PMIx_Spawn failed\n" EDGE "Please check your allocation.\n" EDGE;
    (void)state;
    relay_words(&relay, text, false, arrived, sizeof arrived);
    assert_string_equal(relay.said, "[vm:1] PMIx_Spawn failed");
    assert_string_equal(arrived, text);
}

static void test_hidden_words_are_kept(void **state)
{
    struct relay relay = {0};
    char arrived[200] = "";
    (void)state;
    relay_words(&relay, "seen without\n", true, arrived, sizeof arrived);
    assert_string_equal(relay.said, "seen without");
    assert_string_equal(arrived, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_output_passes),
        cmocka_unit_test(test_long_lines_pass),
        cmocka_unit_test(test_hydras_own_is_left_out),
        cmocka_unit_test(test_notice_anywhere_in_the_banner),
        cmocka_unit_test(test_ruler_with_a_part_twice),
        cmocka_unit_test(test_notice_in_a_line_of_the_program),
        cmocka_unit_test(test_part_of_a_line_passes_at_once),
        cmocka_unit_test(test_last_words_are_kept),
        cmocka_unit_test(test_words_of_a_box_are_not_kept),
        cmocka_unit_test(test_hidden_words_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
