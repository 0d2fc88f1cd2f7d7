/* What is written down of Slurm's jobs and nodes, view by view. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <unistd.h>

#include "scheduler/slurm/reading.h"
#include "scheduler/slurm/record.h"

#define F READING_FIELD
/* Number, user, state, count and names of nodes; submitted at 100, started at 110. */
#define JOB(number, user, state, count, hosts, comment, name)                                                          \
    F "m" F number F user F state F count F hosts F "" F "main" F "9" F "10:00" F "100" F "110" F                      \
      "None" F comment F name "\n"
#define RANGE "epop:min=1,max=4"

static const char nodes[] = "n1" F "allocated" F "4" F "main" F "1" F "up\n"
                            "n2" F "idle" F "4" F "main" F "1" F "up\n"
                            "n3" F "down" F "4" F "main" F "1" F "up\n";

static struct journal *journal;
static struct slurm_record record;
static struct advised_table table;
static struct error error;
static char directory[32], path[64], said[2000];

static int set_up(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/epop-test-XXXXXX");
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/journal.db", directory);
    assert_int_equal(journal_open(&journal, path, &error), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    record_free(&record);
    journal_close(journal);
    unlink(path);
    return rmdir(directory);
}

static void see(double now, const char *jobs)
{
    struct slurm_view view = {0};
    char *text = strdup(nodes), *more = strdup(jobs);
    assert_int_equal(reading_parse_nodes(text, &view_sink, &view, &error), 0);
    assert_int_equal(reading_parse_jobs(more, "m", &view_sink, &view, &error), 0);
    assert_int_equal(view_finish(&view, &error), 0);
    assert_int_equal(record_view(&record, journal, &view, &table, now, &error), 0);
    view_free(&view);
    free(text);
    free(more);
}

/* As an adviser that has died, and the next one. */
static void begin_anew(void)
{
    record_free(&record);
    journal_close(journal);
    assert_int_equal(journal_open(&journal, path, &error), 0);
}

__attribute__((format(printf, 1, 2))) static void add(const char *format, ...)
{
    va_list arguments;
    size_t length = strlen(said);
    va_start(arguments, format);
    vsnprintf(said + length, sizeof said - length, format, arguments);
    va_end(arguments);
}

static void add_job(void *to, const struct journal_job *job)
{
    (void)to;
    add("%d %s %s %g %g; ", (int)job->number, job->kind, job->state, job->started, job->ended);
}

static void add_stay(void *to, const struct journal_stay *stay)
{
    (void)to;
    add("%d %s %g-%g; ", (int)stay->job, stay->nodes, stay->begin, stay->end);
}

static void add_node(void *to, const struct journal_node *node)
{
    (void)to;
    add("%s %s; ", node->name, node->state);
}

static void add_resize(void *to, const struct journal_resize *resize)
{
    (void)to;
    add("%d %d-%d %s %s %s; ", (int)resize->job, resize->from, resize->to, resize->nodes, resize->outcome,
        resize->reason);
}

static void jobs_are(const char *expected)
{
    said[0] = '\0';
    assert_int_equal(journal_jobs(journal, true, add_job, NULL, &error), 0);
    assert_string_equal(said, expected);
}

static void stays_are(const char *expected)
{
    said[0] = '\0';
    assert_int_equal(journal_stays(journal, add_stay, NULL, &error), 0);
    assert_string_equal(said, expected);
}

static void test_a_jobs_life(void **state)
{
    (void)state;
    see(105, JOB("9", "7", "PENDING", "1", "", "", "calm"));
    jobs_are("9 rigid waiting -1 -1; ");
    stays_are("");
    see(111, JOB("9", "7", "RUNNING", "1", "n1", "", "calm"));
    see(112, JOB("9", "7", "RUNNING", "1", "n1", "", "calm"));
    jobs_are("9 rigid running 110 -1; ");
    stays_are("9 n1 110--1; ");
    see(120, "");
    jobs_are("9 rigid done 110 120; ");
    stays_are("9 n1 110-120; ");
}

static void test_one_that_never_started(void **state)
{
    (void)state;
    see(105, JOB("9", "7", "PENDING", "1", "", "", "calm"));
    see(106, "");
    jobs_are("9 rigid cancelled -1 106; ");
}

/* Those of another user are jobs, whatever they are called. */
static void test_companions_are_their_jobs(void **state)
{
    (void)state;
    see(111, JOB("9", "7", "RUNNING", "1", "n1", RANGE, "solve") JOB("12", "8", "PENDING", "1", "", "", "epop-9"));
    see(115, JOB("9", "7", "RUNNING", "1", "n1", RANGE, "solve") JOB("10", "7", "RUNNING", "1", "n2", "", "epop-9")
                 JOB("11", "7", "PENDING", "1", "", "", "epop-9") JOB("12", "8", "PENDING", "1", "", "", "epop-9"));
    see(118, JOB("9", "7", "RUNNING", "1", "n1", RANGE, "solve") JOB("12", "8", "PENDING", "1", "", "", "epop-9"));
    jobs_are("9 malleable running 110 -1; 12 rigid waiting -1 -1; ");
    stays_are("9 n1 110-115; 9 n1,n2 115-118; 9 n1 118--1; ");
}

static void test_a_job_that_is_put_back(void **state)
{
    (void)state;
    see(111, JOB("9", "7", "RUNNING", "1", "n1", "", "calm"));
    see(115, JOB("9", "7", "PENDING", "1", "", "", "calm"));
    see(116, JOB("9", "7", "PENDING", "1", "", "", "calm"));
    stays_are("9 n1 110-115; ");
    jobs_are("9 rigid running 110 -1; ");
}

/* It goes on with what is there, and sees that one has ended meanwhile. */
static void test_another_adviser(void **state)
{
    (void)state;
    see(111, JOB("8", "7", "RUNNING", "1", "n2", "", "brief") JOB("9", "7", "RUNNING", "1", "n1", "", "calm"));
    begin_anew();
    see(200, JOB("9", "7", "RUNNING", "1", "n1", "", "calm"));
    jobs_are("8 rigid done 110 200; 9 rigid running 110 -1; ");
    stays_are("8 n2 110-200; 9 n1 110--1; ");
}

/* Slurm that has lost its state counts from the beginning. */
static void test_a_number_that_comes_again(void **state)
{
    (void)state;
    static const char anew[] = F "m" F "9" F "7" F "PENDING" F "1" F "" F "" F "main" F "9" F "10:00" F "150" F "160" F
                                 "None" F "" F "other\n";
    see(111, JOB("9", "7", "RUNNING", "1", "n1", "", "calm"));
    see(151, anew);
    jobs_are("9 rigid waiting -1 -1; ");
    stays_are("");
}

static void test_what_ended_long_ago_is_forgotten(void **state)
{
    (void)state;
    const double month = 31 * 86400;
    see(111, JOB("8", "7", "RUNNING", "1", "n2", "", "brief") JOB("9", "7", "RUNNING", "1", "n1", "", "calm"));
    see(120, JOB("9", "7", "RUNNING", "1", "n1", "", "calm"));
    begin_anew();
    see(120 + month, JOB("9", "7", "RUNNING", "1", "n1", "", "calm"));
    jobs_are("9 rigid running 110 -1; ");
    stays_are("9 n1 110--1; ");
}

static void test_nodes(void **state)
{
    (void)state;
    see(111, "");
    said[0] = '\0';
    assert_int_equal(journal_nodes(journal, add_node, NULL, &error), 0);
    assert_string_equal(said, "n1 up; n2 up; n3 down; ");
}

static void test_resizes(void **state)
{
    (void)state;
    char *names[] = {"n2", "n3"};
    struct advised job = {.id = 9, .ask = {.from = 1, .to = 3, .nodes = {names, 2}}, .reason = "idle nodes"};
    record_resize(journal, &job, 120, 121, NULL); /* of a job that no view has shown: nothing to tell of */
    see(111, JOB("9", "7", "RUNNING", "1", "n1", RANGE, "solve"));
    record_resize(journal, &job, 120, 121, NULL);
    record_resize(journal, &job, 130, 131, "it ends");
    said[0] = '\0';
    assert_int_equal(journal_resizes(journal, true, add_resize, NULL, &error), 0);
    assert_string_equal(said, "9 1-3 n2,n3 done idle nodes; 9 1-3 n2,n3 refused it ends; ");
}

/* Said once; when there is room again all is written. */
static void test_a_journal_that_cannot_be_written(void **state)
{
    (void)state;
    struct slurm_view view = {0};
    struct journal *reading;
    assert_int_equal(view_finish(&view, &error), 0);
    see(111, JOB("9", "7", "RUNNING", "1", "n1", "", "calm"));
    assert_int_equal(journal_open_reading(&reading, path, &error), 0);
    assert_int_equal(record_view(&record, reading, &view, &table, 115, &error), -1);
    assert_non_null(strstr(error.text, path));
    assert_int_equal(record_view(&record, reading, &view, &table, 116, &error), 0);
    journal_close(reading);
    assert_int_equal(record_view(&record, journal, &view, &table, 117, &error), 0);
    jobs_are("9 rigid done 110 117; ");
    view_free(&view);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_jobs_life),
        TEST(test_one_that_never_started),
        TEST(test_companions_are_their_jobs),
        TEST(test_a_job_that_is_put_back),
        TEST(test_another_adviser),
        TEST(test_a_number_that_comes_again),
        TEST(test_what_ended_long_ago_is_forgotten),
        TEST(test_nodes),
        TEST(test_resizes),
        TEST(test_a_journal_that_cannot_be_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
