/*
 * A job's end of the wire and links to it, in one process: who is taken in, by which number, how many at a time; who
 * comes first; and who hears of the end. Also what a link does when something else answers at the job's address.
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/wire/loop.h"
#include "runtime/wire/server.h"
#include "runtime/wire/socket.h"

#define TOKEN "0123456789abcdef"
enum { MANY = 200, TOOLS_MOST = 256, OPEN_MOST = 512, LIMIT_S = 100, SECONDS = 20 };

/* ---- The job ---------------------------------------------------------------------- */

static struct {
    struct wire_server *server;
    char path[64];
    atomic_int attached, lost, closed, messages, requests, requests_before;
    struct wire_request *kept[OPEN_MOST]; /* those that are not answered */
    int kept_count;
    sem_t at, go_on; /* of a request that holds up the server's thread */
} job;

static void on_attached(void *context, int process)
{
    (void)context, (void)process;
    job.attached++;
}

static void on_lost(void *context, int process)
{
    (void)context, (void)process;
    job.lost++;
}

static void on_closed(void *context, int process)
{
    (void)context, (void)process;
    job.closed++;
}

static void on_message(void *context, const int *processes, int count, const cJSON *message)
{
    (void)context, (void)processes, (void)count, (void)message;
    job.requests_before = job.requests;
    job.messages++;
}

static void answer(struct wire_request *handle)
{
    cJSON *yes = cJSON_CreateObject();
    cJSON_AddTrueToObject(yes, "ok");
    wire_server_answer(job.server, handle, yes);
    cJSON_Delete(yes);
}

static void on_request(void *context, struct wire_request *handle, const cJSON *request)
{
    const char *op = json_text(request, "op");
    (void)context;
    if (op && !strcmp(op, "keep")) {
        job.kept[job.kept_count++] = handle;
        job.requests++;
        return;
    }
    if (op && !strcmp(op, "hold")) {
        sem_post(&job.at);
        sem_wait(&job.go_on);
    }
    job.requests++;
    answer(handle);
}

static int open_job(void **state)
{
    static const struct wire_server_ops ops = {on_attached, on_lost, on_closed, on_message, on_request, NULL};
    const struct sockaddr_in loopback = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct error error;
    (void)state;
    alarm(LIMIT_S);
    memset(&job, 0, sizeof job);
    sem_init(&job.at, 0, 0);
    sem_init(&job.go_on, 0, 0);
    snprintf(job.path, sizeof job.path, "/tmp/epop-wire-server-%ld", (long)getpid());
    job.server = wire_server_open(&(struct wire_place){job.path, &loopback, TOKEN}, &ops, NULL, &error);
    return job.server ? 0 : -1;
}

static int close_job(void **state)
{
    (void)state;
    if (job.server) {
        wire_server_farewell(job.server, 1000);
        wire_server_close(job.server);
    }
    return access(job.path, F_OK) ? 0 : -1;
}

static void await(const atomic_int *count, int value)
{
    for (double end = monotonic_seconds() + SECONDS; *count < value && monotonic_seconds() < end;)
        usleep(500);
    assert_int_equal(*count, value);
}

/* ---- Links, all on one base ------------------------------------------------------- */

static struct {
    struct event_base *base;
    int attached, refused, heard, ended, answered, unanswered, wanted;
    const int *waits_for;
    bool done;
    struct error why;
} here;

static void look(void)
{
    here.done = here.waits_for && *here.waits_for >= here.wanted;
    if (here.done)
        wire_wake(here.base);
}

static void link_attached(void *context, const struct error *why_not)
{
    (void)context;
    here.attached += !why_not;
    here.refused += !!why_not;
    if (why_not)
        here.why = *why_not;
    look();
}

static void link_message(void *context, const cJSON *message)
{
    (void)context, (void)message;
    here.heard++;
    look();
}

static void link_ended(void *context, bool lost)
{
    (void)context, (void)lost;
    here.ended++;
    look();
}

static void link_answered(void *context, cJSON *answer, const struct error *why)
{
    (void)context;
    here.answered += !why;
    here.unanswered += !!why;
    if (why)
        here.why = *why;
    cJSON_Delete(answer);
    look();
}

static struct wire_link *open_to(const char *uri, const char *token, enum wire_role role, int process, double seconds)
{
    static const struct wire_link_ops ops = {link_attached, link_message, link_ended};
    struct error error;
    struct wire_link *link = wire_link_open(here.base, uri, token, role, process, &ops, NULL, seconds, &error);
    assert_non_null(link);
    return link;
}

static struct wire_link *open_link(enum wire_role role, int process, double seconds)
{
    return open_to(wire_server_uri(job.server), TOKEN, role, process, seconds);
}

static void until(const int *count, int wanted)
{
    here.waits_for = count;
    here.wanted = wanted;
    look();
    if (!here.done)
        wire_wait(here.base, &here.done, SECONDS);
    assert_int_equal(*count, wanted);
}

static void run_for(double seconds)
{
    bool never = false;
    here.waits_for = NULL;
    wire_wait(here.base, &never, seconds);
}

static void ask(struct wire_link *link, const char *op)
{
    cJSON *request = json_message(op);
    assert_int_equal(wire_link_ask(link, request, SECONDS, link_answered, NULL), 0);
    cJSON_Delete(request);
}

/* Whatever it is told, with the reason. */
static void assert_refused(enum wire_role role, int process, double seconds, const char *reason)
{
    int before = here.refused;
    struct wire_link *link = open_link(role, process, seconds);
    until(&here.refused, before + 1);
    wire_link_close(link);
    if (!strstr(here.why.text, reason))
        fail_msg("%s", here.why.text);
}

static int set_up(void **state)
{
    memset(&here, 0, sizeof here);
    here.base = wire_base_new();
    return here.base ? open_job(state) : -1;
}

static int tear_down(void **state)
{
    event_base_free(here.base);
    return close_job(state);
}

/* ---- The tests -------------------------------------------------------------------- */

static void test_many_members_attach_at_once(void **state)
{
    struct wire_link *links[MANY];
    cJSON *message = json_message("order");
    (void)state;
    for (int i = 0; i < MANY; i++)
        links[i] = open_link(WIRE_MEMBER, i + 1, SECONDS);
    until(&here.attached, MANY);
    await(&job.attached, MANY);
    assert_int_equal(wire_server_members(job.server), MANY);
    assert_int_equal(wire_server_send(job.server, WIRE_ALL, message), 0);
    assert_int_equal(wire_server_send(job.server, MANY, message), 0);
    assert_int_equal(wire_server_send(job.server, MANY + 1, message), -1);
    until(&here.heard, MANY + 1);
    for (int i = 0; i < MANY; i++)
        wire_link_close(links[i]);
    await(&job.closed, MANY);
    assert_int_equal(job.lost, 0);
    cJSON_Delete(message);
}

static void test_numbers(void **state)
{
    (void)state;
    struct wire_link *three = open_link(WIRE_MEMBER, 3, SECONDS);
    until(&here.attached, 1);
    assert_refused(WIRE_MEMBER, 0, SECONDS, "a member has a number above 0");
    assert_refused(WIRE_MEMBER, -7, SECONDS, "a member has a number above 0");
    assert_refused(WIRE_MEMBER, 2147483647, SECONDS, "no member has so high a number");
    assert_refused(WIRE_MEMBER, 3, 0.1, "a process of that number is attached already");
    struct wire_link *again = open_link(WIRE_MEMBER, 3, SECONDS); /* which it tries, until the first has gone */
    run_for(0.05);
    wire_link_close(three);
    until(&here.attached, 2);
    wire_link_close(again);
}

static void test_tools_are_so_many_and_members_come_all_the_same(void **state)
{
    struct wire_link *tools[TOOLS_MOST];
    (void)state;
    for (int i = 0; i < TOOLS_MOST; i++)
        tools[i] = open_link(WIRE_TOOL, 0, SECONDS);
    until(&here.attached, TOOLS_MOST);
    assert_refused(WIRE_TOOL, 0, 0.1, "too many clients are attached");
    struct wire_link *member = open_link(WIRE_MEMBER, 1, SECONDS), *late = open_link(WIRE_TOOL, 0, SECONDS);
    until(&here.attached, TOOLS_MOST + 1);
    for (int i = 0; i < TOOLS_MOST; i++)
        ask(tools[i], "status");
    until(&here.answered, TOOLS_MOST);
    wire_link_close(tools[0]);
    until(&here.attached, TOOLS_MOST + 2); /* there is room for the late one */
    for (int i = 1; i < TOOLS_MOST; i++)
        wire_link_close(tools[i]);
    wire_link_close(late);
    wire_link_close(member);
}

static void close_all(struct wire_link **links, int count)
{
    for (int i = 0; i < count; i++)
        wire_link_close(links[i]);
}

static void ask_often(struct wire_link *link, const char *op, int times)
{
    for (int n = 0; n < times; n++)
        ask(link, op);
}

/* 20 tools have 620 requests there, of which the first is being looked at, when a member says something. */
static void test_members_come_before_tools(void **state)
{
    enum { TOOLS = 20, EACH = 31 };
    struct wire_link *member = open_link(WIRE_MEMBER, 1, SECONDS), *tools[TOOLS + 1];
    cJSON *message = json_message("said");
    (void)state;
    for (int i = 0; i <= TOOLS; i++)
        tools[i] = open_link(WIRE_TOOL, 0, SECONDS);
    until(&here.attached, TOOLS + 2);
    ask(tools[TOOLS], "hold");
    sem_wait(&job.at);
    ask(tools[0], "hold");
    for (int i = 0; i < TOOLS; i++)
        ask_often(tools[i], "status", EACH);
    sem_post(&job.go_on);
    sem_wait(&job.at);
    assert_int_equal(wire_link_tell(member, message), 0);
    sem_post(&job.go_on);
    until(&here.answered, TOOLS * EACH + 2);
    await(&job.messages, 1);
    assert_in_range(job.requests_before, 2, 2 + EACH);
    close_all(tools, TOOLS + 1);
    wire_link_close(member);
    cJSON_Delete(message);
}

/* All together have too many open, no other one of them: it goes on when those of others are answered. */
static void test_one_that_waits_long_is_heard_again(void **state)
{
    enum { TOOLS = 17, EACH = 31, LAST = OPEN_MOST - 1 - (TOOLS - 1) * EACH };
    struct wire_link *waiting = open_link(WIRE_TOOL, 0, SECONDS), *tools[TOOLS];
    (void)state;
    for (int i = 0; i < TOOLS; i++)
        tools[i] = open_link(WIRE_TOOL, 0, SECONDS);
    until(&here.attached, TOOLS + 1);
    for (int i = 0; i < TOOLS; i++)
        ask_often(tools[i], "keep", i < TOOLS - 1 ? EACH : LAST);
    await(&job.requests, OPEN_MOST - 1);
    ask(waiting, "keep");
    ask(waiting, "status");
    run_for(0.05);
    assert_int_equal(job.requests, OPEN_MOST);
    assert_int_equal(here.answered, 0);
    for (int i = 0; i < OPEN_MOST - 1; i++)
        answer(job.kept[i]);
    until(&here.answered, OPEN_MOST);
    close_all(tools, TOOLS);
    wire_link_close(waiting);
}

static void test_the_end_is_heard(void **state)
{
    (void)state;
    struct wire_link *member = open_link(WIRE_MEMBER, 1, SECONDS), *tool = open_link(WIRE_TOOL, 0, SECONDS);
    struct wire_link *lifelines[] = {open_link(WIRE_LIFELINE, 0, SECONDS), open_link(WIRE_LIFELINE, 0, SECONDS)};
    until(&here.attached, 4);
    wire_server_tell_end(job.server);
    until(&here.ended, 2); /* the others may have something to say yet */
    ask(tool, "status");
    until(&here.answered, 1);
    assert_refused(WIRE_LIFELINE, 0, SECONDS, "the job has ended");
    ask(tool, "keep");
    run_for(0.05);
    struct wire_link *links[] = {member, tool, lifelines[0], lifelines[1]};
    assert_int_equal(job.lost, 0);
    wire_server_farewell(job.server, 100);
    wire_server_close(job.server);
    job.server = NULL;
    until(&here.answered, 2);
    until(&here.ended, 4);
    ask(tool, "status"); /* later than the end: no limit has passed */
    until(&here.unanswered, 1);
    assert_int_equal(here.why.code, ERROR_FAILED);
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        wire_link_close(links[i]);
}

static void network_only(char *uri, size_t size)
{
    const char *network = strstr(wire_server_uri(job.server), ";tcp:");
    assert_non_null(network);
    snprintf(uri, size, "%s", network + 1);
}

static void test_over_the_network_the_token_counts(void **state)
{
    char uri[WIRE_URI_MAX];
    (void)state;
    network_only(uri, sizeof uri);
    struct wire_link *right = open_to(uri, TOKEN, WIRE_MEMBER, 1, SECONDS);
    until(&here.attached, 1);
    struct wire_link *wrong = open_to(uri, "fedcba9876543210", WIRE_MEMBER, 2, SECONDS);
    until(&here.refused, 1);
    assert_non_null(strstr(here.why.text, "the token is not that of this job"));
    assert_int_equal(job.attached, 1);
    wire_link_close(wrong);
    wire_link_close(right);
}

/* It listened until its end: whoever comes later, a tool too, is told at once, and not when its time is over. */
static void test_where_nobody_listens_the_job_has_ended(void **state)
{
    char uri[WIRE_URI_MAX];
    (void)state;
    network_only(uri, sizeof uri);
    wire_server_close(job.server);
    job.server = NULL;
    struct wire_link *tool = open_to(uri, TOKEN, WIRE_TOOL, 0, 10 * SECONDS);
    until(&here.refused, 1);
    assert_string_equal(here.why.text, "cannot attach to the job: Connection refused");
    wire_link_close(tool);
}

/* ---- What answers is not the job ---------------------------------------------------- */

static const char *const lies[] = {
    "{\"op\":\"attached\"}\n",
    "{\"op\":\"challenge\",\"challenge\":\"00\"}\n"
    "{\"op\":\"attached\",\"proof\":\"0000000000000000000000000000000000000000000000000000000000000000\"}\n",
    "{\"op\":\"challenge\"}\n{\"op\":\"attached\",\"proof\":\"\"}\n",
    "{\"op\":\"order\"}\n",
    "{\"op\":7}\n",
};

/* Says its piece to one after the other. */
static void *lie(void *context)
{
    const int *listener = context;
    char heard[2000];
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        int fd = accept(*listener, NULL, NULL);
        if (write(fd, lies[i], strlen(lies[i])) > 0)
            while (read(fd, heard, sizeof heard) > 0)
                if (memmem(heard, sizeof heard, TOKEN, strlen(TOKEN)))
                    abort(); /* it never travels */
        close(fd);
    }
    return NULL;
}

static void test_an_impostor_is_not_believed(void **state)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    char uri[WIRE_URI_MAX];
    pthread_t liar;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    (void)state;
    assert_true(!bind(listener, (struct sockaddr *)&address, size) && !listen(listener, 5) &&
                !getsockname(listener, (struct sockaddr *)&address, &size));
    snprintf(uri, sizeof uri, "tcp:127.0.0.1:%d", ntohs(address.sin_port));
    assert_int_equal(pthread_create(&liar, NULL, lie, &listener), 0);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct wire_link *link = open_to(uri, TOKEN, WIRE_MEMBER, 1, SECONDS);
        until(&here.refused, (int)i + 1);
        assert_non_null(strstr(here.why.text, "what answers at its address is not the job"));
        wire_link_close(link);
    }
    pthread_join(liar, NULL);
    close(listener);
    assert_int_equal(here.attached, 0);
}

static void test_addresses_that_are_none(void **state)
{
    static const char *const none[] = {"",
                                       "unix:",
                                       "unix:elsewhere.example:/x",
                                       "tcp:",
                                       "tcp:1.2.3.4",
                                       "tcp:1.2.3.4:0",
                                       "tcp:1.2.3.4:65536",
                                       "tcp:1.2.3.400:5",
                                       "tcp:example:5",
                                       "udp:1.2.3.4:5"};
    struct wire_target target;
    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (!wire_target_of(none[i], &target))
            fail_msg("taken: %s", none[i]);
    assert_int_equal(wire_target_of(wire_server_uri(job.server), &target), 0);
    assert_string_equal(target.path, job.path);
    assert_true(target.networked);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_many_members_attach_at_once),
        TEST(test_numbers),
        TEST(test_tools_are_so_many_and_members_come_all_the_same),
        TEST(test_members_come_before_tools),
        TEST(test_one_that_waits_long_is_heard_again),
        TEST(test_the_end_is_heard),
        TEST(test_over_the_network_the_token_counts),
        TEST(test_where_nobody_listens_the_job_has_ended),
        TEST(test_an_impostor_is_not_believed),
        TEST(test_addresses_that_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
