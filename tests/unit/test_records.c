/*
 * The records in process 0, with the other processes' messages made up. As there is one recorder per process, and it
 * runs once, each test is a process of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/json.h"
#include "runtime/records/records.h"

/* ---- A driver --------------------------------------------------------------------------- */

static char written[4000]; /* the last time, in words */
static _Atomic int writes, hangs;
static _Atomic int refuses; /* what the last write returns */
static double apart;

static char *record(int which, int last)
{
    char text[64];
    snprintf(text, sizeof text, "%s%d", last ? "last" : "present", which);
    return strdup(text);
}

static int write_job(int which, const epop_job_t *job)
{
    char *end = written;
    (void)which;
    end += sprintf(end, "%s %d %s:", job->id, job->end, job->reason ? job->reason : "-");
    for (int i = 0; i < job->record_count; i++)
        end += sprintf(end, " %d=%.20s", job->records[i].process, job->records[i].text);
    for (int i = 0; i < job->adaptation_count; i++)
        end += sprintf(end, " %d:%s%s", job->adaptations[i].id, job->adaptations[i].state, job->adaptations[i].reason);
    for (int i = 0; i < job->refusal_count; i++)
        end += sprintf(end, " (%s)", job->refusals[i].reason);
    writes++;
    while (hangs)
        sleep(1);
    return refuses;
}

static double checkpoint(int which)
{
    (void)which;
    return apart;
}

static const struct records_user user = {.count = 1, .record = record, .write = write_job, .checkpoint = checkpoint};

static void begin(void)
{
    epop__records_use(&user);
    epop__records_begin(&(struct records_job){.id = "job", .path = "path", .backend = "pool", .size = 2});
}

/* Part `part` of `parts` of a record of that process. */
static void receive(int process, bool last, int part, int parts, const char *text)
{
    records_take_part(process, &(struct report_record){.last = last, .part = part, .parts = parts, .text = text});
}

/* ---- In a process of its own ---------------------------------------------------------------- */

/* 0 if what was written is this. */
static int compare(const char *expected)
{
    if (!strcmp(written, expected))
        return 0;
    fprintf(stderr, "expected: %s\nwritten:  %s\n", expected, written);
    return 1;
}

static void in_a_process(int (*test)(void))
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        alarm(20);
        _exit(test());
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

#define TEST_OF(name)                                                                                                  \
    static void name(void **state)                                                                                     \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        in_a_process(do_##name);                                                                                       \
    }

/* ---- Tests ---------------------------------------------------------------------------------- */

static int do_records_come_by_process_in_their_order(void)
{
    begin();
    receive(2, true, 0, 1, "c");
    receive(1, true, 0, 1, "a");
    receive(1, true, 0, 1, "b");
    epop__records_hand_over();
    epop__records_finish(NULL);
    return compare("job 1 -: 0=last0 1=a 1=b 2=c");
}
TEST_OF(records_come_by_process_in_their_order)

static int do_parts_are_put_together(void)
{
    begin();
    receive(1, true, 0, 3, "a");
    receive(2, true, 0, 2, "x");
    receive(1, true, 1, 3, "b");
    receive(2, true, 1, 2, "y");
    receive(1, true, 2, 3, "c");
    receive(3, true, 0, 2, "cut off");
    epop__records_finish(NULL);
    return compare("job 1 -: 1=abc 2=xy");
}
TEST_OF(parts_are_put_together)

static int do_one_that_was_cut_off_begins_again(void)
{
    begin();
    receive(1, false, 0, 3, "a");
    receive(1, true, 0, 2, "b");
    receive(1, true, 1, 2, "c");
    epop__records_finish(NULL);
    return compare("job 1 -: 1=bc");
}
TEST_OF(one_that_was_cut_off_begins_again)

static int do_later_ones_replace_the_present(void)
{
    begin();
    receive(1, true, 0, 1, "left");
    receive(1, false, 0, 1, "early");
    receive(1, false, 0, 1, "late");
    receive(2, false, 0, 1, "early");
    receive(2, true, 0, 1, "end");
    epop__records_fail("bang");
    return compare("job 3 bang: 0=present0 1=left 1=late 2=end");
}
TEST_OF(later_ones_replace_the_present)

static int do_at_the_end_the_last_ones_count(void)
{
    begin();
    receive(1, true, 0, 1, "left");
    receive(1, false, 0, 1, "stands by");
    epop__records_finish("SIGTERM");
    return compare("job 2 SIGTERM: 1=left");
}
TEST_OF(at_the_end_the_last_ones_count)

static int do_adaptations_and_refusals(void)
{
    begin();
    records_note(&(epop_adaptation_t){.id = 1, .state = "preparing", .reason = ""}, NULL);
    records_note(&(epop_adaptation_t){.id = 2, .state = "window", .reason = ""}, NULL);
    records_note(&(epop_adaptation_t){.id = 1, .state = "failed", .reason = " why"}, NULL);
    records_note(NULL, "no");
    epop__records_finish(NULL);
    return compare("job 1 -: 1:failed why 2:window (no)");
}
TEST_OF(adaptations_and_refusals)

static int do_a_failure_has_what_there_is(void)
{
    begin();
    receive(1, false, 0, 1, "known");
    epop__records_fail("bang");
    epop__records_fail("another");
    return writes == 1 ? compare("job 3 bang: 0=present0 1=known") : 2;
}
TEST_OF(a_failure_has_what_there_is)

static int do_a_failure_waits_for_a_driver_that_hangs_two_seconds_only(void)
{
    begin();
    hangs = 1;
    epop__records_fail("bang");
    return writes != 1;
}
TEST_OF(a_failure_waits_for_a_driver_that_hangs_two_seconds_only)

static int do_checkpoints(void)
{
    apart = 0.01;
    begin();
    while (writes < 3)
        usleep(1000);
    epop__records_hand_over();
    epop__records_finish(NULL);
    return compare("job 1 -: 0=last0");
}
TEST_OF(checkpoints)

static int do_what_is_not_written_at_the_end_is_told(void)
{
    refuses = 1;
    begin();
    return epop__records_finish(NULL) == -1 && writes == 1 ? 0 : 1;
}
TEST_OF(what_is_not_written_at_the_end_is_told)

static int do_a_checkpoint_that_is_not_written_does_not_count(void)
{
    apart = 0.01;
    refuses = 1;
    begin();
    while (writes < 2)
        usleep(1000);
    refuses = 0;
    return epop__records_finish(NULL);
}
TEST_OF(a_checkpoint_that_is_not_written_does_not_count)

static int do_nobody_records(void)
{
    const struct records_user nobody = {.count = 0};
    epop__records_use(&nobody);
    epop__records_begin(&(struct records_job){.id = "job", .path = "path", .size = 1});
    epop__records_hand_over();
    epop__records_fail("bang");
    epop__records_finish(NULL);
    records_take_part(1, &(struct report_record){.parts = 1, .text = ""});
    records_give(&(struct order_record){.round = 1});
    return 0;
}
TEST_OF(nobody_records)

#define TEST(name) cmocka_unit_test(name)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(records_come_by_process_in_their_order),
        TEST(parts_are_put_together),
        TEST(one_that_was_cut_off_begins_again),
        TEST(later_ones_replace_the_present),
        TEST(at_the_end_the_last_ones_count),
        TEST(adaptations_and_refusals),
        TEST(a_failure_has_what_there_is),
        TEST(a_failure_waits_for_a_driver_that_hangs_two_seconds_only),
        TEST(checkpoints),
        TEST(what_is_not_written_at_the_end_is_told),
        TEST(a_checkpoint_that_is_not_written_does_not_count),
        TEST(nobody_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
