/*
 * The server and its members, each a process of its own: order, exactly-once delivery, losses, and that nothing is left
 * behind. Every test runs in a forked child, since a process serves once.
 */
#include <dirent.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/control/control.h"
#include "tests/unit/own_directory.h"

#define MEMBERS    8
#define MESSAGES   1000
#define LIMIT_S    60
#define SOON_S     20 /* what takes a second or two, on a machine that is busy; what hangs is ended by LIMIT_S */
#define CHECK(...) check((__VA_ARGS__), #__VA_ARGS__, __LINE__)

/* Not cmocka's: those long jump, and this is another process. */
static void check(int holds, const char *what, int line)
{
    if (holds)
        return;
    fprintf(stderr, "line %d: not so: %s\n", line, what);
    _exit(1);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- A member's process --------------------------------------------------------- */

static struct {
    int process, echoed;
} member;

static void member_message(void *context, const cJSON *message)
{
    int number = cJSON_GetObjectItem(message, "n")->valueint;
    (void)context;
    if (number != member.echoed) {
        fprintf(stderr, "member %d: message %d where %d was due\n", member.process, number, member.echoed);
        _exit(1);
    }
    member.echoed++;
    CHECK(!control_tell(message));
}

static void member_lost(void *context)
{
    (void)context;
    _exit(9);
}

/* Reads the address, echoes, and detaches at the end of the pipe. */
static void be_member(int process, int in)
{
    static const struct control_member_ops ops = {.message = member_message, .lost = member_lost};
    char address[CONTROL_URI_MAX + CONTROL_TOKEN_MAX], byte;
    struct error error;
    alarm(LIMIT_S);
    member.process = process;
    CHECK(read(in, address, sizeof address) == sizeof address);
    if (control_attach(address, address + CONTROL_URI_MAX, process, &ops, NULL, 20000, &error)) {
        fprintf(stderr, "member %d: %s\n", process, error.text);
        _exit(1);
    }
    while (read(in, &byte, 1) > 0)
        ;
    control_detach(true);
    _exit(0);
}

/* ---- The server's process ---------------------------------------------------------- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int attached, answers, lost, last_lost;
    int next[MEMBERS + 1];
    pid_t pid[MEMBERS + 1];
    int pipe[MEMBERS + 1];
    char address[CONTROL_URI_MAX + CONTROL_TOKEN_MAX];
} job = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void count(int *what)
{
    pthread_mutex_lock(&job.lock);
    ++*what;
    pthread_cond_broadcast(&job.changed);
    pthread_mutex_unlock(&job.lock);
}

static void await(const int *what, int value)
{
    pthread_mutex_lock(&job.lock);
    while (*what < value)
        pthread_cond_wait(&job.changed, &job.lock);
    pthread_mutex_unlock(&job.lock);
}

static void on_attached(void *context, int process)
{
    (void)context, (void)process;
    count(&job.attached);
}

static void on_lost(void *context, int process)
{
    (void)context;
    job.last_lost = process;
    count(&job.lost);
}

static void on_message(void *context, const int *processes, int many, const cJSON *message)
{
    (void)context;
    CHECK(many == 1 && cJSON_GetObjectItem(message, "n")->valueint == job.next[processes[0]]);
    job.next[processes[0]]++;
    count(&job.answers);
}

static void on_request(void *context, struct wire_request *handle, const cJSON *request)
{
    (void)context;
    control_answer(handle, request);
}

static const struct wire_server_ops server_ops = {
    .attached = on_attached, .lost = on_lost, .message = on_message, .request = on_request};

/* Before the server, because a process that forks afterwards would give its descriptors away. */
static void fork_member(int process)
{
    int ends[2];
    CHECK(!pipe(ends));
    job.pid[process] = fork();
    if (job.pid[process] == 0) {
        for (int other = 1; other < process; other++)
            close(job.pipe[other]);
        close(ends[1]);
        be_member(process, ends[0]);
    }
    close(ends[0]);
    job.pipe[process] = ends[1];
}

static void release(int process)
{
    CHECK(write(job.pipe[process], job.address, sizeof job.address) == sizeof job.address);
}

/* Serves, and has `members` of the forked ones attach. */
static void start(int members, int forked)
{
    struct error error = {0};
    for (int process = 1; process <= forked; process++)
        fork_member(process);
    CHECK(!control_serve(&server_ops, NULL, job.address, job.address + CONTROL_URI_MAX, &error));
    for (int process = 1; process <= members; process++)
        release(process);
    await(&job.attached, members);
}

static void send_number(int process, int number)
{
    cJSON *message = cJSON_CreateObject();
    cJSON_AddNumberToObject(message, "n", number);
    CHECK(!control_send(process, message));
    cJSON_Delete(message);
}

/* The members detach and end; none of them saw anything wrong. */
static void finish(int first, int last)
{
    int status;
    for (int process = first; process <= last; process++)
        close(job.pipe[process]);
    for (int process = first; process <= last; process++)
        CHECK(waitpid(job.pid[process], &status, 0) == job.pid[process] && status == 0);
}

/* ---- The tests -------------------------------------------------------------------------- */

/* Bursts to all, and to single ones between them, echoed by each. */
static void order(void)
{
    start(MEMBERS, MEMBERS);
    for (int number = 0; number < MESSAGES; number++) {
        if (number % 2 == 0)
            send_number(CONTROL_ALL, number);
        for (int process = 1; number % 2 != 0 && process <= MEMBERS; process++)
            send_number(process, number);
    }
    await(&job.answers, MEMBERS * MESSAGES);
    finish(1, MEMBERS);
    CHECK(job.answers == MEMBERS * MESSAGES);
    control_unserve(1000);
}

/* Several threads at a time; each member must see what each thread sent, once. */
static void *send_some(void *unused)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static int number;
    (void)unused;
    for (int i = 0; i < MESSAGES / 4; i++) {
        pthread_mutex_lock(&lock);
        send_number(CONTROL_ALL, number++);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void threads(void)
{
    pthread_t thread[4];
    start(2, 2);
    for (int i = 0; i < 4; i++)
        CHECK(!pthread_create(&thread[i], NULL, send_some, NULL));
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    await(&job.answers, 2 * MESSAGES);
    finish(1, 2);
    control_unserve(1000);
}

static void round_trip(void)
{
    enum { ROUNDS = 200 };
    int quick = 0;
    start(MEMBERS, MEMBERS);
    double begin = now();
    for (int number = 0; number < ROUNDS; number++) {
        double sent = now();
        send_number(CONTROL_ALL, number);
        await(&job.answers, MEMBERS * (number + 1));
        quick += now() - sent < 0.040;
    }
    printf("round trip to %d members and back: %.3f ms\n", MEMBERS, 1e3 * (now() - begin) / ROUNDS);
    fflush(stdout);
    CHECK(quick > ROUNDS / 2); /* Nagle's algorithm with delayed acknowledgements takes 43 ms, each time */
    finish(1, MEMBERS);
    control_unserve(1000);
}

static void loss(void)
{
    start(3, 4);
    double begin = now();
    kill(job.pid[2], SIGKILL);
    await(&job.lost, 1);
    CHECK(job.last_lost == 2 && now() - begin < SOON_S);
    cJSON *nothing = cJSON_CreateObject();
    CHECK(control_send(2, nothing) == -1 && control_send(99, nothing) == -1);
    cJSON_Delete(nothing);
    send_number(CONTROL_ALL, 0); /* the others are as they were */
    await(&job.answers, 2);
    release(4); /* and a new one can come */
    await(&job.attached, 4);
    kill(job.pid[1], SIGKILL);
    kill(job.pid[3], SIGKILL);
    await(&job.lost, 3); /* two at once are two losses */
    finish(4, 4);
    CHECK(job.lost == 3); /* to detach is no loss */
    control_unserve(1000);
}

static void server_goes(void)
{
    int status;
    start(2, 2);
    control_unserve(200); /* they do not detach: for them it is as good as dead */
    for (int process = 1; process <= 2; process++)
        CHECK(waitpid(job.pid[process], &status, 0) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 9);
    CHECK(job.lost == 0); /* who goes when the job ends is not lost */
}

static void stuck_member(void)
{
    start(2, 2);
    kill(job.pid[1], SIGSTOP);
    close(job.pipe[2]);
    double begin = now();
    control_unserve(300);
    CHECK(now() - begin < SOON_S);
    kill(job.pid[1], SIGKILL);
    while (wait(NULL) > 0)
        ;
}

static int entries(const char *path)
{
    DIR *directory = opendir(path);
    int number = 0;
    for (; directory && readdir(directory); number++)
        ;
    if (directory)
        closedir(directory);
    return number;
}

static void *nothing(void *argument)
{
    return argument;
}

/* With the first thread ThreadSanitizer starts one of its own. */
static void have_had_a_thread(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, nothing, NULL) == 0);
    pthread_join(thread, NULL);
}

static void nothing_left(void)
{
    char runtime[300];
    struct error error;
    have_had_a_thread();
    for (int process = 1; process <= 2; process++)
        fork_member(process);
    int descriptors = entries("/proc/self/fd"), tasks = entries("/proc/self/task");
    CHECK(!control_serve(&server_ops, NULL, job.address, job.address + CONTROL_URI_MAX, &error));
    release(1);
    release(2);
    await(&job.attached, 2);
    CHECK(!control_advertise("a-job", NULL, &error));
    snprintf(runtime, sizeof runtime, "%s/epop", getenv("XDG_RUNTIME_DIR"));
    CHECK(entries(runtime) > 2);
    CHECK(write(job.pipe[1], "", 1) == 1);
    kill(job.pid[1], SIGKILL);
    await(&job.lost, 1);
    close(job.pipe[1]);
    finish(2, 2);
    control_unserve(1000);
    CHECK(entries("/proc/self/fd") == descriptors - 2);
    CHECK(entries("/proc/self/task") == tasks);
    CHECK(entries(runtime) == 2); /* . and .. */
}

static void address_file_errors(void)
{
    struct error error = {0};
    start(0, 0);
    CHECK(control_advertise("../evil", NULL, &error) == -1 && strstr(error.text, "../evil"));
    CHECK(control_advertise(".hidden", NULL, &error) == -1);
    CHECK(control_advertise("", NULL, &error) == -1);
    CHECK(!control_advertise("fine", NULL, &error));
    control_unserve(1000);
}

static void no_server_there(void)
{
    static const struct control_member_ops ops = {.message = member_message, .lost = member_lost};
    char token[CONTROL_TOKEN_MAX];
    struct error error = {0};
    memset(token, '0', sizeof token);
    token[sizeof token - 1] = '\0';
    double begin = now();
    CHECK(control_attach("tcp:127.0.0.1:1", token, 1, &ops, NULL, 3000, &error) == -1);
    CHECK(error.text[0] && now() - begin < SOON_S);
}

/* ---- Running them ------------------------------------------------------------------------ */

static void in_child(void (*body)(void))
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        alarm(LIMIT_S);
        body();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    kill(-child, SIGKILL); /* members of a test that failed */
    assert_int_equal(status, 0);
}

#define TEST(name)                                                                                                     \
    static void test_##name(void **state)                                                                              \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        in_child(name);                                                                                                \
    }
TEST(order)
TEST(threads)
TEST(round_trip)
TEST(loss)
TEST(server_goes)
TEST(stuck_member)
TEST(nothing_left)
TEST(address_file_errors)
TEST(no_server_there)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),           cmocka_unit_test(test_threads),
        cmocka_unit_test(test_round_trip),      cmocka_unit_test(test_loss),
        cmocka_unit_test(test_server_goes),     cmocka_unit_test(test_stuck_member),
        cmocka_unit_test(test_nothing_left),    cmocka_unit_test(test_address_file_errors),
        cmocka_unit_test(test_no_server_there),
    };
    return cmocka_run_group_tests(tests, own_directory_set_up, own_directory_tear_down);
}
