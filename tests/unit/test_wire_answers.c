/*
 * Answers that other threads give, in any order, to clients that hear events at the same time: each request gets its
 * own, once; and what is open when a client goes is nobody's.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/wire/loop.h"
#include "runtime/wire/server.h"

#define TOKEN "0123456789abcdef"
enum { CLIENTS = 4, QUESTIONS = 5000, AT_ONCE = 40, ANSWERERS = 3, OPEN_MOST = 512, LIMIT_S = 100, SECONDS = 20 };

/* ---- The job ---------------------------------------------------------------------- */

static struct {
    struct wire_server *server;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct open {
        struct wire_request *handle;
        int n;
    } open[OPEN_MOST];
    int count, most;
    atomic_bool holds, over; /* holds: nothing is answered for now */
    atomic_int abandoned;
} job = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void on_request(void *context, struct wire_request *handle, const cJSON *request)
{
    (void)context;
    pthread_mutex_lock(&job.lock);
    assert_in_range(job.count, 0, OPEN_MOST - 1);
    job.open[job.count++] = (struct open){handle, json_int(request, "n", -1)};
    job.most = job.count > job.most ? job.count : job.most;
    pthread_cond_broadcast(&job.changed);
    pthread_mutex_unlock(&job.lock);
}

static void on_abandoned(void *context, struct wire_request *handle)
{
    (void)context, (void)handle;
    job.abandoned++;
}

/* Any of those that are open; false: it is over. */
static bool take_one(struct open *taken)
{
    static unsigned draw = 1;
    pthread_mutex_lock(&job.lock);
    while ((!job.count || job.holds) && !job.over)
        pthread_cond_wait(&job.changed, &job.lock);
    bool some = job.count;
    if (some) {
        struct open *one = &job.open[(draw = draw * 1664525 + 1013904223) % (unsigned)job.count];
        *taken = *one;
        *one = job.open[--job.count];
    }
    pthread_mutex_unlock(&job.lock);
    return some;
}

static void *answer_all(void *unused)
{
    struct open one;
    while (take_one(&one)) {
        cJSON *answer = cJSON_CreateObject();
        cJSON_AddTrueToObject(answer, "ok");
        cJSON_AddNumberToObject(answer, "n", one.n);
        wire_server_answer(job.server, one.handle, answer);
        cJSON_Delete(answer);
    }
    return unused;
}

static void *publish_all(void *unused)
{
    cJSON *event = cJSON_CreateObject();
    cJSON_AddStringToObject(event, "event", "tick");
    while (!job.over) {
        wire_server_publish(job.server, event);
        usleep(200);
    }
    cJSON_Delete(event);
    return unused;
}

static void set(atomic_bool *flag, bool value)
{
    pthread_mutex_lock(&job.lock);
    *flag = value;
    pthread_cond_broadcast(&job.changed);
    pthread_mutex_unlock(&job.lock);
}

static char path[64];
static pthread_t threads[ANSWERERS + 1];

static int set_up(void **state)
{
    static const struct wire_server_ops ops = {.request = on_request, .abandoned = on_abandoned};
    struct error error;
    (void)state;
    alarm(LIMIT_S);
    snprintf(path, sizeof path, "/tmp/epop-wire-answers-%ld", (long)getpid());
    job.server = wire_server_open(&(struct wire_place){path, NULL, TOKEN}, &ops, NULL, &error);
    for (int i = 0; job.server && i <= ANSWERERS; i++)
        pthread_create(&threads[i], NULL, i ? answer_all : publish_all, NULL);
    return job.server ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    set(&job.over, true);
    for (int i = 0; i <= ANSWERERS; i++)
        pthread_join(threads[i], NULL);
    wire_server_farewell(job.server, 1000);
    wire_server_close(job.server);
    return access(path, F_OK) ? 0 : -1;
}

/* ---- Clients ---------------------------------------------------------------------- */

struct client {
    struct event_base *base;
    struct wire_link *link;
    bool attached, done;
    int wanted, asked, answered, events, unanswered;
    const char *wrong;
};

struct question {
    struct client *client;
    int n;
};

static void ask_next(struct client *client);

static void on_answer(void *context, cJSON *answer, const struct error *why)
{
    struct question *question = context;
    struct client *client = question->client;
    if (why) {
        client->unanswered++;
        client->wrong = "no answer";
    } else if (json_int(answer, "n", -2) != question->n || cJSON_HasObjectItem(answer, "id")) {
        client->wrong = "an answer to another question";
    }
    client->answered++;
    cJSON_Delete(answer);
    free(question);
    if (why || client->answered == client->wanted) {
        client->done = true;
        wire_wake(client->base);
    } else {
        ask_next(client);
    }
}

static void ask_next(struct client *client)
{
    if (client->asked == client->wanted)
        return;
    struct question *question = malloc(sizeof *question);
    *question = (struct question){client, client->asked++};
    cJSON *request = json_message("question");
    cJSON_AddNumberToObject(request, "n", question->n);
    if (wire_link_ask(client->link, request, SECONDS, on_answer, question))
        client->wrong = "no memory";
    cJSON_Delete(request);
}

static void on_attached(void *context, const struct error *why_not)
{
    struct client *client = context;
    client->attached = !why_not;
    client->done = true;
    wire_wake(client->base);
}

static void on_event(void *context, const cJSON *event)
{
    struct client *client = context;
    const char *name = json_text(event, "event");
    client->events++;
    if (!name || strcmp(name, "tick"))
        client->wrong = "an event that is none";
}

static void on_watching(void *context, cJSON *answer, const struct error *why)
{
    struct client *client = context;
    if (why || !json_true(answer, "ok"))
        client->wrong = "it may not watch";
    cJSON_Delete(answer);
}

static bool attach(struct client *client)
{
    static const struct wire_link_ops ops = {on_attached, on_event, NULL};
    char host[256] = "localhost", uri[WIRE_URI_MAX];
    struct error error;
    gethostname(host, sizeof host - 1);
    snprintf(uri, sizeof uri, "unix:%.250s:%s", host, path);
    *client = (struct client){.base = wire_base_new()};
    client->link = wire_link_open(client->base, uri, TOKEN, WIRE_TOOL, 0, &ops, client, SECONDS, &error);
    return client->link && wire_wait(client->base, &client->done, SECONDS) && client->attached;
}

static void detach(struct client *client)
{
    wire_link_close(client->link);
    event_base_free(client->base);
}

static void ask(struct client *client, int wanted)
{
    client->done = false;
    client->wanted = wanted;
    for (int i = 0; i < AT_ONCE; i++)
        ask_next(client);
}

static void *be_client(void *context)
{
    struct client *client = context;
    cJSON *watch = json_message("watch");
    if (!attach(client) || wire_link_ask(client->link, watch, SECONDS, on_watching, client))
        client->wrong = "not attached";
    cJSON_Delete(watch);
    if (client->wrong)
        return NULL;
    ask(client, QUESTIONS);
    if (!wire_wait(client->base, &client->done, LIMIT_S))
        client->wrong = "not all was answered";
    detach(client);
    return NULL;
}

/* ---- The tests -------------------------------------------------------------------- */

static void test_every_request_gets_its_answer(void **state)
{
    struct client clients[CLIENTS];
    pthread_t asking[CLIENTS];
    (void)state;
    for (int i = 0; i < CLIENTS; i++)
        assert_int_equal(pthread_create(&asking[i], NULL, be_client, &clients[i]), 0);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(asking[i], NULL);
    for (int i = 0; i < CLIENTS; i++) {
        assert_string_equal(clients[i].wrong ? clients[i].wrong : "", "");
        assert_int_equal(clients[i].unanswered, 0);
        assert_int_equal(clients[i].answered, QUESTIONS);
        assert_true(clients[i].events > 0);
    }
    assert_int_equal(job.abandoned, 0);
}

static void await_open(int count)
{
    pthread_mutex_lock(&job.lock);
    while (job.count < count)
        pthread_cond_wait(&job.changed, &job.lock);
    pthread_mutex_unlock(&job.lock);
}

/* It is read no further at 32; the rest waits, and is not lost. */
static void test_one_that_asks_more_than_it_may_waits(void **state)
{
    struct client client;
    (void)state;
    set(&job.holds, true);
    job.most = 0;
    assert_true(attach(&client));
    ask(&client, AT_ONCE);
    await_open(32);
    assert_int_equal(client.answered, 0);
    set(&job.holds, false);
    assert_true(wire_wait(client.base, &client.done, SECONDS));
    assert_int_equal(client.answered, AT_ONCE);
    assert_int_equal(job.most, 32);
    detach(&client);
}

/* The answers come later, from threads that do not know yet. */
static void test_a_client_goes_with_requests_open(void **state)
{
    struct client client;
    (void)state;
    set(&job.holds, true);
    assert_true(attach(&client));
    ask(&client, 20);
    await_open(20);
    detach(&client);
    assert_int_equal(client.unanswered, 20);
    for (double end = monotonic_seconds() + SECONDS; job.abandoned < 20 && monotonic_seconds() < end;)
        usleep(1000);
    assert_int_equal(job.abandoned, 20);
    set(&job.holds, false);
    assert_true(attach(&client));
    ask(&client, 100);
    assert_true(wire_wait(client.base, &client.done, SECONDS));
    assert_int_equal(client.unanswered, 0);
    detach(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_request_gets_its_answer),
        cmocka_unit_test(test_one_that_asks_more_than_it_may_waits),
        cmocka_unit_test(test_a_client_goes_with_requests_open),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
