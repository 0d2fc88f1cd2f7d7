/* The journal of epoprm: what is written comes back, what must not be is refused, and a file that is no journal says
 * so. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "scheduler/journal/history.h"
#include "scheduler/journal/store.h"

static char directory[64], path[96];
static struct journal *journal;
static struct error error;

static void succeeds(int failed)
{
    if (failed)
        fail_msg("%s", error.text);
}

static void refuses(int failed, const char *part)
{
    assert_int_equal(failed, -1);
    assert_int_equal(error.code, ERROR_REFUSED);
    if (!strstr(error.text, part) || !strstr(error.text, path))
        fail_msg("\"%s\" does not say \"%s\" and the path", error.text, part);
}

static int set_up(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/epop-journal-XXXXXX");
    if (!mkdtemp(directory))
        return -1;
    snprintf(path, sizeof path, "%s/journal.db", directory);
    return journal_open(&journal, path, &error);
}

static int tear_down(void **state)
{
    (void)state;
    char command[160];
    journal_close(journal);
    journal = NULL;
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    return system(command);
}

static const char *const argv[] = {"./a b.so", "\"x\"", "", NULL};
static const char *const environment[] = {"HOME=/root", "LINES=a\nb", NULL};

static int64_t submit(const char *name)
{
    const struct journal_job job = {.name = name,
                                    .kind = "malleable",
                                    .argv = argv,
                                    .cwd = "/tmp",
                                    .environment = environment,
                                    .output = "/tmp/out",
                                    .ranks_min = 1,
                                    .ranks_max = 4,
                                    .nodes_min = 1,
                                    .nodes_max = 4,
                                    .wanted = 4,
                                    .limit = 600,
                                    .submitted = 12.5};
    int64_t number;
    succeeds(journal_job_add(journal, &job, &number, &error));
    return number;
}

static void put_node(int number)
{
    char name[16];
    snprintf(name, sizeof name, "n%d", number);
    const struct journal_node node = {number, name, name, 1, "up", "", 1};
    succeeds(journal_node_put(journal, &node, &error));
}

static void reopen(void)
{
    journal_close(journal);
    succeeds(journal_open(&journal, path, &error));
}

static int seen;

static void check_job(void *to, const struct journal_job *job)
{
    seen++;
    assert_int_equal(job->number, *(int64_t *)to);
    assert_string_equal(job->name, "heat");
    for (int i = 0; i < 4; i++)
        assert_true(argv[i] ? !strcmp(job->argv[i], argv[i]) : !job->argv[i]);
    assert_string_equal(job->environment[1], environment[1]);
    assert_true(!job->environment[2]);
    assert_string_equal(job->state, "running");
    assert_true(job->started == 20 && job->ended < 0 && job->submitted == 12.5 && job->limit == 600);
}

static void test_a_job_comes_back(void **state)
{
    (void)state;
    int64_t number = submit("heat");
    succeeds(journal_job_set_started(journal, number, 20, &error));
    succeeds(journal_job_set_state(journal, number, "running", "", &error));
    reopen();
    seen = 0;
    succeeds(journal_jobs(journal, false, check_job, &number, &error));
    assert_int_equal(seen, 1);
}

static void count_job(void *to, const struct journal_job *job)
{
    (void)job;
    ++*(int *)to;
}

static void test_numbers_are_not_used_again(void **state)
{
    (void)state;
    int64_t first = submit("a"), second = submit("b");
    assert_int_equal(second, first + 1);
    succeeds(journal_job_ended(journal, first, "done", "", 0, 30, &error));
    reopen();
    assert_int_equal(submit("c"), second + 1);
    int alive = 0, all = 0;
    succeeds(journal_jobs(journal, false, count_job, &alive, &error));
    succeeds(journal_jobs(journal, true, count_job, &all, &error));
    assert_int_equal(alive, 2);
    assert_int_equal(all, 3);
}

static void take_holding(void *to, const struct journal_holding *holding)
{
    char *text = to;
    sprintf(text + strlen(text), "%s:%d ", holding->node, (int)holding->job);
}

static void holds(const char *expected)
{
    char text[128] = "";
    succeeds(journal_holdings(journal, take_holding, text, &error));
    assert_string_equal(text, expected);
}

static void test_a_node_is_held_once(void **state)
{
    (void)state;
    int64_t one = submit("a"), two = submit("b");
    put_node(0), put_node(1);
    succeeds(journal_hold(journal, "n1", one, 0, 1, &error));
    succeeds(journal_hold(journal, "n0", one, 1, 1, &error));
    refuses(journal_hold(journal, "n0", two, 0, 2, &error), "UNIQUE");
    refuses(journal_hold(journal, "n0", one, 0, 2, &error), "UNIQUE");
    holds("n1:1 n0:1 ");
    refuses(journal_release(journal, "n0", two, &error), "does not hold");
    succeeds(journal_release(journal, "n0", one, &error));
    succeeds(journal_hold(journal, "n0", two, 0, 3, &error));
    holds("n1:1 n0:2 ");
}

static void test_only_what_there_is_can_be_held(void **state)
{
    (void)state;
    int64_t job = submit("a");
    put_node(0);
    refuses(journal_hold(journal, "n7", job, 0, 1, &error), "FOREIGN");
    refuses(journal_hold(journal, "n0", job + 1, 0, 1, &error), "FOREIGN");
    succeeds(journal_job_ended(journal, job, "failed", "status 3", 3, 2, &error));
    refuses(journal_hold(journal, "n0", job, 0, 3, &error), "ended");
    holds("");
}

static void test_who_ends_holds_nothing(void **state)
{
    (void)state;
    int64_t job = submit("a");
    put_node(0);
    succeeds(journal_hold(journal, "n0", job, 0, 1, &error));
    refuses(journal_job_ended(journal, job, "done", "", 0, 2, &error), "holds a node");
    succeeds(journal_release(journal, "n0", job, &error));
    succeeds(journal_job_ended(journal, job, "done", "", 0, 2, &error));
}

static void test_a_change_happens_as_a_whole(void **state)
{
    (void)state;
    int64_t job = submit("a");
    put_node(0), put_node(1);
    succeeds(journal_begin(journal, &error));
    succeeds(journal_hold(journal, "n0", job, 0, 1, &error));
    journal_rollback(journal);
    holds("");
    succeeds(journal_begin(journal, &error));
    succeeds(journal_hold(journal, "n1", job, 0, 1, &error));
    reopen();
    holds("");
    succeeds(journal_begin(journal, &error));
    succeeds(journal_hold(journal, "n1", job, 0, 1, &error));
    succeeds(journal_commit(journal, &error));
    reopen();
    holds("n1:1 ");
}

static void test_states_that_are_none(void **state)
{
    (void)state;
    int64_t job = submit("a");
    put_node(0);
    refuses(journal_job_set_state(journal, job, "sleeping", "", &error), "CHECK");
    refuses(journal_job_set_state(journal, job + 1, "running", "", &error), "no such job");
    refuses(journal_node_set_state(journal, "n0", "broken", "", 1, &error), "CHECK");
    refuses(journal_node_set_state(journal, "n1", "down", "", 1, &error), "no such node");
    succeeds(journal_node_set_state(journal, "n0", "drain", "asked for", 1, &error));
}

static void take_resize(void *to, const struct journal_resize *resize)
{
    seen++;
    *(double *)to = resize->times[JOURNAL_AGREED];
    assert_int_equal(resize->step, JOURNAL_AGREED);
    assert_string_equal(resize->nodes, "n2,n3");
    assert_string_equal(resize->reason, "idle nodes");
    assert_true(resize->times[JOURNAL_DECIDED] == 5 && resize->times[JOURNAL_COMMITTED] < 0);
}

static void test_a_resize_at_a_time(void **state)
{
    (void)state;
    int64_t job = submit("a"), id, other;
    double agreed = 0;
    succeeds(journal_resize_decided(journal, job, 2, 4, "n2,n3", "idle nodes", 5, &id, &error));
    refuses(journal_resize_decided(journal, job, 2, 3, "n2", "", 6, &other, &error), "UNIQUE");
    succeeds(journal_resize_step(journal, id, JOURNAL_ASKED, 6, &error));
    succeeds(journal_resize_step(journal, id, JOURNAL_AGREED, 7, &error));
    reopen();
    seen = 0;
    succeeds(journal_resizes(journal, false, take_resize, &agreed, &error));
    assert_true(seen == 1 && agreed == 7);
    succeeds(journal_resize_over(journal, id, "refused", "busy", &error));
    succeeds(journal_resize_decided(journal, job, 2, 3, "n2", "", 8, &other, &error));
    assert_true(other > id);
}

static void take_wishes(void *to, const struct journal_job *job)
{
    char *text = to;
    sprintf(text + strlen(text), "%s:%g:%d ", job->account, job->deadline, (int)job->drop_late);
}

static void test_what_a_user_says_is_changed(void **state)
{
    (void)state;
    char text[100] = "";
    int64_t job = submit("a");
    succeeds(journal_jobs(journal, false, take_wishes, text, &error));
    succeeds(journal_job_set_account(journal, job, "bob", &error));
    succeeds(journal_job_set_account(journal, job, "eve", &error));
    succeeds(journal_job_set_deadline(journal, job, 70, true, &error));
    reopen();
    succeeds(journal_jobs(journal, false, take_wishes, text, &error));
    succeeds(journal_job_set_deadline(journal, job, 0, false, &error));
    succeeds(journal_jobs(journal, false, take_wishes, text, &error));
    assert_string_equal(text, ":0:0 eve:70:1 eve:0:0 ");
}

static void test_a_move_is_known_until_it_is_over(void **state)
{
    (void)state;
    int64_t job = submit("a"), other = submit("b");
    struct journal_move move;
    succeeds(journal_move_set(journal, job, &(struct journal_move){.size = 3}, &error));
    succeeds(journal_move_set(journal, job, &(struct journal_move){.size = 2, .drained = true}, &error));
    reopen();
    succeeds(journal_move_get(journal, job, &move, &error));
    assert_true(move.size == 2 && move.drained);
    succeeds(journal_move_get(journal, other, &move, &error));
    assert_true(move.size == 0 && !move.drained);
    succeeds(journal_move_set(journal, job, &(struct journal_move){0}, &error));
    succeeds(journal_move_get(journal, job, &move, &error));
    assert_int_equal(move.size, 0);
}

static void take_stay(void *to, const struct journal_stay *stay)
{
    char *text = to;
    sprintf(text + strlen(text), "%g-%g:%s:%d ", stay->begin, stay->end, stay->nodes, stay->ranks);
}

static void test_stays_follow_each_other(void **state)
{
    (void)state;
    char text[128] = "";
    int64_t job = submit("a");
    succeeds(journal_stay(journal, job, 1, "n0", 1, &error));
    succeeds(journal_stay(journal, job, 3, "n0,n1", 2, &error));
    succeeds(journal_stays(journal, take_stay, text, &error));
    assert_string_equal(text, "1-3:n0:1 3--1:n0,n1:2 ");
    text[0] = '\0';
    succeeds(journal_stay_end(journal, job, 9, &error));
    succeeds(journal_stay_end(journal, job, 11, &error));
    succeeds(journal_stays(journal, take_stay, text, &error));
    assert_string_equal(text, "1-3:n0:1 3-9:n0,n1:2 ");
}

static void take_event(void *to, const struct journal_event *event)
{
    char *text = to;
    sprintf(text + strlen(text), "%g:%d:%s:%s:%s ", event->time, (int)event->job, event->kind,
            event->state ? event->state : "-", event->nodes ? event->nodes : "-");
}

static void test_events_by_job_the_last_ones(void **state)
{
    (void)state;
    char text[256] = "";
    for (int i = 0; i < 4; i++) {
        const struct journal_event event = {.time = i,
                                            .job = i % 2,
                                            .kind = "decision",
                                            .text = "t",
                                            .at = -1,
                                            .state = i == 3 ? "adapting" : NULL,
                                            .nodes = i == 3 ? "n1" : NULL};
        succeeds(journal_event_add(journal, &event, &error));
    }
    succeeds(journal_events(journal, 1, 0, take_event, text, &error));
    assert_string_equal(text, "1:1:decision:-:- 3:1:decision:adapting:n1 ");
    text[0] = '\0';
    succeeds(journal_events(journal, 0, 2, take_event, text, &error));
    assert_string_equal(text, "2:0:decision:-:- 3:1:decision:adapting:n1 ");
}

static void test_words_of_the_daemon(void **state)
{
    (void)state;
    char *value;
    succeeds(journal_meta_get(journal, "policy", &value, &error));
    assert_true(!value);
    succeeds(journal_meta_set(journal, "policy", "ers", &error));
    succeeds(journal_meta_set(journal, "policy", "easy", &error));
    succeeds(journal_meta_get(journal, "policy", &value, &error));
    assert_string_equal(value, "easy");
    free(value);
}

static void test_who_reads_sees_what_is_kept(void **state)
{
    (void)state;
    struct journal *reader;
    int count = 0;
    submit("a");
    succeeds(journal_begin(journal, &error));
    submit("b");
    succeeds(journal_open_reading(&reader, path, &error));
    succeeds(journal_jobs(reader, true, count_job, &count, &error));
    assert_int_equal(count, 1);
    assert_int_equal(journal_meta_set(reader, "a", "b", &error), -1);
    journal_close(reader);
    succeeds(journal_commit(journal, &error));
}

static void test_it_is_the_users_alone(void **state)
{
    (void)state;
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 077, 0);
}

/* A process that is killed in a transaction leaves nothing of it, and everything before. */
static void test_a_daemon_that_is_killed(void **state)
{
    (void)state;
    put_node(0);
    journal_close(journal);
    journal = NULL;
    pid_t pid = fork();
    if (pid == 0) {
        journal_open(&journal, path, &error);
        int64_t job = submit("kept");
        journal_begin(journal, &error);
        journal_hold(journal, "n0", job, 0, 1, &error);
        raise(SIGKILL);
    }
    int status, count = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    succeeds(journal_open(&journal, path, &error));
    succeeds(journal_jobs(journal, true, count_job, &count, &error));
    assert_int_equal(count, 1);
    holds("");
}

static void fails_to_open(const char *part)
{
    assert_int_equal(journal_open(&journal, path, &error), -1);
    assert_true(!journal);
    if (!strstr(error.text, part) || !strstr(error.text, path) || strchr(error.text, '\n'))
        fail_msg("\"%s\" is no line with \"%s\" and the path", error.text, part);
}

static void test_a_newer_one(void **state)
{
    (void)state;
    sqlite3 *database;
    journal_close(journal);
    journal = NULL;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, "PRAGMA user_version=2", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
    fails_to_open("newer epoprm");
    assert_int_equal(journal_open_reading(&journal, path, &error), -1);
    assert_non_null(strstr(error.text, "newer epoprm"));
}

static void test_no_journal_at_all(void **state)
{
    (void)state;
    journal_close(journal);
    journal = NULL;
    FILE *file = fopen(path, "w");
    for (int i = 0; i < 1000; i++)
        fputs("this is no database\n", file);
    fclose(file);
    fails_to_open("damaged");
}

/* A page in the middle is overwritten: found at the start, and not by what it breaks later. */
static void test_a_damaged_one(void **state)
{
    (void)state;
    for (int i = 0; i < 500; i++)
        submit("a job whose row takes some room in the file");
    journal_close(journal);
    journal = NULL;
    int file = open(path, O_WRONLY);
    char page[4096];
    memset(page, 0x5a, sizeof page);
    for (int i = 5; i < 25; i++)
        assert_int_equal(pwrite(file, page, sizeof page, 4096L * i), sizeof page);
    close(file);
    fails_to_open("damaged");
}

static void test_no_place_for_it(void **state)
{
    (void)state;
    journal_close(journal);
    journal = NULL;
    snprintf(path, sizeof path, "%s/missing/journal.db", directory);
    fails_to_open("directory");
    assert_int_equal(journal_open_reading(&journal, path, &error), -1);
    assert_int_equal(error.code, ERROR_REFUSED);
}

/* SQLite is told that the file may not grow: the same code as of a full disk. */
static void test_a_full_disk(void **state)
{
    (void)state;
    int failed = 0;
    sqlite3 *database = journal->database;
    sqlite3_exec(database, "PRAGMA max_page_count=30", NULL, NULL, NULL);
    for (int i = 0; i < 2000 && !failed; i++)
        failed = journal_meta_set(journal, (char[]){(char)('a' + i % 26), (char)('a' + i / 26), 0},
                                  "a word of some length, so that few of them fill what room there is", &error);
    assert_int_equal(failed, -1);
    assert_non_null(strstr(error.text, "make room"));
}

/* ---- What was measured in earlier jobs ----------------------------------------------------------- */

static const struct history_key ours = {1000, "[\"/a b.so\",\"1\"]"};
static const double second_day = 2 * 86400.0;

static epop_policy_sample_t at_ranks(int ranks, double seconds)
{
    return (epop_policy_sample_t){.phase = 1, .nodes = ranks, .iterations = 10, .seconds = seconds, .mtct = 0.5};
}

static void write_history(int64_t job, double now, const epop_policy_sample_t *samples, int count)
{
    succeeds(history_write(journal, &ours, job, now, samples, count, &error));
}

static void test_a_history_says_of_which_job_each_figure_is(void **state)
{
    const epop_policy_sample_t first[] = {at_ranks(4, 1), at_ranks(8, 0.9)}, next[] = {at_ranks(4, 1.1), first[1]};
    struct history history;
    (void)state;
    write_history(7, 0, first, 2);
    write_history(9, second_day, next, 2); /* it knew of 8 ranks by the other one */
    write_history(10, second_day, NULL, 0);
    succeeds(history_read(journal, &ours, second_day, &history, &error));
    assert_int_equal(history.count, 2);
    assert_int_equal(history.samples[0].job, 9);
    assert_int_equal(history.samples[1].job, 7);
    assert_true(history.samples[0].sample.seconds == 1.1 && history.samples[1].time == 0);
    assert_int_equal(history_last(&history), 9);
    history_free(&history);
}

static void test_a_history_forgets(void **state)
{
    const epop_policy_sample_t first[] = {at_ranks(4, 1), at_ranks(8, 0.9)}, next[] = {at_ranks(4, 3), first[1]};
    struct history history;
    (void)state;
    write_history(7, 0, first, 2);
    write_history(9, second_day, next, 1); /* 8 ranks are of another program, it says */
    succeeds(history_read(journal, &ours, second_day, &history, &error));
    assert_int_equal(history.count, 1);
    history_free(&history);
    succeeds(history_read(journal, &ours, second_day + HISTORY_AGE, &history, &error));
    assert_int_equal(history.count, 0);
    history_free(&history);
}

static void test_whose_history_it_is(void **state)
{
    const epop_policy_sample_t sample = at_ranks(4, 1);
    const struct history_key other_user = {1001, ours.program}, other_program = {1000, "[\"/a b.so\",\"2\"]"};
    struct history history;
    (void)state;
    write_history(7, 0, &sample, 1);
    succeeds(history_read(journal, &other_user, 0, &history, &error));
    assert_int_equal(history.count, 0);
    succeeds(history_read(journal, &other_program, 0, &history, &error));
    assert_int_equal(history.count, 0);
}

static void is_program(const char *cwd, const char *const *words, const char *expected)
{
    char *program = history_program(cwd, words);
    assert_string_equal(program, expected);
    free(program);
}

static void test_the_same_program_by_two_names(void **state)
{
    const char *const by_path[] = {"./sh", "-c", NULL}, *const by_name[] = {"sh", NULL}, *const gone[] = {"x/y", NULL};
    char expected[160], file[128];
    (void)state;
    snprintf(file, sizeof file, "%s/sh", directory);
    fclose(fopen(file, "w"));
    snprintf(expected, sizeof expected, "[\"%s\",\"-c\"]", file);
    is_program(directory, by_path, expected);
    is_program(directory, by_name, "[\"sh\"]");
    is_program("/nowhere", gone, "[\"/nowhere/x/y\"]");
}

static void test_a_journal_of_before_there_was_a_history(void **state)
{
    struct history history;
    (void)state;
    succeeds(store_run(journal, "test", &error, "DROP TABLE history", ""));
    journal_close(journal);
    succeeds(journal_open(&journal, path, &error));
    succeeds(history_read(journal, &ours, 0, &history, &error));
    assert_int_equal(history.count, 0);
}

struct wish {
    char account[16];
    double deadline;
    bool drop_late;
};

static void take_wish(void *to, const struct journal_job *job)
{
    struct wish *wish = (struct wish *)to + job->number - 1;
    snprintf(wish->account, sizeof wish->account, "%s", job->account);
    wish->deadline = job->deadline;
    wish->drop_late = job->drop_late;
}

static void take_account(void *to, const struct journal_stay *stay)
{
    snprintf(((struct wish *)to + stay->job - 1)->account, 16, "%s", stay->account);
}

/* The second job, of three; its numbers are its own, whatever others have said. */
static void submit_with_wishes(void)
{
    struct journal_job job = {
        .name = "wished", .kind = "rigid", .argv = argv, .cwd = "/tmp", .environment = environment};
    int64_t number;
    submit("plain");
    job.account = "physics";
    job.deadline = 99.5;
    job.drop_late = true;
    succeeds(journal_job_add(journal, &job, &number, &error));
    assert_int_equal(number, 2);
    assert_int_equal(submit("last"), 3);
    for (int i = 1; i <= 2; i++)
        succeeds(journal_stay(journal, i, 5, "n1,n2", 2, &error));
}

static void test_accounts_and_deadlines(void **state)
{
    struct wish jobs[3], stays[3];
    (void)state;
    submit_with_wishes();
    succeeds(journal_jobs(journal, true, take_wish, jobs, &error));
    succeeds(journal_stays(journal, take_account, stays, &error));
    assert_string_equal(jobs[1].account, "physics");
    assert_string_equal(stays[1].account, "physics");
    assert_true(jobs[1].deadline == 99.5 && jobs[1].drop_late);
    for (int i = 0; i < 3; i += 2)
        assert_true(!*jobs[i].account && jobs[i].deadline <= 0 && !jobs[i].drop_late);
    assert_true(!*stays[0].account);
    succeeds(journal_jobs_forget(journal, 0, &error));
    succeeds(journal_job_forget(journal, 2, &error));
}

static void test_a_journal_of_before_there_were_accounts(void **state)
{
    struct wish jobs[3], stays[3];
    struct journal *reader;
    (void)state;
    submit_with_wishes();
    succeeds(store_run(journal, "test", &error, "DROP TABLE account", ""));
    succeeds(store_run(journal, "test", &error, "DROP TABLE deadline", ""));
    succeeds(journal_open_reading(&reader, path, &error));
    succeeds(journal_jobs(reader, true, take_wish, jobs, &error));
    succeeds(journal_stays(reader, take_account, stays, &error));
    assert_true(!*jobs[1].account && jobs[1].deadline <= 0 && !*stays[1].account);
    journal_close(reader);
}

int main(void)
{
#define OF_A_FILE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        OF_A_FILE(test_a_job_comes_back),
        OF_A_FILE(test_numbers_are_not_used_again),
        OF_A_FILE(test_a_node_is_held_once),
        OF_A_FILE(test_only_what_there_is_can_be_held),
        OF_A_FILE(test_who_ends_holds_nothing),
        OF_A_FILE(test_a_change_happens_as_a_whole),
        OF_A_FILE(test_states_that_are_none),
        OF_A_FILE(test_a_resize_at_a_time),
        OF_A_FILE(test_a_move_is_known_until_it_is_over),
        OF_A_FILE(test_what_a_user_says_is_changed),
        OF_A_FILE(test_stays_follow_each_other),
        OF_A_FILE(test_events_by_job_the_last_ones),
        OF_A_FILE(test_words_of_the_daemon),
        OF_A_FILE(test_who_reads_sees_what_is_kept),
        OF_A_FILE(test_it_is_the_users_alone),
        OF_A_FILE(test_a_daemon_that_is_killed),
        OF_A_FILE(test_a_newer_one),
        OF_A_FILE(test_no_journal_at_all),
        OF_A_FILE(test_a_damaged_one),
        OF_A_FILE(test_no_place_for_it),
        OF_A_FILE(test_a_full_disk),
        OF_A_FILE(test_a_history_says_of_which_job_each_figure_is),
        OF_A_FILE(test_a_history_forgets),
        OF_A_FILE(test_whose_history_it_is),
        OF_A_FILE(test_the_same_program_by_two_names),
        OF_A_FILE(test_a_journal_of_before_there_was_a_history),
        OF_A_FILE(test_accounts_and_deadlines),
        OF_A_FILE(test_a_journal_of_before_there_were_accounts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
