/*
 * The agreement without MPI and without connections: ranks are threads, messages go through queues with random delays.
 * Every rank must adapt at the same probe, in the same iteration of the same visit of the same phase.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/coordinator/coordinator.h"
#include "runtime/member/member.h"
#include "runtime/wire/messages.h"
#include "runtime/world/backend.h"

#define MOST 8

/* ---- A network of queues ------------------------------------------------------------ */

struct letter {
    cJSON *message;
    struct letter *next;
};

struct rank {
    struct member member;
    struct network *network;
    pthread_t program, control;
    pthread_mutex_t lock;
    pthread_cond_t arrived;
    struct letter *first, *last;
    bool closed;
    unsigned seed;

    /* what it lived through */
    bool starts;
    int adaptations, breaches;
    int64_t iterations;
    double longest_hold;   /* of a probe, seconds */
    double longest_freeze; /* between freeze and target: all that a probe may cost a rank that goes on */
    double frozen;
    int let_on; /* freezes that let it go on up to a probe */
    bool stopped;

    /* constant data */
    struct position listed;
    _Atomic int lists, aheads, offs, joined_ahead, wrong_ahead; /* wrong: it counts in a window of another visit */
};

struct network {
    struct coordinator *coordinator;
    const struct backend *backend; /* NULL: the pool */
    struct rank ranks[MOST];
    int count, delay_us, sleeper, visits;
    int64_t length; /* iterations of each visit; 0: different ones */
    double pace;    /* seconds of an iteration, as rank 0's process says; 0: it does not know */
    enum {
        NOTHING_AHEAD,
        AHEAD_COMES,
        AHEAD_FAILS,
        AHEAD_IS_NOTHING,
        AHEAD_DIFFERS,
        AHEAD_TAKES_LONG,
        AHEAD_IS_LATE,
        AHEAD_IS_CUT_OFF
    } ahead;
    _Atomic bool asleep, failed;
    _Atomic int warned, warned_before; /* ranks that have heard that the job ends; when rank 0's process was let go */
    _Atomic bool dumps;
    _Atomic int deaf; /* process that gives no sign of life; 0: none */
    double connect_timeout;
    _Atomic bool stuck; /* no rank comes out of a window */
    _Atomic int inside;
    bool joined;       /* the programs' threads have been waited for */
    _Atomic int ended; /* of them */
    char fatal[512], said[64];
    pthread_mutex_t lock;
    pthread_cond_t answered;
    cJSON *answer; /* the last one */
    int committed, refused, notes;
    struct position agreed[1000]; /* by adaptation */
};

static void nap(unsigned *seed, int most_us)
{
    struct timespec time = {0, most_us > 0 ? (long)(rand_r(seed) % (unsigned)most_us) * 1000 : 0};
    if (time.tv_nsec)
        nanosleep(&time, NULL);
}

static void deliver(void *context, int process, const cJSON *message)
{
    struct network *n = context;
    struct rank *rank = &n->ranks[process];
    if (!strcmp(json_text(message, "op"), "dump")) {
        n->warned_before = n->warned;
        n->dumps = true;
    }
    pthread_mutex_lock(&rank->lock);
    if (rank->closed) { /* what a coordinator says that is taken down nobody reads */
        pthread_mutex_unlock(&rank->lock);
        return;
    }
    struct letter *letter = malloc(sizeof *letter);
    *letter = (struct letter){.message = cJSON_Duplicate(message, 1)};
    if (rank->last)
        rank->last->next = letter;
    else
        rank->first = letter;
    rank->last = letter;
    pthread_cond_signal(&rank->arrived);
    pthread_mutex_unlock(&rank->lock);
}

static void time_freeze(struct rank *rank, const cJSON *message)
{
    const char *op = json_text(message, "op");
    rank->let_on += cJSON_HasObjectItem(message, "up_to");
    if (!strcmp(op, "freeze"))
        rank->frozen = monotonic_seconds();
    else if (!strcmp(op, "target") && monotonic_seconds() - rank->frozen > rank->longest_freeze)
        rank->longest_freeze = monotonic_seconds() - rank->frozen;
}

static void *control_thread(void *argument)
{
    struct rank *rank = argument;
    unsigned seed = rank->seed + 1000;
    pthread_mutex_lock(&rank->lock);
    while (!rank->closed || rank->first) {
        struct letter *letter = rank->first;
        if (!letter) {
            pthread_cond_wait(&rank->arrived, &rank->lock);
            continue;
        }
        rank->first = letter->next;
        if (!rank->first)
            rank->last = NULL;
        pthread_mutex_unlock(&rank->lock);
        nap(&seed, rank->network->delay_us);
        time_freeze(rank, letter->message);
        rank->network->warned += !strcmp(json_text(letter->message, "op"), "abort");
        bool deaf = rank->member.process && rank->member.process == rank->network->deaf;
        if (!deaf || strcmp(json_text(letter->message, "op"), "alive"))
            member_receive(&rank->member, letter->message);
        cJSON_Delete(letter->message);
        free(letter);
        pthread_mutex_lock(&rank->lock);
    }
    pthread_mutex_unlock(&rank->lock);
    return NULL;
}

static int tell(void *context, const cJSON *message)
{
    struct rank *rank = context;
    coordinator_message(rank->network->coordinator, rank->member.process, message);
    return 0;
}

/* As its row says. */
static void assert_fits(const cJSON *event)
{
    struct message message;
    struct error why;
    if (!message_decode(&message, KIND_EVENT, event, &why))
        fail_msg("%s", why.text);
    message_free(&message);
}

static void on_publish(void *context, const cJSON *event)
{
    assert_fits(event);
    struct network *n = context;
    const char *name = json_text(event, "event");
    n->committed += !strcmp(name, "committed");
    n->refused += !strcmp(name, "refused");
}

static void on_answer(void *context, void *handle, const cJSON *answer)
{
    struct network *n = context;
    assert_ptr_equal(handle, n);
    pthread_mutex_lock(&n->lock);
    cJSON_Delete(n->answer);
    n->answer = cJSON_Duplicate(answer, 1);
    pthread_cond_broadcast(&n->answered);
    pthread_mutex_unlock(&n->lock);
}

/* In a job this ends all processes; here the ranks look at the text after every probe. */
static void on_fatal(void *context, const char *text)
{
    struct network *n = context;
    if (n->failed)
        return;
    snprintf(n->fatal, sizeof n->fatal, "%s", text ? text : "");
    n->failed = true;
    cJSON *finish = json_message("finish");
    for (int r = 0; r < n->count; r++)
        deliver(n, r, finish);
    cJSON_Delete(finish);
}

static void on_say(void *context, const char *text, bool failing)
{
    struct network *n = context;
    snprintf(n->said, sizeof n->said, "%s", failing ? text : "");
    n->notes += !failing;
}

static double on_pace(void *context, uint64_t *count)
{
    struct network *n = context;
    *count = ceiling_count(&n->ranks[0].member.ceiling);
    return n->pace;
}

static const struct coordinator_ops ops = {
    .send = deliver, .publish = on_publish, .answer = on_answer, .fatal = on_fatal, .say = on_say, .pace = on_pace};

/* ---- The program: visits of phases of different lengths -------------------------------- */

static int64_t length_of(const struct network *n, int64_t visit)
{
    return n->length ? n->length : 1 + visit % 3;
}

static int pc_of(int64_t visit)
{
    return 1 + (int)(visit % 2);
}

static bool is_here(struct rank *rank, const struct position *at)
{
    const struct position *plan = &rank->member.plan->at;
    return plan->pc == at->pc && plan->visit == at->visit && plan->iteration == at->iteration;
}

/* True if the rank stays in the program. */
static bool adapt(struct rank *rank, const struct position *at)
{
    struct plan *plan = rank->member.plan;
    int index = plan_index(plan, rank->member.process);
    rank->adaptations++;
    rank->breaches += !is_here(rank, at);
    rank->joined_ahead += plan->ahead;
    rank->wrong_ahead += plan->ahead && index < plan->old_size && rank->listed.visit != at->visit;
    pthread_mutex_lock(&rank->network->lock);
    rank->network->agreed[plan->adaptation % 1000] = plan->at;
    pthread_mutex_unlock(&rank->network->lock);
    rank->network->inside++;
    while (rank->network->stuck && !rank->network->failed)
        nap(&rank->seed, 1000);
    if (plan->new_ranks[index] < 0) {
        member_parked(&rank->member, true);
        return false;
    }
    member_committed(&rank->member, plan->adaptation, 0, 0);
    return true;
}

enum way { GO_ON, LEFT, STOPPED };

static enum way probe(struct rank *rank, const struct position *at)
{
    if (!ceiling_probe(&rank->member.ceiling))
        return rank->network->failed ? STOPPED : GO_ON;
    double begin = monotonic_seconds();
    enum action action;
    while ((action = member_hold(&rank->member, at, 0)) == ACTION_PROGRESS)
        member_report_progress(&rank->member, &(epop_progress_t){.iteration = at->iteration}, -1);
    double held = monotonic_seconds() - begin;
    if (held > rank->longest_hold)
        rank->longest_hold = held;
    if (action == ACTION_STOP)
        return STOPPED;
    return action == ACTION_ADAPT && !adapt(rank, at) ? LEFT : GO_ON;
}

static void iterate(struct rank *rank, const struct position *at)
{
    struct network *n = rank->network;
    rank->iterations++;
    nap(&rank->seed, 200);
    if (rank->member.process == n->sleeper && at->visit == 20 && at->iteration == 0) {
        n->asleep = true;
        sleep(2);
    }
}

/* joined: the rank has come in at this position, and runs its exec block next. */
static enum way walk(struct rank *rank, struct position at, bool joined)
{
    for (; at.visit <= rank->network->visits; at.visit++, at.iteration = 0) {
        at.pc = pc_of(at.visit);
        for (; at.iteration < length_of(rank->network, at.visit); at.iteration++) {
            enum way way = joined ? GO_ON : probe(rank, &at);
            joined = false;
            if (way != GO_ON)
                return way;
            iterate(rank, &at);
        }
    }
    return GO_ON;
}

static void *program_thread(void *argument)
{
    struct rank *rank = argument;
    struct position at = {.visit = 1};
    cJSON *hello = json_message("hello");
    tell(rank, hello);
    cJSON_Delete(hello);
    bool inside = rank->starts;
    enum way way = inside ? walk(rank, at, false) : LEFT;
    while (way == LEFT && member_standby(&rank->member) == TASK_JOIN) {
        nap(&rank->seed, 2000); /* INIT */
        member_ready(&rank->member, ((const struct order_wake *)rank->member.wake.is)->adaptation, NULL, NULL);
        if (!member_await_window(&rank->member)) {
            member_parked(&rank->member, true);
            continue;
        }
        at = rank->member.plan->at;
        if (adapt(rank, &at))
            way = walk(rank, at, true);
    }
    rank->stopped = way == STOPPED;
    if (way != LEFT)
        member_end(&rank->member);
    coordinator_closed(rank->network->coordinator, rank->member.process);
    rank->network->ended++;
    return NULL;
}

/* ---- Set-up ------------------------------------------------------------------------------ */

static void run_errand(void *context, const struct errand_order *order, const struct position *at)
{
    struct rank *rank = context;
    static const char place[] =
        "{\"address\":\"127.0.0.1\",\"port\":1,\"secret\":\"0123456789abcdef0123456789abcdef\"}";
    assert_int_equal(order->errand, ERRAND_LIST);
    assert_true(order->size > 0);
    rank->lists++;
    if (at)
        rank->listed = *at;
    struct constants constants = {.bytes = rank->network->ahead == AHEAD_IS_NOTHING ? 0 : 100};
    if (rank->network->ahead == AHEAD_DIFFERS && rank->member.process == 1)
        constants.hash++;
    member_listed(&rank->member, order->adaptation, at, &constants, cJSON_Parse(place));
}

/* Each process says how its part went at once, or never. */
static void on_ahead(void *context, const struct order_ahead *order)
{
    struct rank *rank = context;
    bool cut_off = rank->network->ahead == AHEAD_IS_CUT_OFF;
    bool fails = (cut_off || rank->network->ahead == AHEAD_FAILS) && rank->member.process == 1;
    struct error failure;
    error_set(&failure, cut_off ? ERROR_TIMEOUT : ERROR_FAILED, "it cannot come");
    rank->aheads++;
    if (rank->network->ahead != AHEAD_TAKES_LONG && rank->network->ahead != AHEAD_IS_LATE)
        member_ahead(&rank->member, order->adaptation, fails ? &failure : NULL, 100);
}

static void on_ahead_off(void *context, const struct order_ahead_off *order)
{
    struct rank *rank = context;
    (void)order;
    rank->offs++;
}

TAKES(order, ahead, on_ahead)
TAKES(order, ahead_off, on_ahead_off)

static const struct message_row ahead_rows[] = {
    {order_ahead_id, order_ahead_taken},
    {order_ahead_off_id, order_ahead_off_taken},
};

static epop_program_t *program;
static cJSON *last_answer; /* of the last network, for its test to look at */

static void start(struct network *n, int count, int size)
{
    pthread_mutex_init(&n->lock, NULL);
    pthread_cond_init(&n->answered, NULL);
    n->count = count;
    for (int r = 0; r < count; r++) {
        struct rank *rank = &n->ranks[r];
        member_init(&rank->member, r);
        rank->member.tell = tell;
        atomic_store(&rank->member.live.pc, 1);
        rank->member.context = rank;
        rank->member.run_errand = run_errand;
        member_understand(&rank->member, ahead_rows, sizeof ahead_rows / sizeof *ahead_rows, rank);
        rank->network = n;
        rank->seed = (unsigned)r + 1;
        rank->starts = r < size;
        pthread_mutex_init(&rank->lock, NULL);
        pthread_cond_init(&rank->arrived, NULL);
    }
    struct coordinator_config config = {.job = "test",
                                        .path = "test",
                                        .program = program,
                                        .backend = n->backend ? n->backend : &backend_pool,
                                        .size = size,
                                        .processes = count,
                                        .maximum = count,
                                        .prepare_timeout = 10,
                                        .freeze_timeout = 10,
                                        .connect_timeout = n->connect_timeout,
                                        .finish_timeout = 5,
                                        .ahead = n->ahead != NOTHING_AHEAD,
                                        .ahead_limit = n->ahead == AHEAD_IS_LATE ? 0.05 : 1000,
                                        .ops = &ops,
                                        .context = n};
    n->coordinator = coordinator_start(&config);
    assert_non_null(n->coordinator);
    for (int r = 0; r < count; r++) {
        pthread_create(&n->ranks[r].control, NULL, control_thread, &n->ranks[r]);
        pthread_create(&n->ranks[r].program, NULL, program_thread, &n->ranks[r]);
    }
}

static void finish(struct network *n)
{
    for (int r = 0; r < n->count && !n->joined; r++)
        pthread_join(n->ranks[r].program, NULL);
    char stuck[200];
    assert_true(coordinator_wait(n->coordinator, stuck, sizeof stuck));
    for (int r = 0; r < n->count; r++) {
        struct rank *rank = &n->ranks[r];
        pthread_mutex_lock(&rank->lock);
        rank->closed = true;
        pthread_cond_signal(&rank->arrived);
        pthread_mutex_unlock(&rank->lock);
        pthread_join(rank->control, NULL);
        member_destroy(&rank->member);
    }
    coordinator_destroy(n->coordinator);
    cJSON_Delete(last_answer);
    last_answer = n->answer;
}

/* With the lock held. False: none has come within a second. */
static bool wait_for_answer(struct network *n)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    while (!n->answer && pthread_cond_timedwait(&n->answered, &n->lock, &until) == 0)
        continue;
    return n->answer;
}

/* Sends a request and waits for its answer; the network owns it. A job that is over answers no more. */
static const cJSON *ask(struct network *n, const char *text)
{
    cJSON *request = cJSON_Parse(text);
    assert_non_null(request);
    pthread_mutex_lock(&n->lock);
    cJSON_Delete(n->answer);
    n->answer = NULL;
    coordinator_request(n->coordinator, n, request);
    for (int seconds = 0; !n->answer; seconds++) {
        bool over = n->ended == n->count;
        assert_true(seconds < 20);
        if (!wait_for_answer(n) && over)
            n->answer = cJSON_Parse("{\"ok\":false}");
    }
    pthread_mutex_unlock(&n->lock);
    cJSON_Delete(request);
    return n->answer;
}

static const cJSON *resize(struct network *n, int size)
{
    char text[80];
    snprintf(text, sizeof text, "{\"op\":\"resize\",\"size\":%d,\"wait\":true}", size);
    return ask(n, text);
}

/* The coordinator answers hello before it can resize; a request that comes too early is refused, not lost. */
static void wait_until_running(struct network *n)
{
    const char *state;
    bool all;
    do {
        const cJSON *job = cJSON_GetObjectItem(ask(n, "{\"op\":\"status\"}"), "job"), *process;
        state = json_text(job, "state");
        all = true;
        cJSON_ArrayForEach(process, cJSON_GetObjectItem(job, "processes")) all &= json_text(process, "host")[0] != 0;
    } while (!strcmp(state, "starting") || !all);
}

static int total_breaches(const struct network *n)
{
    int breaches = 0;
    for (int r = 0; r < n->count; r++)
        breaches += n->ranks[r].breaches;
    return breaches;
}

/* Its process's number. */
static int rank_0(struct network *n)
{
    const cJSON *job = cJSON_GetObjectItem(ask(n, "{\"op\":\"status\"}"), "job"), *process;
    cJSON_ArrayForEach(process, cJSON_GetObjectItem(job, "processes"))
    {
        if (json_int(process, "rank", -1) == 0)
            return json_int(process, "process", -1);
    }
    return -1;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void resize_often(struct network *n)
{
    unsigned seed = 42;
    start(n, MOST, 3);
    wait_until_running(n);
    int done = 0;
    for (int i = 0; i < 200; i++) {
        const cJSON *answer = resize(n, 1 + (int)(rand_r(&seed) % MOST));
        if (!json_true(answer, "ok"))
            break;
        done++;
    }
    finish(n);
    assert_string_equal(n->fatal, "");
    assert_true(n->committed >= 50);
    assert_true(done >= n->committed);
    assert_int_equal(total_breaches(n), 0);
}

static void all_ranks_adapt_at_the_same_place(void **state)
{
    (void)state;
    struct network n = {.delay_us = 500, .sleeper = -1, .visits = 8000};
    resize_often(&n);
    assert_int_equal(n.ranks[0].let_on, 0);
}

/* Also where rank 0's process takes iterations for shorter, or longer, than they are. */
static void ranks_that_are_not_stopped_adapt_at_the_same_place(void **state)
{
    (void)state;
    static const double paces[] = {20e-6, 1e-3};
    for (size_t i = 0; i < sizeof paces / sizeof *paces; i++) {
        struct network n = {.delay_us = 500, .sleeper = -1, .visits = 8000, .pace = paces[i]};
        resize_often(&n);
        assert_true(n.ranks[0].let_on > 0);
    }
}

static void sizes_out_of_reach_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "{\"op\":\"resize\",\"size\":0}",
        "{\"op\":\"resize\",\"size\":-3}",
        "{\"op\":\"resize\",\"size\":99}",
        "{\"op\":\"resize\",\"delta\":-2}",
        "{\"op\":\"resize\",\"size\":2,\"release_ranks\":[0]}",
        "{\"op\":\"resize\",\"size\":2,\"release_ranks\":[7]}",
        "{\"op\":\"resize\",\"release_hosts\":\"nowhere\"}",
        "{\"op\":\"resize\",\"keep_hosts\":\"nowhere:1\"}",
        "{\"op\":\"resize\",\"size\":4,\"add_hosts\":\"nowhere\"}",
        "{\"op\":\"resume\"}",
        "{\"op\":\"cancel\"}",
        "{\"op\":\"dance\"}",
    };
    struct network n = {.sleeper = -1, .visits = 1000000};
    start(&n, 4, 2);
    wait_until_running(&n);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const cJSON *answer = ask(&n, bad[i]);
        assert_false(json_true(answer, "ok"));
        assert_non_null(json_text(answer, "reason"));
    }
    assert_true(json_true(resize(&n, 2), "ok")); /* the present size: nothing to do */
    assert_int_equal(n.committed, 0);
    assert_true(json_true(resize(&n, 4), "ok"));
    assert_int_equal(n.committed, 1);
    assert_true(json_true(ask(&n, "{\"op\":\"stop\"}"), "ok"));
    finish(&n);
    for (int r = 0; r < 4; r++)
        assert_true(n.ranks[r].stopped);
    assert_int_equal(total_breaches(&n), 0);
}

/* Rank 1 sleeps for two seconds in one iteration. Others may wait for it where all have to meet, but not before
 * that, between freeze and target: its control thread answers for it. */
static void a_sleeping_rank_holds_up_nobody(void **state)
{
    (void)state;
    struct network n = {.sleeper = 1, .visits = 1000000};
    start(&n, 4, 4);
    wait_until_running(&n);
    while (!n.asleep)
        assert_true(json_true(ask(&n, "{\"op\":\"status\"}"), "ok"));
    /* It sleeps now. A request that is agreed and then withdrawn, again and again: all others go on between. */
    for (int i = 0; i < 3; i++) {
        assert_true(json_true(ask(&n, "{\"op\":\"pause\"}"), "ok"));
        assert_true(json_true(ask(&n, "{\"op\":\"resume\"}"), "ok"));
    }
    ask(&n, "{\"op\":\"stop\"}");
    finish(&n);
    for (int r = 0; r < 4; r++)
        assert_true(n.ranks[r].longest_freeze < 1);
    /* The control: at the target they did wait. */
    assert_true(n.ranks[0].longest_hold > 1 || n.ranks[2].longest_hold > 1);
}

static void assert_ranks(struct network *n, const int *expected, int count)
{
    const cJSON *job = cJSON_GetObjectItem(ask(n, "{\"op\":\"status\"}"), "job");
    for (int p = 0; p < count; p++)
        assert_int_equal(json_int(cJSON_GetArrayItem(cJSON_GetObjectItem(job, "processes"), p), "rank", -2),
                         expected[p]);
}

static void named_ranks_leave_and_others_take_their_place(void **state)
{
    (void)state;
    struct network n = {.delay_us = 200, .sleeper = -1, .visits = 1000000};
    start(&n, 6, 4);
    wait_until_running(&n);
    const cJSON *answer = ask(&n, "{\"op\":\"resize\",\"size\":4,\"release_ranks\":[1,2],\"wait\":true}");
    assert_true(json_true(answer, "ok"));
    assert_ranks(&n, (const int[]){0, -1, -1, 1, 2, 3}, 6);
    ask(&n, "{\"op\":\"stop\"}");
    finish(&n);
    assert_int_equal(total_breaches(&n), 0);
}

static const cJSON *keep_here(struct network *n, int kept, const char *more)
{
    char text[200];
    const cJSON *job = cJSON_GetObjectItem(ask(n, "{\"op\":\"status\"}"), "job");
    const char *host = json_text(cJSON_GetArrayItem(cJSON_GetObjectItem(job, "processes"), 0), "host");
    snprintf(text, sizeof text, "{\"op\":\"resize\",\"keep_hosts\":\"%s:%d\"%s,\"wait\":true}", host, kept, more);
    return ask(n, text);
}

/* The lowest; beside ranks that are named. As many as there are: nobody leaves. */
static void a_host_keeps_some_of_its_ranks(void **state)
{
    (void)state;
    struct network n = {.delay_us = 200, .sleeper = -1, .visits = 1000000};
    start(&n, 6, 6);
    wait_until_running(&n);
    assert_true(json_true(keep_here(&n, 6, ""), "ok"));
    assert_int_equal(n.committed, 0);
    assert_true(json_true(keep_here(&n, 4, ",\"release_ranks\":[1]"), "ok"));
    assert_ranks(&n, (const int[]){0, -1, 1, 2, -1, -1}, 6);
    assert_false(json_true(keep_here(&n, 0, ""), "ok")); /* rank 0 */
    assert_true(json_true(keep_here(&n, 1, ""), "ok"));
    assert_ranks(&n, (const int[]){0, -1, -1, -1, -1, -1}, 6);
    ask(&n, "{\"op\":\"stop\"}");
    finish(&n);
    assert_int_equal(total_breaches(&n), 0);
}

/* ---- Constant data ahead of the window ------------------------------------------------------- */

static int sum_of(const struct network *n, size_t member)
{
    int sum = 0;
    for (int r = 0; r < n->count; r++)
        sum += *(const _Atomic int *)((const char *)&n->ranks[r] + member);
    return sum;
}
#define SUM(n, name) sum_of(n, offsetof(struct rank, name))

/* Visits of a few iterations: often what was listed in one comes to nothing in the next. */
static void what_came_ahead_counts_in_its_visit_alone(void **state)
{
    (void)state;
    struct network n = {.delay_us = 100, .sleeper = -1, .visits = 4000, .length = 4, .ahead = AHEAD_COMES};
    unsigned seed = 7;
    start(&n, 5, 2);
    wait_until_running(&n);
    while (json_true(resize(&n, 1 + (int)(rand_r(&seed) % 5)), "ok"))
        continue;
    finish(&n);
    assert_string_equal(n.fatal, "");
    assert_true(n.committed > 10);
    assert_true(SUM(&n, lists) > 0);
    assert_int_equal(SUM(&n, wrong_ahead), 0);
    assert_int_equal(total_breaches(&n), 0);
}

/* One resize from 2 to 4 in an endless phase. */
static void grow(struct network *n)
{
    start(n, 4, 2);
    wait_until_running(n);
    assert_true(json_true(resize(n, 4), "ok"));
    assert_true(json_true(ask(n, "{\"op\":\"stop\"}"), "ok"));
    finish(n);
    assert_string_equal(n->fatal, "");
    assert_int_equal(n->committed, 1);
    assert_int_equal(total_breaches(n), 0);
}

static void all_list_and_move_before_the_window(void **state)
{
    (void)state;
    struct network n = {.delay_us = 200, .sleeper = -1, .visits = 1, .length = 100000000, .ahead = AHEAD_COMES};
    grow(&n);
    assert_int_equal(SUM(&n, lists), 4);
    assert_int_equal(SUM(&n, aheads), 4);
    assert_int_equal(SUM(&n, joined_ahead), 4);
    assert_int_equal(SUM(&n, offs), 0);
}

static void one_that_fails_has_all_moved_in_the_window(void **state)
{
    (void)state;
    struct network n = {.delay_us = 200, .sleeper = -1, .visits = 1, .length = 100000000, .ahead = AHEAD_FAILS};
    grow(&n);
    assert_int_equal(SUM(&n, aheads), 4);
    assert_int_equal(SUM(&n, joined_ahead), 0);
    assert_int_equal(SUM(&n, offs), 4);
}

/* It counts in the window, where it is waited for. */
static void what_is_late_does_not_put_off_the_window(void **state)
{
    (void)state;
    struct network n = {.sleeper = -1, .visits = 1, .length = 100000000, .ahead = AHEAD_IS_LATE};
    grow(&n);
    assert_int_equal(SUM(&n, aheads), 4);
    assert_int_equal(SUM(&n, joined_ahead), 4);
    assert_int_equal(SUM(&n, offs), 0);
}

/* Said once; in the next resize nobody tries. */
static void where_others_cannot_be_reached_nobody_tries_again(void **state)
{
    (void)state;
    struct network n = {.sleeper = -1, .visits = 1, .length = 100000000, .ahead = AHEAD_IS_CUT_OFF};
    start(&n, 4, 2);
    wait_until_running(&n);
    for (int size = 4; size >= 1; size--)
        assert_true(json_true(resize(&n, size), "ok"));
    assert_true(json_true(ask(&n, "{\"op\":\"stop\"}"), "ok"));
    finish(&n);
    assert_int_equal(n.committed, 4);
    assert_int_equal(SUM(&n, aheads), 4);
    assert_int_equal(SUM(&n, joined_ahead), 0);
    assert_int_equal(n.notes, 1);
    assert_int_equal(total_breaches(&n), 0);
}

static void where_nothing_is_constant_nothing_moves(void **state)
{
    (void)state;
    struct network n = {.sleeper = -1, .visits = 1, .length = 100000000, .ahead = AHEAD_IS_NOTHING};
    grow(&n);
    assert_int_equal(SUM(&n, lists), 4);
    assert_int_equal(SUM(&n, aheads), 0);
    assert_int_equal(SUM(&n, joined_ahead), 0);
}

/* As where a rank lists at an iteration in which the shapes are other ones. */
static void where_ranks_list_different_data_nothing_moves(void **state)
{
    (void)state;
    struct network n = {.sleeper = -1, .visits = 1, .length = 100000000, .ahead = AHEAD_DIFFERS};
    grow(&n);
    assert_int_equal(SUM(&n, lists), 4);
    assert_int_equal(SUM(&n, aheads), 0);
    assert_int_equal(SUM(&n, joined_ahead), 0);
}

static void without_it_nobody_lists(void **state)
{
    (void)state;
    struct network n = {.sleeper = -1, .visits = 1, .length = 100000000};
    grow(&n);
    assert_int_equal(SUM(&n, lists), 0);
}

/* Also where the ranks hold in a pause. */
static void a_call_off_while_data_moves(void **state)
{
    (void)state;
    struct network n = {.sleeper = -1, .visits = 1, .length = 100000000, .ahead = AHEAD_TAKES_LONG};
    start(&n, 4, 2);
    wait_until_running(&n);
    for (int i = 0; i < 4; i++) {
        if (i % 2)
            assert_true(json_true(ask(&n, "{\"op\":\"pause\"}"), "ok"));
        assert_true(json_true(ask(&n, "{\"op\":\"resize\",\"size\":4}"), "ok"));
        while (SUM(&n, aheads) < 4 * (i + 1))
            assert_true(json_true(ask(&n, "{\"op\":\"status\"}"), "ok"));
        assert_true(json_true(ask(&n, "{\"op\":\"cancel\"}"), "ok"));
        if (i % 2)
            assert_true(json_true(ask(&n, "{\"op\":\"resume\"}"), "ok"));
    }
    ask(&n, "{\"op\":\"stop\"}");
    finish(&n);
    assert_string_equal(n.fatal, "");
    assert_int_equal(n.committed, 0);
    assert_int_equal(SUM(&n, offs), 16);
}

static void the_program_ends_while_data_moves(void **state)
{
    (void)state;
    struct network n = {.sleeper = -1, .visits = 1, .length = 4000, .ahead = AHEAD_TAKES_LONG};
    start(&n, 3, 2);
    wait_until_running(&n);
    assert_false(json_true(resize(&n, 3), "ok"));
    finish(&n);
    assert_string_equal(n.fatal, "");
    assert_int_equal(n.committed, 0);
}

static struct backend_ways replaces_all(void)
{
    return (struct backend_ways){.replaces = true};
}

/* All ranks leave each time, and rank 0 is another process; where it is, its own process tells. */
static void all_ranks_are_replaced(void **state)
{
    (void)state;
    struct backend backend = backend_pool;
    backend.ways = replaces_all;
    struct network n = {.delay_us = 200, .sleeper = -1, .visits = 1000000, .backend = &backend};
    unsigned seed = 7;
    start(&n, MOST, MOST / 2);
    wait_until_running(&n);
    for (int i = 0; i < 50; i++) {
        int zero = rank_0(&n);
        atomic_store(&n.ranks[zero].member.live.iteration, 1000 + i);
        const cJSON *element =
            cJSON_GetObjectItem(cJSON_GetObjectItem(ask(&n, "{\"op\":\"status\"}"), "job"), "element");
        assert_int_equal(json_int(element, "iteration", -1), 1000 + i);
        char text[100];
        snprintf(text, sizeof text, "{\"op\":\"resize\",\"size\":%d,\"release_ranks\":[0],\"wait\":true}",
                 1 + (int)(rand_r(&seed) % (MOST / 2)));
        assert_true(json_true(ask(&n, text), "ok"));
        assert_int_not_equal(rank_0(&n), zero);
    }
    ask(&n, "{\"op\":\"stop\"}");
    finish(&n);
    assert_string_equal(n.fatal, "");
    assert_int_equal(n.committed, 50);
    assert_int_equal(total_breaches(&n), 0);
}

static void a_paused_job_keeps_a_resize_for_later(void **state)
{
    (void)state;
    struct network n = {.sleeper = -1, .visits = 1000000};
    start(&n, 4, 2);
    wait_until_running(&n);
    assert_true(json_true(ask(&n, "{\"op\":\"pause\"}"), "ok"));
    assert_true(json_true(ask(&n, "{\"op\":\"resize\",\"size\":4}"), "ok"));
    assert_false(json_true(ask(&n, "{\"op\":\"resize\",\"size\":3}"), "ok")); /* one at a time */
    assert_string_equal(json_text(cJSON_GetObjectItem(ask(&n, "{\"op\":\"status\"}"), "job"), "state"), "paused");
    assert_int_equal(n.committed, 0);
    assert_true(json_true(ask(&n, "{\"op\":\"cancel\"}"), "ok"));
    assert_true(json_true(ask(&n, "{\"op\":\"resume\"}"), "ok"));
    assert_true(json_true(resize(&n, 4), "ok"));
    ask(&n, "{\"op\":\"stop\"}");
    finish(&n);
    assert_int_equal(n.committed, 1);
    assert_int_equal(total_breaches(&n), 0);
}

static void a_request_after_the_end_is_answered(void **state)
{
    (void)state;
    struct network n = {.sleeper = -1, .visits = 5};
    start(&n, 2, 2);
    for (int r = 0; r < 2; r++)
        pthread_join(n.ranks[r].program, NULL);
    n.joined = true;
    cJSON *request = cJSON_Parse("{\"op\":\"resize\",\"size\":1,\"wait\":true}");
    coordinator_request(n.coordinator, &n, request);
    cJSON_Delete(request);
    finish(&n);
    assert_false(json_true(n.answer, "ok"));
    assert_non_null(json_text(n.answer, "reason"));
}

static void ranks_that_go_different_ways_are_named(void **state)
{
    (void)state;
    struct network n = {.sleeper = -1, .visits = 1000000};
    start(&n, 2, 2);
    wait_until_running(&n);
    cJSON *at = cJSON_Parse("{\"op\":\"arrived\",\"count\":7,\"pc\":1,\"visit\":1,\"iteration\":7,\"needs\":0}");
    coordinator_message(n.coordinator, 0, at);
    cJSON_SetIntValue(cJSON_GetObjectItem(at, "iteration"), 8);
    coordinator_message(n.coordinator, 1, at);
    cJSON_Delete(at);
    finish(&n);
    assert_non_null(strstr(n.fatal, "different ways"));
    assert_non_null(strstr(n.fatal, "rank 1 is at element 1 'even'"));
}

/* Its connection is lost as soon as it dumps: whoever has not heard why by then, would complain. */
static void the_first_process_dumps_when_all_others_have_heard(void **state)
{
    (void)state;
    struct network n = {.delay_us = 400000, .sleeper = -1, .visits = 1000000};
    start(&n, 4, 4);
    wait_until_running(&n);
    cJSON *crash = cJSON_Parse("{\"op\":\"crashed\",\"text\":\"SIGSEGV\",\"core\":true}");
    coordinator_message(n.coordinator, 0, crash);
    cJSON_Delete(crash);
    while (!n.dumps)
        nap(&n.ranks[0].seed, 1000);
    coordinator_lost(n.coordinator, 0);
    finish(&n);
    assert_int_equal(n.warned_before, 3);
    assert_string_equal(n.said, "SIGSEGV");
    assert_true(n.failed);
}

static _Atomic int kills; /* of joiners that do not connect */

static void ends_nothing(struct coordinator *c, const struct adaptation *a)
{
    (void)c, (void)a;
    kills++;
}

/* The ranks stand still until MPI gives up its connect: however many joiners are missed, that takes as long. */
static void ranks_stuck_in_connecting_are_ended_in_time(void **state)
{
    (void)state;
    struct backend backend = backend_pool;
    backend.leavers = LEAVERS_END;
    backend.connects = CONNECTS_IN_TIME;
    backend.kill = ends_nothing;
    struct network n = {.sleeper = -1, .visits = 1000000, .backend = &backend, .stuck = true};
    start(&n, MOST, 2);
    wait_until_running(&n);
    assert_true(json_true(ask(&n, "{\"op\":\"resize\",\"size\":8}"), "ok"));
    while (n.inside < MOST)
        nap(&n.ranks[0].seed, 1000);
    double begin = monotonic_seconds();
    for (int p = 2; p < MOST; p++)
        coordinator_lost(n.coordinator, p);
    while (!n.failed && monotonic_seconds() - begin < BACKEND_CONNECT_AT_GATE + 2 * BACKEND_CONNECT_MORE)
        nap(&n.ranks[0].seed, 1000);
    double took = monotonic_seconds() - begin;
    n.failed = true;
    finish(&n);
    assert_non_null(strstr(n.fatal, "stuck in connecting"));
    assert_true(took < BACKEND_CONNECT_AT_GATE + 2 * BACKEND_CONNECT_MORE);
}

/* The processes are in a window with a backend that connects them, and do not come out. Returns when they are in it. */
static void get_stuck(struct network *n, struct backend *backend, int from, int to)
{
    char text[60];
    *backend = backend_pool;
    backend->leavers = LEAVERS_END;
    backend->connects = CONNECTS_IN_TIME;
    backend->kill = ends_nothing;
    kills = 0;
    *n = (struct network){.sleeper = -1, .visits = 1000000, .backend = backend, .stuck = true, .connect_timeout = 1};
    start(n, MOST, from);
    wait_until_running(n);
    snprintf(text, sizeof text, "{\"op\":\"resize\",\"size\":%d}", to);
    assert_true(json_true(ask(n, text), "ok"));
    while (n->inside < (from > to ? from : to))
        nap(&n->ranks[0].seed, 1000);
}

/* How long it took until the joiners were ended. */
static double until_they_are_ended(int deaf)
{
    struct network n;
    struct backend backend;
    get_stuck(&n, &backend, 2, 4);
    double begin = monotonic_seconds();
    n.deaf = deaf;
    while (!kills && monotonic_seconds() - begin < 3 * BACKEND_CONNECT_AT_GATE)
        nap(&n.ranks[0].seed, 1000);
    double took = monotonic_seconds() - begin;
    n.failed = true;
    finish(&n);
    return took;
}

static void who_answers_has_more_time_for_connecting(void **state)
{
    (void)state;
    double slow = until_they_are_ended(0), silent = until_they_are_ended(3);
    assert_true(slow > BACKEND_CONNECT_AT_GATE - 1);
    assert_true(silent < slow);
}

/* Whom the others wait for may be stopped, and goes on. */
static void ranks_that_shrink_are_waited_for(void **state)
{
    (void)state;
    struct network n;
    struct backend backend;
    get_stuck(&n, &backend, 4, 2);
    sleep(3);
    n.stuck = false;
    assert_true(json_true(ask(&n, "{\"op\":\"stop\"}"), "ok"));
    finish(&n);
    assert_string_equal(n.fatal, "");
    assert_int_equal(n.committed, 1);
}

static bool starts_nothing(struct coordinator *c, const struct adaptation *a)
{
    (void)c, (void)a;
    return true;
}

/* Its joiners are on their way when a signal stops the job: what was prepared is off, and nothing of it is looked at.
 */
static void a_signal_stops_a_job_that_prepares_a_resize(void **state)
{
    (void)state;
    struct backend backend = backend_pool;
    backend.start = starts_nothing;
    struct network n = {.sleeper = -1, .visits = 1000000, .backend = &backend};
    start(&n, 4, 2);
    wait_until_running(&n);
    assert_true(json_true(ask(&n, "{\"op\":\"resize\",\"size\":4}"), "ok"));
    coordinator_terminate(n.coordinator);
    const char *word;
    do /* it stops, or is over already */
        word = json_text(cJSON_GetObjectItem(ask(&n, "{\"op\":\"status\"}"), "job"), "state");
    while (word && strcmp(word, "stopping"));
    for (int p = 2; p < 4; p++) { /* they come back from a joining that is off */
        cJSON *parked = cJSON_Parse("{\"op\":\"parked\",\"reusable\":true}");
        coordinator_message(n.coordinator, p, parked);
        cJSON_Delete(parked);
    }
    finish(&n);
    assert_string_equal(n.fatal, "");
    assert_int_equal(n.committed, 0);
    for (int r = 0; r < 2; r++)
        assert_true(n.ranks[r].stopped);
}

static int set_up(void **state)
{
    (void)state;
    program = epop_program_create("test");
    epop_add_init(program, "init", (int (*)(int *, char ***, void **))(void (*)(void))abort);
    epop_add_elastic(program, "even", NULL, NULL, NULL);
    epop_add_elastic(program, "odd", NULL, NULL, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    epop_program_free(program);
    cJSON_Delete(last_answer);
    return 0;
}

int main(void)
{
    alarm(240);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_ranks_adapt_at_the_same_place),
        cmocka_unit_test(ranks_that_are_not_stopped_adapt_at_the_same_place),
        cmocka_unit_test(who_answers_has_more_time_for_connecting),
        cmocka_unit_test(ranks_that_shrink_are_waited_for),
        cmocka_unit_test(sizes_out_of_reach_are_refused),
        cmocka_unit_test(a_sleeping_rank_holds_up_nobody),
        cmocka_unit_test(named_ranks_leave_and_others_take_their_place),
        cmocka_unit_test(a_host_keeps_some_of_its_ranks),
        cmocka_unit_test(what_came_ahead_counts_in_its_visit_alone),
        cmocka_unit_test(all_list_and_move_before_the_window),
        cmocka_unit_test(one_that_fails_has_all_moved_in_the_window),
        cmocka_unit_test(what_is_late_does_not_put_off_the_window),
        cmocka_unit_test(where_others_cannot_be_reached_nobody_tries_again),
        cmocka_unit_test(where_nothing_is_constant_nothing_moves),
        cmocka_unit_test(where_ranks_list_different_data_nothing_moves),
        cmocka_unit_test(without_it_nobody_lists),
        cmocka_unit_test(a_call_off_while_data_moves),
        cmocka_unit_test(the_program_ends_while_data_moves),
        cmocka_unit_test(all_ranks_are_replaced),
        cmocka_unit_test(a_paused_job_keeps_a_resize_for_later),
        cmocka_unit_test(a_request_after_the_end_is_answered),
        cmocka_unit_test(ranks_that_go_different_ways_are_named),
        cmocka_unit_test(the_first_process_dumps_when_all_others_have_heard),
        cmocka_unit_test(ranks_stuck_in_connecting_are_ended_in_time),
        cmocka_unit_test(a_signal_stops_a_job_that_prepares_a_resize),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
