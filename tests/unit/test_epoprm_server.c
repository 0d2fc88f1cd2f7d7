/* The socket of epoprm's daemon, in a process of its own: answers, events, and clients that misbehave. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "runtime/base/json.h"
#include "runtime/wire/loop.h"
#include "runtime/wire/socket.h"
#include "scheduler/daemon/server.h"

static char directory[192], path[512];
static pid_t daemon_pid;
static int ready[2];
static struct error error;

/* ---- A daemon that rules nothing ------------------------------------------------------------ */

static struct event_base *base;
static bool over;
static struct server *server;

static int submit(void *context, const struct submission *submission, int64_t *number, struct error *why)
{
    (void)context;
    if (submission->ranks_max > 8)
        return error_set(why, ERROR_REFUSED, "%s wants %d ranks", submission->argv[0], submission->ranks_max);
    *number = submission->ranks_min * 100 + submission->ranks_max;
    return 0;
}

static int cancel(void *context, int64_t job, bool *unknown, struct error *why)
{
    (void)context;
    *unknown = job == 3;
    const struct journal_event event = {
        .time = 1, .job = job, .kind = "ended", .text = "cancelled", .state = "cancelled"};
    for (int i = 0; i < (job == 9 ? 100000 : 1); i++)
        server_tell(server, &event);
    return job == 3 ? error_set(why, ERROR_FAILED, "there is no job 3") : 0;
}

static int stop_daemon(void *context, enum daemon_stop how, struct error *why)
{
    (void)context, (void)why;
    over = how == DAEMON_STOP_JOBS;
    wire_wake(base);
    return 0;
}

static void jobs(void *context, void (*each)(void *to, const struct daemon_job *job), void *to)
{
    (void)context;
    const struct daemon_job job = {.number = 1,
                                   .name = "heat",
                                   .kind = "rigid",
                                   .state = "waiting",
                                   .reason = "",
                                   .hosts = "",
                                   .submitted = 1,
                                   .started = -1,
                                   .limit = 60,
                                   .left = -1,
                                   .reserved = -1};
    each(to, &job);
}

static const struct daemon_table table = {.submit = submit, .cancel = cancel, .stop = stop_daemon, .jobs = jobs};

static void be_the_daemon(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    base = wire_base_new();
    if (!base || server_open(&server, path, base, &table, NULL, &error))
        _exit(1);
    if (write(ready[1], "r", 1) != 1)
        _exit(1);
    close(ready[1]);
    wire_wait(base, &over, -1);
    server_close(server);
    event_base_free(base);
    _exit(0);
}

/* Longer than a socket's address may be. */
static int set_up(void **state)
{
    (void)state;
    char byte;
    strcpy(directory, "/tmp/epop-server-XXXXXX");
    if (!mkdtemp(directory))
        return -1;
    snprintf(path, sizeof path, "%s/%0120d", directory, 0);
    if (mkdir(path, 0700) || pipe(ready) || strcpy(directory, path) != directory)
        return -1;
    strcat(path, "/socket");
    daemon_pid = fork();
    if (daemon_pid == 0)
        be_the_daemon();
    close(ready[1]);
    ssize_t got = read(ready[0], &byte, 1);
    close(ready[0]);
    return got != 1;
}

static int ended_with(void)
{
    int status;
    waitpid(daemon_pid, &status, 0);
    daemon_pid = 0;
    return status;
}

static int tear_down(void **state)
{
    (void)state;
    if (daemon_pid) {
        kill(daemon_pid, SIGKILL);
        ended_with();
    }
    unlink(path);
    rmdir(directory);
    *strrchr(directory, '/') = '\0';
    return rmdir(directory);
}

/* ---- Its clients ---------------------------------------------------------------------------- */

static FILE *connected(void)
{
    struct timeval limit = {.tv_sec = 60};
    int fd = wire_connect_path(path);
    assert_true(fd >= 0);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    return fdopen(fd, "r+");
}

static cJSON *next(FILE *client)
{
    char *line = NULL;
    size_t room = 0;
    cJSON *json = getline(&line, &room, client) > 0 ? cJSON_Parse(line) : NULL;
    free(line);
    return json;
}

static cJSON *ask(FILE *client, const char *request)
{
    assert_true(fputs(request, client) >= 0 && fputc('\n', client) == '\n' && !fflush(client));
    fseek(client, 0, SEEK_CUR);
    return next(client);
}

static void refuses(const char *request, const char *code, const char *part)
{
    FILE *client = connected();
    cJSON *answer = ask(client, request);
    assert_non_null(answer);
    assert_true(cJSON_IsFalse(cJSON_GetObjectItem(answer, "ok")));
    assert_string_equal(json_text(answer, "code"), code);
    if (!strstr(json_text(answer, "reason"), part))
        fail_msg("%s", json_text(answer, "reason"));
    cJSON_Delete(answer);
    fclose(client);
}

static void answers_to(FILE *client, const char *request)
{
    cJSON *answer = ask(client, request);
    assert_true(json_true(answer, "ok") && json_int(answer, "pid", 0) == daemon_pid);
    cJSON_Delete(answer);
}

static void answers(FILE *client)
{
    answers_to(client, "{\"op\":\"about\"}");
}

#define SUBMIT(more) "{\"op\":\"submit\",\"argv\":[\"./a\"],\"cwd\":\"/\",\"environment\":[\"A=b\"]" more "}"

static void test_requests(void **state)
{
    (void)state;
    FILE *client = connected();
    cJSON *answer = ask(client, SUBMIT(",\"ranks\":[1,4]"));
    assert_int_equal(json_int(answer, "job", 0), 104);
    cJSON_Delete(answer);
    answer = ask(client, "{\"op\":\"queue\"}");
    const cJSON *job = cJSON_GetArrayItem(cJSON_GetObjectItem(answer, "jobs"), 0);
    assert_string_equal(json_text(job, "name"), "heat");
    assert_false(cJSON_HasObjectItem(job, "started"));
    cJSON_Delete(answer);
    fclose(client);
}

static void test_refusals(void **state)
{
    (void)state;
    refuses(SUBMIT(",\"ranks\":[1,9]"), "refused", "./a wants 9");
    refuses(SUBMIT(",\"ranks\":[4,1]"), "usage", "ranks");
    refuses(SUBMIT(",\"ranks\":4"), "usage", "ranks");
    refuses("{\"op\":\"submit\",\"argv\":[]}", "usage", "argv");
    refuses("{\"op\":\"cancel\",\"job\":3}", "unknown", "no job 3");
    refuses("{\"op\":\"cancel\"}", "usage", "which job");
    refuses("{\"op\":\"drain\",\"node\":\"n1\"}", "refused", "no such request");
    refuses("{\"op\":\"stop\",\"how\":\"now\"}", "usage", "idle, jobs or leave");
    refuses("{\"op\":\"dance\"}", "usage", "no such request");
    refuses("[1]", "usage", "one JSON object");
    refuses("what is this", "usage", "one JSON object");
    refuses("", "usage", "one JSON object");
}

static void test_who_watches_hears(void **state)
{
    (void)state;
    FILE *watcher = connected(), *other = connected();
    cJSON_Delete(ask(watcher, "{\"op\":\"watch\"}"));
    cJSON_Delete(ask(other, "{\"op\":\"cancel\",\"job\":7}"));
    cJSON *event = next(watcher);
    assert_string_equal(json_text(event, "event"), "ended");
    assert_int_equal(json_int(event, "job", 0), 7);
    cJSON_Delete(event);
    answers(other);
    fclose(watcher);
    fclose(other);
}

/* It hears nothing more, and delays nobody. */
static void test_a_watcher_that_does_not_read(void **state)
{
    (void)state;
    FILE *watcher = connected(), *other = connected();
    cJSON_Delete(ask(watcher, "{\"op\":\"watch\"}"));
    for (int i = 0; i < 4; i++)
        cJSON_Delete(ask(other, "{\"op\":\"cancel\",\"job\":9}"));
    answers(other);
    int lines = 0;
    for (cJSON *event; (event = next(watcher)); lines++)
        cJSON_Delete(event);
    assert_true(lines < 400000);
    fclose(watcher);
    fclose(other);
}

static void test_half_a_line_and_silence(void **state)
{
    (void)state;
    FILE *half = connected(), *silent = connected(), *other = connected();
    fputs("{\"op\":\"ab", half);
    fflush(half);
    answers(other);
    cJSON *answer = ask(half, "out\"}");
    assert_true(json_true(answer, "ok"));
    cJSON_Delete(answer);
    fclose(half), fclose(silent), fclose(other);
}

static void test_a_line_without_end(void **state)
{
    (void)state;
    static char rubbish[1 << 20];
    FILE *endless = connected(), *other = connected();
    memset(rubbish, 'x', sizeof rubbish);
    signal(SIGPIPE, SIG_IGN);
    int written = 0;
    while (written < 64 && fwrite(rubbish, sizeof rubbish, 1, endless) == 1)
        written++;
    assert_true(written < 64);
    answers(other);
    fclose(endless), fclose(other);
}

/* Several requests in one piece are answered in their order. */
static void test_a_row_of_requests(void **state)
{
    (void)state;
    FILE *client = connected();
    cJSON *first = ask(client, "{\"op\":\"about\"}\n{\"op\":\"cancel\",\"job\":3}"), *second = next(client);
    assert_true(json_true(first, "ok"));
    assert_string_equal(json_text(second, "code"), "unknown");
    cJSON_Delete(first);
    cJSON_Delete(second);
    fclose(client);
}

/* Those for whom there is no place wait, and those who say nothing make room for them, and hear why. */
static void test_too_many(void **state)
{
    (void)state;
    FILE *clients[140];
    char byte;
    for (int i = 0; i < 140; i++)
        clients[i] = connected();
    answers(clients[0]);
    for (int i = 0; i < 140; i++) {
        assert_int_equal(recv(fileno(clients[i]), &byte, 1, MSG_DONTWAIT), -1);
        assert_int_equal(errno, EAGAIN);
    }
    answers(clients[139]);
    answers(clients[0]);
    cJSON *why = next(clients[1]);
    assert_string_equal(json_text(why, "code"), "busy");
    cJSON_Delete(why);
    assert_int_equal(recv(fileno(clients[1]), &byte, 1, 0), 0);
    for (int i = 0; i < 140; i++)
        fclose(clients[i]);
}

/* Of those who watch there may be as many besides. */
static void test_who_watches_takes_no_place(void **state)
{
    (void)state;
    FILE *watchers[128], *other;
    for (int i = 0; i < 128; i++) {
        watchers[i] = connected();
        cJSON_Delete(ask(watchers[i], "{\"op\":\"watch\"}"));
    }
    refuses("{\"op\":\"watch\"}", "refused", "128 watch already");
    other = connected();
    answers(other);
    fclose(other);
    for (int i = 0; i < 128; i++)
        fclose(watchers[i]);
    cJSON *answer;
    do { /* it takes a moment to hear that they have gone */
        other = connected();
        answer = ask(other, "{\"op\":\"watch\"}");
        bool refused = !json_true(answer, "ok");
        cJSON_Delete(answer);
        fclose(other);
        if (!refused)
            return;
    } while (1);
}

static long peak_kib(void)
{
    char name[64], line[256];
    long peak = 0;
    snprintf(name, sizeof name, "/proc/%d/status", (int)daemon_pid);
    FILE *file = fopen(name, "r");
    while (!peak && file && fgets(line, sizeof line, file))
        sscanf(line, "VmHWM: %ld", &peak);
    if (file)
        fclose(file);
    return peak;
}

/* A part of a request, as much as the daemon takes without waiting. */
static void send_part(int fd, char first, size_t length)
{
    static char text[8 << 20];
    memset(text, ' ', sizeof text);
    text[0] = first;
    for (size_t sent = 0; sent < length;) {
        struct pollfd writable = {.fd = fd, .events = POLLOUT};
        ssize_t n = poll(&writable, 1, 100) > 0 ? send(fd, text + sent, length - sent, MSG_DONTWAIT | MSG_NOSIGNAL) : 0;
        if (n <= 0)
            return;
        sent += (size_t)n;
    }
}

/* Sixty clients with half a request of 8 MiB each: a few of them have all the memory that there is for that, the others
 * wait, and have their answer when the halves are given up. */
static void test_many_halves(void **state)
{
    (void)state;
    FILE *halves[60];
    for (int i = 0; i < 60; i++)
        send_part(fileno(halves[i] = connected()), '{', 8 << 20);
    FILE *other = connected();
    answers(other);
    assert_in_range(peak_kib(), 1, 200 << 10);
    FILE *last = connected();
    send_part(fileno(last), '{', 1 << 20);
    for (int i = 0; i < 60; i++)
        fclose(halves[i]);
    for (int i = 0; i < 64; i++)
        send_part(fileno(last), ' ', 16 << 10);
    answers_to(last, "\"op\":\"about\"}");
    fclose(last), fclose(other);
}

/* One that asks, and does not take what it is told, is not asked for more than fits: the daemon's memory stays. */
static void test_one_who_asks_and_never_reads(void **state)
{
    (void)state;
    static const char request[] = "{\"op\":\"queue\"}\n";
    FILE *greedy = connected(), *other = connected();
    size_t asked = 0;
    struct pollfd writable = {.fd = fileno(greedy), .events = POLLOUT};
    while (asked < 2000000 && poll(&writable, 1, 500) > 0 &&
           send(fileno(greedy), request, sizeof request - 1, MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
        asked++;
    assert_true(asked < 2000000);
    answers(other);
    assert_in_range(peak_kib(), 1, 60 << 10);
    fclose(greedy), fclose(other);
}

static void test_the_end(void **state)
{
    (void)state;
    FILE *watcher = connected(), *client = connected();
    cJSON_Delete(ask(watcher, "{\"op\":\"watch\"}"));
    cJSON *answer = ask(client, "{\"op\":\"stop\",\"how\":\"jobs\"}");
    assert_true(json_true(answer, "ok"));
    cJSON_Delete(answer);
    assert_true(!next(watcher));
    assert_int_equal(ended_with(), 0);
    assert_int_equal(access(path, F_OK), -1);
    fclose(watcher), fclose(client);
}

int main(void)
{
#define OF_A_DAEMON(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        OF_A_DAEMON(test_requests),
        OF_A_DAEMON(test_refusals),
        OF_A_DAEMON(test_who_watches_hears),
        OF_A_DAEMON(test_a_watcher_that_does_not_read),
        OF_A_DAEMON(test_half_a_line_and_silence),
        OF_A_DAEMON(test_a_line_without_end),
        OF_A_DAEMON(test_a_row_of_requests),
        OF_A_DAEMON(test_too_many),
        OF_A_DAEMON(test_who_watches_takes_no_place),
        OF_A_DAEMON(test_many_halves),
        OF_A_DAEMON(test_one_who_asks_and_never_reads),
        OF_A_DAEMON(test_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
