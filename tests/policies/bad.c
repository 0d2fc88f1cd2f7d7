/* A policy with everything that may go wrong in one, by its option `how`. */
#include <epop/policy.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int forever = 1;

static void crash(const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)plan;
    *(volatile int *)(uintptr_t)(state->down + 8) = 1;
}

static int deeper(volatile int depth)
{
    volatile char room[4096];
    room[depth % 4096] = 1;
    return forever ? deeper(depth + 1) + room[0] : depth;
}

static void overflow(const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)plan;
    deeper(state->down);
}

static void give_up(const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)state, (void)plan;
    abort();
}

static void divide(const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)state, (void)plan;
    raise(SIGFPE);
}

static void leave(const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)state, (void)plan;
    exit(0);
}

static void spin(const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)state, (void)plan;
    while (forever)
        ;
}

static void wait_for_nothing(const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)state, (void)plan;
    while (forever)
        pause();
}

/* All nodes for each. */
static void start_all(const epop_policy_state_t *state, epop_plan_t *plan)
{
    for (int i = 0; i < state->waiting_count; i++)
        epop_plan_start(plan, state->waiting[i], state->node_count + 1, "all");
}

static void nothing(const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)state, (void)plan;
}

static const struct way {
    const char *name;
    void (*decide)(const epop_policy_state_t *state, epop_plan_t *plan);
} ways[] = {{"crash", crash}, {"overflow", overflow},     {"abort", give_up},      {"divide", divide},  {"exit", leave},
            {"spin", spin},   {"wait", wait_for_nothing}, {"nonsense", start_all}, {"nothing", nothing}};

static int set_way(void *settings, const char *name, const char *value)
{
    (void)name;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (!strcmp(ways[i].name, value)) {
            *(const struct way **)settings = &ways[i];
            return 0;
        }
    }
    return !strcmp(value, "now") ? (abort(), 0) : -1;
}

static int begin(void **settings)
{
    const struct way **way = malloc(sizeof *way);
    if (way)
        *way = &ways[0];
    *settings = way;
    return way ? 0 : -1;
}

static void decide(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    (*(const struct way *const *)settings)->decide(state, plan);
}

const epop_policy_t *epop_get_policy(void)
{
    static const epop_policy_option_t options[] = {{"how", "crash", "what goes wrong"}, {NULL, NULL, NULL}};
    static const epop_policy_t policy = {.abi_version = EPOP_POLICY_ABI_VERSION,
                                         .struct_size = sizeof policy,
                                         .name = "bad",
                                         .options = options,
                                         .open = begin,
                                         .option = set_way,
                                         .decide = decide,
                                         .close = free};
    return &policy;
}
