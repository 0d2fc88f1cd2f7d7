/*
 * Roll calls of ranks that are threads here, each with a member of its own, and a coordinator: on one host they compare
 * their claims themselves, and tell those that differ, are late, or may have to be stopped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/json.h"
#include "runtime/coordinator/coordinator.h"
#include "runtime/member/member.h"
#include "runtime/wire/messages.h"
#include "runtime/world/backend.h"
#include "tests/unit/one_phase.h"

#define RANKS  3
#define CLAIMS 500
#define BEGUN  10 /* at the latest they compare themselves from this claim on */

static struct coordinator *coordinator;
static struct rollcall_options options;
static struct member members[RANKS];
static _Atomic int told[RANKS]; /* claims */
static int ranks;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    char fatal[400];
    int stops, answers; /* that were told of, and given */
} seen = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* ---- The ways of the messages --------------------------------------------------------------------- */

static int tell(void *context, const cJSON *message)
{
    int process = (int)((struct member *)context - members);
    told[process] += !strcmp(json_text(message, "op"), "claim");
    coordinator_message(coordinator, process, message);
    return 0;
}

/* Who waits looks at the clock between two of these. */
static void poke(void *context)
{
    (void)context;
}

static void on_send(void *context, int process, const cJSON *message)
{
    (void)context;
    member_receive(&members[process], message);
}

static void on_send_all(void *context, const int *processes, int count, const cJSON *message)
{
    for (int i = 0; i < count; i++)
        on_send(context, processes[i], message);
}

static void on_publish(void *context, const cJSON *event)
{
    (void)context;
    pthread_mutex_lock(&seen.lock);
    seen.stops += !strcmp(json_text(event, "event"), "stopped");
    pthread_cond_broadcast(&seen.changed);
    pthread_mutex_unlock(&seen.lock);
}

static void on_fatal(void *context, const char *text)
{
    (void)context;
    pthread_mutex_lock(&seen.lock);
    snprintf(seen.fatal, sizeof seen.fatal, "%s", text);
    pthread_cond_broadcast(&seen.changed);
    pthread_mutex_unlock(&seen.lock);
}

static void on_answer(void *context, void *handle, const cJSON *answer)
{
    (void)context, (void)handle, (void)answer;
    pthread_mutex_lock(&seen.lock);
    seen.answers++;
    pthread_cond_broadcast(&seen.changed);
    pthread_mutex_unlock(&seen.lock);
}

static void on_say(void *context, const char *text, bool failing)
{
    (void)context, (void)text, (void)failing;
}

static const struct coordinator_ops ops = {.send = on_send,
                                           .send_all = on_send_all,
                                           .publish = on_publish,
                                           .answer = on_answer,
                                           .fatal = on_fatal,
                                           .say = on_say};

static void send(int process, const char *text)
{
    cJSON *message = cJSON_Parse(text);
    assert_non_null(message);
    coordinator_message(coordinator, process, message);
    cJSON_Delete(message);
}

static void ask(const char *text)
{
    cJSON *request = cJSON_Parse(text);
    assert_non_null(request);
    coordinator_request(coordinator, &seen, request);
    cJSON_Delete(request);
}

/* ---- A job ----------------------------------------------------------------------------------------- */

static int number_of_process; /* that they say they have */

/* hosts: of each rank, by a digit. */
static void start(const epop_program_t *program, const char *hosts, const char *break_at)
{
    struct error why;
    char hello[100];
    ranks = (int)strlen(hosts);
    options = (struct rollcall_options){.count = break_at ? 1 : 0};
    if (break_at)
        assert_int_equal(epop__breakpoint_parse(program, break_at, &options.breaks[0], &why), 0);
    struct coordinator_config config = {.job = "test",
                                        .path = "test",
                                        .program = program,
                                        .backend = &backend_pool,
                                        .size = ranks,
                                        .processes = ranks,
                                        .maximum = ranks,
                                        .freeze_timeout = 10,
                                        .finish_timeout = 5,
                                        .rollcall = &options,
                                        .ops = &ops};
    seen.fatal[0] = '\0';
    seen.stops = seen.answers = 0;
    for (int p = 0; p < ranks; p++) {
        assert_int_equal(member_init(&members[p], p), 0);
        members[p].tell = tell;
        members[p].poke = poke;
        members[p].context = &members[p];
        told[p] = 0;
    }
    coordinator = coordinator_start(&config);
    assert_non_null(coordinator);
    for (int p = 0; p < ranks; p++) {
        snprintf(hello, sizeof hello, "{\"op\":\"hello\",\"host\":\"n%c\",\"pid\":%d}", hosts[p], number_of_process);
        send(p, hello);
    }
}

static void end(void)
{
    char stuck[200];
    for (int p = 0; p < ranks; p++) {
        send(p, "{\"op\":\"ended\"}");
        coordinator_closed(coordinator, p);
    }
    assert_true(coordinator_wait(coordinator, stuck, sizeof stuck));
    coordinator_destroy(coordinator);
    for (int p = 0; p < ranks; p++)
        member_destroy(&members[p]);
}

/* ---- Ranks ------------------------------------------------------------------------------------------- */

/* What this rank says otherwise in its claim of that number; -1: none. */
struct otherwise {
    int rank, claim;
};

struct rank {
    int number, claims;
    struct otherwise otherwise;
    pthread_t thread;
};

static void claim_one(const struct rank *rank, int number)
{
    bool other = rank->otherwise.rank == rank->number && rank->otherwise.claim == number;
    struct claim claim = {
        .at = {.pc = 1, .visit = 1, .iteration = number}, .begins = true, .words = other ? "it stops" : "it goes on"};
    member_rollcall(&members[rank->number], &claim);
}

static void *run(void *argument)
{
    const struct rank *rank = argument;
    for (int number = 0; number < rank->claims; number++)
        claim_one(rank, number);
    return NULL;
}

static void start_ranks(struct rank rank[RANKS], int claims, struct otherwise otherwise)
{
    for (int r = 0; r < ranks; r++) {
        rank[r] = (struct rank){.number = r, .claims = claims, .otherwise = otherwise};
        assert_int_equal(pthread_create(&rank[r].thread, NULL, run, &rank[r]), 0);
    }
}

static void wait_for_ranks(struct rank rank[RANKS])
{
    for (int r = 0; r < ranks; r++)
        assert_int_equal(pthread_join(rank[r].thread, NULL), 0);
}

static void all_tell_the_same_number(int least, int most)
{
    for (int r = 0; r < ranks; r++) {
        assert_in_range(told[r], least, most);
        assert_int_equal(told[r], told[0]);
    }
}

/* ---- Tests ------------------------------------------------------------------------------------------- */

static const struct otherwise nothing = {-1, -1};

static void on_one_host(void **state)
{
    static const char *const hosts[] = {"1", "11", "111"};
    struct rank rank[RANKS];
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        start(*state, hosts[i], NULL);
        start_ranks(rank, CLAIMS, nothing);
        wait_for_ranks(rank);
        all_tell_the_same_number(2, BEGUN);
        assert_string_equal(seen.fatal, "");
        end();
    }
}

static void wait_for_fatal(void)
{
    pthread_mutex_lock(&seen.lock);
    while (!seen.fatal[0])
        pthread_cond_wait(&seen.changed, &seen.lock);
    pthread_mutex_unlock(&seen.lock);
}

static void claims_that_differ(void **state)
{
    struct rank rank[RANKS];
    start(*state, "111", NULL);
    start_ranks(rank, 401, (struct otherwise){1, 400});
    wait_for_fatal();
    assert_string_equal(
        seen.fatal, "test: element 1 'phase' (EP), iteration 400, rank 1 of 3: it stops; but ranks 0 and 2: it goes "
                    "on; it must be the same on every rank");
    wait_for_ranks(rank);
    all_tell_the_same_number(3, BEGUN + 1);
    end();
}

/* It does not wait for the others any more than it would for the coordinator, and is compared all the same. */
static void a_rank_that_is_ahead(void **state)
{
    struct rank rank[RANKS];
    start(*state, "11", NULL);
    start_ranks(rank, 100, nothing);
    wait_for_ranks(rank);
    int before = told[0];
    struct rank ahead = {.number = 0, .otherwise = {0, 104}}, late = {.number = 1, .otherwise = nothing};
    for (int number = 100; number < 105; number++)
        claim_one(&ahead, number);
    assert_int_equal(told[0], before + 5);
    assert_string_equal(seen.fatal, "");
    for (int number = 100; number < 105; number++)
        claim_one(&late, number);
    wait_for_fatal();
    assert_non_null(strstr(seen.fatal, "iteration 104, rank 1 of 2: it goes on; but rank 0: it stops"));
    all_tell_the_same_number(before + 5, before + 5);
    end();
}

/* When the late one has come, they compare themselves again. */
static void a_rank_that_catches_up(void **state)
{
    struct rank rank[RANKS];
    start(*state, "11", NULL);
    start_ranks(rank, 100, nothing);
    wait_for_ranks(rank);
    struct rank one = {.number = 0, .otherwise = nothing}, other = {.number = 1, .otherwise = nothing};
    claim_one(&one, 100);
    claim_one(&other, 100);
    int before = told[0];
    start_ranks(rank, CLAIMS, nothing);
    wait_for_ranks(rank);
    all_tell_the_same_number(before, before + BEGUN);
    assert_string_equal(seen.fatal, "");
    end();
}

static void wait_for_stops(int stops)
{
    pthread_mutex_lock(&seen.lock);
    while (seen.stops < stops)
        pthread_cond_wait(&seen.changed, &seen.lock);
    pthread_mutex_unlock(&seen.lock);
}

/* Only the claim at which ranks may be stopped is told before the step, and behind the break all are compared by the
 * ranks again. */
static void a_break(void **state)
{
    struct rank rank[RANKS];
    start(*state, "111", "phase:300");
    start_ranks(rank, CLAIMS, nothing);
    wait_for_stops(1);
    all_tell_the_same_number(3, BEGUN + 1);
    ask("{\"op\":\"step\"}");
    wait_for_stops(2);
    all_tell_the_same_number(4, BEGUN + 2);
    ask("{\"op\":\"continue\"}");
    wait_for_ranks(rank);
    all_tell_the_same_number(4, BEGUN + 3);
    assert_string_equal(seen.fatal, "");
    end();
}

static void wait_for_answers(int answers)
{
    pthread_mutex_lock(&seen.lock);
    while (seen.answers < answers)
        pthread_cond_wait(&seen.changed, &seen.lock);
    pthread_mutex_unlock(&seen.lock);
}

/* One waits for the other already, where they are to be stopped. */
static void a_break_that_is_set_while_one_waits(void **state)
{
    struct rank rank[RANKS];
    start(*state, "11", NULL);
    start_ranks(rank, 100, nothing);
    wait_for_ranks(rank);
    struct rank other = {.number = 1, .claims = 1, .otherwise = nothing};
    rank[0] = (struct rank){.number = 0, .claims = 1, .otherwise = nothing};
    assert_int_equal(pthread_create(&rank[0].thread, NULL, run, &rank[0]), 0);
    ask("{\"op\":\"break\",\"at\":\"phase:0\"}");
    wait_for_answers(1);
    assert_int_equal(pthread_create(&other.thread, NULL, run, &other), 0);
    wait_for_stops(1);
    ask("{\"op\":\"continue\"}");
    pthread_join(other.thread, NULL);
    pthread_join(rank[0].thread, NULL);
    assert_int_equal(seen.stops, 1);
    assert_string_equal(seen.fatal, "");
    end();
}

/* As in a container that has its own numbers of processes. */
static void memory_that_is_not_found(void **state)
{
    struct rank rank[RANKS];
    number_of_process = 1;
    start(*state, "111", NULL);
    number_of_process = getpid();
    start_ranks(rank, 100, nothing);
    wait_for_ranks(rank);
    all_tell_the_same_number(100, 100);
    assert_string_equal(seen.fatal, "");
    end();
}

/* One rank of each tells for all, unless they are to stop, or differ. */
static void on_two_hosts(void **state)
{
    struct rank rank[RANKS];
    start(*state, "121", NULL);
    start_ranks(rank, CLAIMS, nothing);
    wait_for_ranks(rank);
    assert_int_equal(told[0], CLAIMS);
    assert_int_equal(told[1], CLAIMS);
    assert_in_range(told[2], 3, BEGUN);
    assert_string_equal(seen.fatal, "");
    end();
}

static void claims_that_differ_between_hosts(void **state)
{
    struct rank rank[RANKS];
    start(*state, "112", NULL);
    start_ranks(rank, 101, (struct otherwise){2, 100});
    wait_for_fatal();
    assert_non_null(strstr(seen.fatal, "iteration 100, rank 2 of 3: it stops; but ranks 0 and 1: it goes on"));
    wait_for_ranks(rank);
    end();
}

static void claims_that_differ_on_one_of_them(void **state)
{
    struct rank rank[RANKS];
    start(*state, "211", NULL);
    start_ranks(rank, 101, (struct otherwise){2, 100});
    wait_for_fatal();
    assert_non_null(strstr(seen.fatal, "iteration 100, rank 2 of 3: it stops; but ranks 0 and 1: it goes on"));
    wait_for_ranks(rank);
    end();
}

static void a_break_on_two_hosts(void **state)
{
    struct rank rank[RANKS];
    start(*state, "121", "phase:300@2");
    start_ranks(rank, CLAIMS, nothing);
    wait_for_stops(1);
    ask("{\"op\":\"step\"}");
    wait_for_stops(2);
    ask("{\"op\":\"continue\"}");
    wait_for_ranks(rank);
    assert_in_range(told[2], 5, BEGUN + 3);
    assert_string_equal(seen.fatal, "");
    end();
}

/* The other host's rank is missing for longer than the ranks of this one have patience: each tells what one told for
 * both.
 */
static void a_host_that_is_late(void **state)
{
    struct rank rank[RANKS];
    start(*state, "112", NULL);
    start_ranks(rank, 100, nothing);
    wait_for_ranks(rank);
    int before = told[0];
    for (int r = 0; r < 2; r++) {
        rank[r] = (struct rank){.number = r, .claims = 3, .otherwise = {1, 2}};
        assert_int_equal(pthread_create(&rank[r].thread, NULL, run, &rank[r]), 0);
    }
    for (int r = 0; r < 2; r++)
        pthread_join(rank[r].thread, NULL);
    assert_in_range(told[0], before + 3, before + 4);
    assert_string_equal(seen.fatal, "");
    struct rank late = {.number = 2, .claims = 3, .otherwise = nothing};
    run(&late);
    wait_for_fatal();
    assert_non_null(strstr(seen.fatal, "iteration 2, rank 1 of 3: it stops; but ranks 0 and 2: it goes on"));
    end();
}

int main(void)
{
    alarm(60);
    number_of_process = getpid();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_one_host),
        cmocka_unit_test(claims_that_differ),
        cmocka_unit_test(a_rank_that_is_ahead),
        cmocka_unit_test(a_rank_that_catches_up),
        cmocka_unit_test(a_break),
        cmocka_unit_test(a_break_that_is_set_while_one_waits),
        cmocka_unit_test(memory_that_is_not_found),
        cmocka_unit_test(on_two_hosts),
        cmocka_unit_test(claims_that_differ_between_hosts),
        cmocka_unit_test(claims_that_differ_on_one_of_them),
        cmocka_unit_test(a_break_on_two_hosts),
        cmocka_unit_test(a_host_that_is_late),
    };
    return cmocka_run_group_tests(tests, one_phase_set_up, one_phase_tear_down);
}
