/* Constant data that moves ahead of the window: one journey at a time, its thread, and the end of it. */
#include "runtime/ahead/ahead.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "runtime/ahead/carry.h"
#include "runtime/base/clock.h"
#include "runtime/base/ending.h"
#include "runtime/base/error.h"
#include "runtime/base/json.h"
#include "runtime/base/thread.h"
#include "runtime/describe/program.h"
#include "runtime/wire/messages.h"
#include "runtime/world/world.h"

#define IN_TIME 0.8 /* of the limit: the last of it has to be agreed on, too */
#define LONGEST 1e6 /* s: the limit may be none */

/* It belongs to the thread while that runs; then to whoever takes it out of the state. */
struct journey {
    struct carriage carriage;
    struct plan *plan; /* the window's new_ranks are in it */
    epop_window_t window;
    bool runs; /* its thread does */
    bool came; /* all of it */
    bool fills, filled;
    struct error error; /* of filling */
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct member *member;
    const char *uri;
    double limit;
    struct journey *journey; /* NULL: none */
    int running;             /* threads, also of journeys that are off */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* ---- Journeys -------------------------------------------------------------------------------- */

static void journey_free(struct journey *j)
{
    struct carriage *c = &j->carriage;
    place_close(&c->place);
    if (c->wake >= 0)
        close(c->wake);
    cargo_free(c->cargo);
    free(c->values);
    free(c->places);
    plan_free(j->plan);
    free(j);
}

static struct journey *journey_new(int adaptation)
{
    struct journey *j = calloc(1, sizeof *j);
    if (!j)
        return NULL;
    j->carriage.adaptation = adaptation;
    j->carriage.place.fd = -1;
    j->carriage.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (j->carriage.wake >= 0 && !place_open(&j->carriage.place, state.uri))
        return j;
    journey_free(j);
    return NULL;
}

/* Off: it is freed here, or by its thread. With the lock held. */
static void call_off_journey(struct journey *j)
{
    state.journey = NULL;
    if (!j->runs) {
        journey_free(j);
        return;
    }
    j->carriage.off = true;
    eventfd_write(j->carriage.wake, 1);
    pthread_cond_broadcast(&state.changed);
}

/* With the lock held. */
static void call_off_present(void)
{
    if (state.journey)
        call_off_journey(state.journey);
}

static void cannot_come(int adaptation, const char *reason)
{
    struct error error;
    error_set(&error, ERROR_FAILED, "%s", reason);
    member_ahead(state.member, adaptation, &error, 0);
}

/* ---- Listing and filling: the program's thread ----------------------------------------------- */

static int list_constants(struct journey *j, int size, struct error *error)
{
    struct carriage *c = &j->carriage;
    const struct describe_program *p = &describe_program;
    if (p->describe)
        c->cargo = cargo_list(DESCRIBE_LIST, size, p->describe, p->data, NULL, 0, error);
    if (!c->cargo)
        return -1;
    c->values = describe_values_pack(&c->cargo->description, &c->value_bytes);
    return c->values ? 0 : -1;
}

/* A description that has a fault has it in the window, too, where it is said. */
static void begin_journey(int adaptation, int size, const struct position *at)
{
    struct error unheard;
    struct journey *j = journey_new(adaptation);
    if (j && at && list_constants(j, size, &unheard)) {
        journey_free(j);
        j = NULL;
    }
    cJSON *place = j ? place_to_json(&j->carriage.place) : NULL;
    struct constants constants = {0};
    if (j && at)
        constants =
            (struct constants){cargo_size(j->carriage.cargo, world.rank, world.size), j->carriage.cargo->listed};
    pthread_mutex_lock(&state.lock);
    call_off_present();
    state.journey = j;
    pthread_mutex_unlock(&state.lock);
    member_listed(state.member, adaptation, at, &constants, place);
}

static bool has_constants(void)
{
    const struct describe_program *p = &describe_program;
    struct error unheard;
    struct cargo *cargo = p->describe ? cargo_list(DESCRIBE_LIST, 0, p->describe, p->data, NULL, 0, &unheard) : NULL;
    bool has = p->describe && (!cargo || cargo->count);
    if (cargo)
        cargo_free(cargo);
    return has;
}

/* Once for each phase in a row: what is found stands until another one comes. */
void ahead_look(int pc)
{
    static int looked_at = -1;
    if (pc >= 0 && pc == looked_at)
        return;
    looked_at = pc;
    atomic_store(&state.member->nothing_constant, pc >= 0 && !has_constants());
}

/* With the lock held. */
static void fill_journey(struct journey *j)
{
    const struct describe_program *p = &describe_program;
    struct carriage *c = &j->carriage;
    error_set(&j->error, ERROR_FAILED, "the program describes nothing");
    if (p->describe)
        c->cargo =
            cargo_list(DESCRIBE_FILL, c->window->new_size, p->describe, p->data, c->values, c->value_bytes, &j->error);
    j->fills = false;
    j->filled = true;
    pthread_cond_broadcast(&state.changed);
}

static void fill_if_asked(int adaptation)
{
    pthread_mutex_lock(&state.lock);
    struct journey *j = state.journey;
    if (j && j->carriage.adaptation == adaptation && j->fills)
        fill_journey(j);
    pthread_mutex_unlock(&state.lock);
}

static void run_ahead_errand(void *context, const struct errand_order *order, const struct position *at)
{
    (void)context;
    if (order->errand == ERRAND_LIST)
        begin_journey(order->adaptation, order->size, at);
    else
        fill_if_asked(order->adaptation);
}

/* ---- The thread --------------------------------------------------------------------------------- */

/* Has the program's thread do it, which waits for its window. */
static int await_filling(void *context, struct error *error)
{
    struct journey *j = context;
    pthread_mutex_lock(&state.lock);
    j->fills = true;
    pthread_cond_broadcast(&state.changed);
    pthread_mutex_unlock(&state.lock);
    member_send_on_errand(state.member, &(struct errand_order){ERRAND_FILL, j->carriage.adaptation, 0});
    pthread_mutex_lock(&state.lock);
    while (!j->filled && !j->carriage.off)
        pthread_cond_wait(&state.changed, &state.lock);
    bool filled = j->carriage.cargo;
    pthread_mutex_unlock(&state.lock);
    return filled ? 0 : error_set(error, ERROR_FAILED, "%s", j->error.text);
}

static void *run_journey(void *argument)
{
    struct journey *j = argument;
    struct error error = {0};
    int failed = carry(&j->carriage, &error), adaptation = j->carriage.adaptation;
    int64_t bytes = j->carriage.received;
    place_close(&j->carriage.place);
    pthread_mutex_lock(&state.lock);
    j->runs = false;
    j->came = !failed;
    bool off = state.journey != j;
    if (!off && failed)
        state.journey = NULL;
    pthread_mutex_unlock(&state.lock);
    if (!off)
        member_ahead(state.member, adaptation, failed ? &error : NULL, bytes);
    pthread_mutex_lock(&state.lock);
    state.running--;
    pthread_cond_broadcast(&state.changed);
    pthread_mutex_unlock(&state.lock);
    if (off || failed)
        journey_free(j); /* large blocks take a while, for which nobody has to wait */
    return NULL;
}

/* ---- The control thread ------------------------------------------------------------------------- */

static int read_places(struct carriage *c, const struct order_ahead *order)
{
    int failed = order->places.count != c->size;
    c->places = calloc((size_t)c->size, sizeof *c->places);
    for (int i = 0; c->places && !failed && i < c->size; i++)
        failed = place_of(&c->places[i], &order->places.items[i]);
    return c->places && !failed ? 0 : -1;
}

static int set_out(struct journey *j, const struct order_ahead *order)
{
    struct carriage *c = &j->carriage;
    j->plan = plan_of(order->plan);
    if (!j->plan)
        return -1;
    world_window(j->plan, state.member->process, &j->window);
    c->window = &j->window;
    c->size = plan_total(j->plan);
    c->me = plan_index(j->plan, state.member->process);
    c->until = monotonic_ns() + (int64_t)(IN_TIME * fmin(state.limit, LONGEST) * 1e9);
    c->fill = await_filling;
    c->context = j;
    if (read_places(c, order))
        return -1;
    j->runs = true;
    if (thread_start(NULL, run_journey, j)) {
        j->runs = false;
        return -1;
    }
    state.running++;
    return 0;
}

static void on_ahead(void *context, const struct order_ahead *order)
{
    (void)context;
    int adaptation = order->adaptation;
    pthread_mutex_lock(&state.lock);
    struct journey *j = state.journey;
    bool mine = j && j->carriage.adaptation == adaptation && !j->runs && !j->plan;
    bool failed = !mine || set_out(j, order);
    if (failed && mine)
        call_off_journey(j);
    pthread_mutex_unlock(&state.lock);
    if (failed)
        cannot_come(adaptation, "this process cannot take part");
}

static void on_ahead_off(void *context, const struct order_ahead_off *order)
{
    (void)context;
    pthread_mutex_lock(&state.lock);
    if (state.journey && state.journey->carriage.adaptation == order->adaptation)
        call_off_present();
    pthread_mutex_unlock(&state.lock);
}

TAKES(order, ahead, on_ahead)
TAKES(order, ahead_off, on_ahead_off)

static const struct message_row messages[] = {
    {order_ahead_id, order_ahead_taken},
    {order_ahead_off_id, order_ahead_off_taken},
};

/* ---- The end of a journey: the program's thread ------------------------------------------------- */

/* Off, and nobody reads what it was about. The adaptation that it was for; 0: there was none. */
static int end_present(void)
{
    pthread_mutex_lock(&state.lock);
    int adaptation = state.journey ? state.journey->carriage.adaptation : 0;
    call_off_present();
    while (state.running)
        pthread_cond_wait(&state.changed, &state.lock);
    pthread_mutex_unlock(&state.lock);
    return adaptation;
}

void ahead_withdraw(void)
{
    int adaptation = end_present();
    if (adaptation)
        cannot_come(adaptation, "what was constant may change");
}

/* What is late comes while the program waits for it. With the lock held. */
static void await_rest(int adaptation)
{
    struct journey *j = state.journey;
    if (!j || j->carriage.adaptation != adaptation)
        return;
    j->carriage.urgent = true;
    while (state.journey == j && j->runs)
        if (j->fills)
            fill_journey(j);
        else
            pthread_cond_wait(&state.changed, &state.lock);
}

void ahead_window(const struct plan *plan)
{
    if (!plan->ahead) {
        end_present();
        return;
    }
    pthread_mutex_lock(&state.lock);
    await_rest(plan->adaptation);
    pthread_mutex_unlock(&state.lock);
}

/* A program may describe other data as well, under the same names. */
static bool is_all_here(describe_block *block, const void *data, const epop_description_t *now)
{
    pthread_mutex_lock(&state.lock);
    bool here = state.journey && state.journey->came && block == describe_program.describe &&
                data == describe_program.data && cargo_fits(state.journey->carriage.cargo, now);
    pthread_mutex_unlock(&state.lock);
    return here;
}

static void hand_over_present(epop_description_t *d)
{
    pthread_mutex_lock(&state.lock);
    cargo_hand_over(state.journey->carriage.cargo, d);
    pthread_mutex_unlock(&state.lock);
}

void ahead_end(void)
{
    end_present();
}

static void *free_beside(void *argument)
{
    journey_free(argument);
    return NULL;
}

void ahead_over(void)
{
    pthread_mutex_lock(&state.lock);
    struct journey *j = state.journey;
    state.journey = NULL;
    pthread_mutex_unlock(&state.lock);
    if (j && thread_start(NULL, free_beside, j))
        journey_free(j);
}

/* ---- The start ------------------------------------------------------------------------------------ */

void ahead_init(struct member *member, const char *uri, double limit)
{
    static const struct describe_ahead ahead = {is_all_here, hand_over_present};
    state.member = member;
    state.uri = uri;
    state.limit = limit;
    member->run_errand = run_ahead_errand;
    member_understand(member, messages, sizeof messages / sizeof *messages, NULL);
    describe_come_ahead(&ahead);
}
