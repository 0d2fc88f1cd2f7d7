/*
 * Answers that another thread gives, to a client that hears events at the same time: each request must get its own.
 * The client is a process of its own with real PMIx.
 */
#include <pmix_tool.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/control/codec.h"
#include "runtime/control/control.h"
#include "runtime/control/token.h"
#include "runtime/control/tool.h"
#include "runtime/control/waiter.h"
#include "tests/unit/own_directory.h"

#define LIMIT_S       120
#define QUESTIONS     40000
#define ASKING_S      20 /* at most: a slow machine asks fewer */
#define PATIENCE_MS   20000
#define ANSWERERS     2
#define OPEN_REQUESTS 64

/* ---- The client's process --------------------------------------------------------- */

static int ask(const char *op)
{
    pmix_status_t status;
    pmix_info_t info;
    cJSON *request = json_message(op);
    struct control_waiter *waiter = control_waiter_new();
    char *text = NULL;
    control_info_load(&info, CONTROL_KEY_REQUEST, request);
    status = PMIx_Job_control_nb(NULL, 0, &info, 1, control_waiter_answered, waiter);
    int late = status == PMIX_SUCCESS ? control_waiter_wait(waiter, PATIENCE_MS, &status, &text) : -1;
    bool answered = !late && text;
    control_waiter_drop(waiter);
    PMIX_INFO_DESTRUCT(&info);
    cJSON_Delete(request);
    free(text);
    return answered ? 0 : -1;
}

static void be_client(int in)
{
    static const struct control_tool_ops ops;
    char address[CONTROL_URI_MAX + CONTROL_TOKEN_MAX], nspace[CONTROL_NSPACE_MAX];
    struct error error;
    alarm(LIMIT_S);
    if (read(in, address, sizeof address) != sizeof address)
        _exit(2);
    control_nspace_client(nspace, address + CONTROL_URI_MAX);
    if (control_tool_attach(address, nspace, &ops, NULL, PATIENCE_MS, &error) || ask("watch"))
        _exit(3);
    double end = monotonic_seconds() + ASKING_S;
    for (int i = 0; i < QUESTIONS && monotonic_seconds() < end; i++)
        if (ask("question")) {
            fprintf(stderr, "question %d has got no answer\n", i);
            _exit(4);
        }
    control_tool_detach();
    _exit(0);
}

/* ---- The server's process ---------------------------------------------------------- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct control_request *open[OPEN_REQUESTS];
    int count;
    atomic_bool over;
} job = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void on_request(void *context, struct control_request *handle, const cJSON *request)
{
    (void)context, (void)request;
    pthread_mutex_lock(&job.lock);
    job.open[job.count++] = handle;
    pthread_cond_signal(&job.changed);
    pthread_mutex_unlock(&job.lock);
}

static struct control_request *next_request(void)
{
    pthread_mutex_lock(&job.lock);
    while (!job.count && !job.over)
        pthread_cond_wait(&job.changed, &job.lock);
    struct control_request *handle = job.count ? job.open[--job.count] : NULL;
    pthread_mutex_unlock(&job.lock);
    return handle;
}

static void *answer_all(void *unused)
{
    cJSON *answer = cJSON_CreateObject();
    cJSON_AddTrueToObject(answer, "ok");
    for (struct control_request *handle; (handle = next_request());)
        control_answer(handle, answer);
    cJSON_Delete(answer);
    return unused;
}

static void *publish_all(void *unused)
{
    cJSON *event = cJSON_CreateObject();
    cJSON_AddStringToObject(event, "event", "tick");
    while (!job.over) {
        control_publish(event);
        usleep(50);
    }
    cJSON_Delete(event);
    return unused;
}

static int serve(void)
{
    static const struct control_server_ops ops = {.request = on_request};
    char address[CONTROL_URI_MAX + CONTROL_TOKEN_MAX] = "";
    struct error error;
    pthread_t thread[ANSWERERS + 1];
    int ends[2], status;
    if (pipe(ends))
        return 10;
    pid_t client = fork(); /* before there are threads */
    if (client == 0)
        be_client(ends[0]);
    if (control_serve(&ops, NULL, address, address + CONTROL_URI_MAX, &error))
        return 11;
    for (int i = 0; i <= ANSWERERS; i++)
        pthread_create(&thread[i], NULL, i ? answer_all : publish_all, NULL);
    if (write(ends[1], address, sizeof address) != sizeof address || waitpid(client, &status, 0) != client)
        return 12;
    pthread_mutex_lock(&job.lock);
    job.over = true;
    pthread_cond_broadcast(&job.changed);
    pthread_mutex_unlock(&job.lock);
    for (int i = 0; i <= ANSWERERS; i++)
        pthread_join(thread[i], NULL);
    control_unserve(1000);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 13;
}

static void test_every_request_gets_its_answer(void **state)
{
    int status;
    (void)state;
    fflush(NULL);
    pid_t server = fork();
    if (server == 0) {
        setpgid(0, 0);
        alarm(LIMIT_S);
        _exit(serve());
    }
    assert_int_equal(waitpid(server, &status, 0), server);
    kill(-server, SIGKILL);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_request_gets_its_answer)};
    return cmocka_run_group_tests(tests, own_directory_set_up, own_directory_tear_down);
}
