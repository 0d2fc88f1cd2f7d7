/* What arrives at the coordinator while there is no memory: it is not lost, or the job ends and says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/coordinator/coordinator.h"
#include "runtime/world/backend.h"
#include "tests/unit/one_phase.h"

/* ---- No memory, in this thread (the linker's --wrap) ------------------------------ */

static _Thread_local bool empty;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

void *__wrap_malloc(size_t size)
{
    return empty ? NULL : __real_malloc(size);
}

static void *cjson_malloc(size_t size)
{
    return empty ? NULL : __real_malloc(size);
}

/* ---- A coordinator ------------------------------------------------------------------ */

static sem_t ended, asked, go_on;
static char fatal[200];

static void on_send(void *context, int process, const cJSON *message)
{
    (void)context, (void)process, (void)message;
}

static void on_publish(void *context, const cJSON *event)
{
    (void)context, (void)event;
}

/* Holds the coordinator up. */
static void on_answer(void *context, void *handle, const cJSON *answer)
{
    (void)context, (void)handle, (void)answer;
    sem_post(&asked);
    sem_wait(&go_on);
}

/* The first one counts; in a job there is no second. */
static void on_fatal(void *context, const char *text)
{
    (void)context;
    if (fatal[0])
        return;
    snprintf(fatal, sizeof fatal, "%s", text);
    sem_post(&ended);
}

static const struct coordinator_ops ops = {
    .send = on_send, .publish = on_publish, .answer = on_answer, .fatal = on_fatal};

static struct coordinator *c;

static int start(void **state)
{
    struct coordinator_config config = {.job = "test",
                                        .path = "test",
                                        .program = *state,
                                        .backend = &backend_pool,
                                        .size = 2,
                                        .processes = 2,
                                        .maximum = 2,
                                        .finish_timeout = 5,
                                        .ops = &ops};
    sem_init(&ended, 0, 0);
    sem_init(&asked, 0, 0);
    sem_init(&go_on, 0, 0);
    memset(fatal, 0, sizeof fatal);
    c = coordinator_start(&config);
    return c ? 0 : -1;
}

static void send(int process, const char *text)
{
    cJSON *message = cJSON_Parse(text);
    coordinator_message(c, process, message);
    cJSON_Delete(message);
}

static int finish(void **state)
{
    char stuck[200];
    (void)state;
    for (int p = 0; p < 2; p++) {
        send(p, "{\"op\":\"hello\",\"host\":\"n1\",\"pid\":1}");
        send(p, "{\"op\":\"ended\"}");
        coordinator_closed(c, p);
    }
    coordinator_wait(c, stuck, sizeof stuck);
    coordinator_destroy(c);
    return 0;
}

static void await_the_end(void)
{
    struct timespec until = clock_in(CLOCK_MONOTONIC, 20);
    assert_int_equal(sem_clockwait(&ended, CLOCK_MONOTONIC, &until), 0);
}

/* Has it wait in an answer, until go_on. */
static void hold_up(void)
{
    cJSON *request = cJSON_Parse("{\"op\":\"resume\"}");
    coordinator_request(c, &asked, request);
    cJSON_Delete(request);
    sem_wait(&asked);
}

/* ---- Tests ----------------------------------------------------------------------------- */

static void a_loss_gets_through(void **state)
{
    (void)state;
    empty = true;
    coordinator_lost(c, 1);
    empty = false;
    await_the_end();
    assert_non_null(strstr(fatal, "process 1"));
    assert_non_null(strstr(fatal, "is gone"));
}

static void the_reserve_is_used_again(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        empty = true;
        coordinator_abandoned(c, &ended); /* of nobody's request: nothing happens */
        empty = false;
        hold_up();
        sem_post(&go_on);
    }
    assert_string_equal(fatal, "");
}

static void more_than_the_reserve_ends_the_job(void **state)
{
    (void)state;
    hold_up();
    empty = true;
    for (int i = 0; i < 1000; i++)
        coordinator_abandoned(c, &ended);
    empty = false;
    sem_post(&go_on);
    await_the_end();
    assert_non_null(strstr(fatal, "out of memory"));
}

static void a_message_that_cannot_be_kept_ends_the_job(void **state)
{
    (void)state;
    cJSON *message = cJSON_Parse("{\"op\":\"arrived\",\"count\":1}");
    empty = true;
    coordinator_message(c, 1, message);
    empty = false;
    cJSON_Delete(message);
    await_the_end();
    assert_non_null(strstr(fatal, "out of memory"));
}

static int set_up(void **state)
{
    cJSON_InitHooks(&(cJSON_Hooks){.malloc_fn = cjson_malloc, .free_fn = free});
    return one_phase_set_up(state);
}

int main(void)
{
    alarm(240);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_loss_gets_through, start, finish),
        cmocka_unit_test_setup_teardown(the_reserve_is_used_again, start, finish),
        cmocka_unit_test_setup_teardown(more_than_the_reserve_ends_the_job, start, finish),
        cmocka_unit_test_setup_teardown(a_message_that_cannot_be_kept_ends_the_job, start, finish),
    };
    return cmocka_run_group_tests(tests, set_up, one_phase_tear_down);
}
