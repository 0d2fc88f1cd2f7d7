/*
 * The tuning driver: tries settings while the program runs, each for a run of some iterations of one phase, and goes on
 * with the fastest. Rank 0 has the search (search.h); after each run it tells all what to run next. A rank that comes
 * in hears it when it has come.
 */
#include <cjson/cJSON.h>
#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <epop/elastic.h>

#include "driver/common/builtin.h"
#include "driver/common/output.h"
#include "driver/tune/budget.h"
#include "driver/tune/levers.h"
#include "driver/tune/search.h"
#include "driver/tune/tuned.h"
#include "epop_api/sizes.h"
#include "runtime/base/clock.h"
#include "runtime/base/error.h"
#include "runtime/base/json.h"
#include "runtime/base/say.h"
#include "runtime/job/job.h"

#define RANKS_SECONDS   10  /* another number of ranks that has not come by then cannot be had */
#define RESIZE_SECONDS  0.5 /* of a resize, as long as none was seen */
#define LISTS           16  /* options that may be given several times */
#define MOST_ITERATIONS 1000000000
#define LAPS            1024 /* of a run are looked at one by one, if they are no more */
#define DISTURBED       3    /* medians: an iteration counts for no more, as something came between */

/* What all ranks do next; rank 0 says it. */
enum step {
    STEP_RUN,   /* a run of `iterations`, after `warm` that do not count */
    STEP_VISIT, /* a run is the next visit of the phase */
    STEP_PAUSE, /* the next visit has the best so far, and is none; behind it the search goes on */
    STEP_RANKS, /* until there are as many ranks, or rank 0 gives up */
    STEP_REST,  /* nothing until the next visit, with the best so far */
    STEP_END    /* nothing any more */
};

struct order {
    enum step step;
    int iterations, warm;
    bool trial; /* a setting that is not known in the present contest: the run only says how long an iteration takes */
    struct setting setting;
};

static struct {
    struct {
        const char *phase, *ranks, *threads, *cvars[LISTS], *path;
        int cvar_count;
        double bound, run, efficiency;
    } options;
    struct error error;
    const epop_program_t *program;
    int pc; /* of the phase */
    struct levers levers;
    bool begun;  /* the phase was entered once: this process knows what the others do */
    bool joined; /* it came to a running job, and is a rank by now */
    bool resync; /* the ranks have changed in another phase */

    /* The present run, on every rank */
    struct order order;
    int left, warm; /* iterations */
    bool in_visit;  /* the whole visit has this order */
    double begin;   /* of what counts, seconds */
    double lap;     /* of the present iteration */
    double laps[LAPS];
    int lap_count; /* more than LAPS: they are not kept */
    bool spoilt;   /* the ranks stood still meanwhile */
    bool adapted;  /* in the present hold */
    int64_t done;  /* iterations of the visit */
    void *data;    /* the program's */

    /* On rank 0 */
    bool leads;
    struct search search;
    /* Of an iteration with the candidates of the present contest, and with what ran last: 0: not known. */
    struct effort {
        double seconds, share;
    } efforts[CONTEST_MOST], last;
    double begin_share; /* of the present run */
    int64_t begin_iteration;
    double deadline;  /* for another number of ranks */
    double resize;    /* seconds that the slowest resize has taken; 0: none was seen */
    int ranks;        /* at present */
    bool ranks_asked; /* for the number that the order wants */
    struct budget budget;
    struct tuned_speed speeds[SEARCH_VALUES];
    int speed_count;

    pthread_mutex_t lock;
    char *result; /* JSON; NULL: none yet */
} tune = {.options = {.bound = 0.02, .run = 0.05, .efficiency = 0.5},
          .budget = {.within = 0.15},
          .lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- Options ------------------------------------------------------------------------------------ */

static int read_percent(const char *text, double *share)
{
    char *end;
    double percent = decimal_read(text, &end);
    if (end == text || *end || !(percent > 0 && percent <= 100))
        return EPOP_ERR_ARGUMENT;
    *share = percent / 100;
    return EPOP_OK;
}

static int read_run(const char *text)
{
    return duration_read(text, &tune.options.run) || !(tune.options.run > 0) ? EPOP_ERR_ARGUMENT : EPOP_OK;
}

static int add_cvar(const char *text)
{
    if (tune.options.cvar_count == LISTS)
        return EPOP_ERR_ARGUMENT;
    tune.options.cvars[tune.options.cvar_count++] = text;
    return EPOP_OK;
}

static int tune_option(void *state, const char *name, const char *value)
{
    (void)state;
    if (!value[0])
        return EPOP_ERR_ARGUMENT;
    if (!strcmp(name, "tune-output"))
        tune.options.path = value;
    else if (!strcmp(name, "phase"))
        tune.options.phase = value;
    else if (!strcmp(name, "sizes"))
        tune.options.ranks = value;
    else if (!strcmp(name, "threads"))
        tune.options.threads = value;
    else if (!strcmp(name, "cvar"))
        return add_cvar(value);
    else if (!strcmp(name, "run"))
        return read_run(value);
    else if (!strcmp(name, "within"))
        return read_percent(value, &tune.budget.within);
    else if (!strcmp(name, "bound"))
        return read_percent(value, &tune.options.bound);
    else
        return read_percent(value, &tune.options.efficiency);
    return EPOP_OK;
}

static const epop_driver_option_t options[] = {
    {"tune-output", "FILE", "write what was found as JSON, for epop --tuned"},
    {"phase", "NAME", "the phase that is to be fast (the first elastic one)"},
    {"sizes", "LIST", "numbers of ranks to try, as 1,2,4 or 1-4 (the present one alone)"},
    {"threads", "LIST", "threads of a rank to try (as they are)"},
    {"cvar", "NAME=LIST", "values of a control variable of MPI to try; may be given again"},
    {"within", "PERCENT", "of the phase that the search may take (15)"},
    {"bound", "PERCENT", "a gain that is not worth to search for (2)"},
    {"run", "SECONDS", "how long a setting runs at least, each time (0.05)"},
    {"efficiency", "PERCENT", "with which a number of ranks is used well (50)"},
    {NULL, NULL, NULL}};

/* ---- Before the program runs -------------------------------------------------------------------- */

static bool is_wanted(const epop_element_t *element)
{
    bool loops = element->loop_condition && (element->type == EPOP_EP || element->type == EPOP_RP);
    if (tune.options.phase)
        return loops && element->name && !strcmp(element->name, tune.options.phase);
    return loops && element->type == EPOP_EP;
}

static int find_phase(const epop_program_t *program)
{
    for (int pc = 0; pc < program->size; pc++)
        if (is_wanted(&program->elements[pc]))
            return pc;
    return tune.options.phase
               ? error_set(&tune.error, ERROR_REFUSED, "no phase '%s' that loops", tune.options.phase)
               : error_set(&tune.error, ERROR_REFUSED, "the program has no elastic phase: name one with --phase");
}

static int add_levers(const epop_program_t *program)
{
    const char *ranks = tune.options.ranks, *threads = tune.options.threads;
    for (int i = 0; i < tune.options.cvar_count; i++)
        if (levers_add_cvar(&tune.levers, tune.options.cvars[i], &tune.error))
            return -1;
    if (threads && levers_add_threads(&tune.levers, threads, &tune.error))
        return -1;
    if (ranks && program->elements[tune.pc].type != EPOP_EP)
        return error_set(&tune.error, ERROR_REFUSED, "--sizes: only an elastic phase changes its number of ranks");
    return ranks ? levers_add_ranks(&tune.levers, ranks, epop_sizes_at(program, tune.pc), &tune.error) : 0;
}

static int tune_loaded(void *state, const epop_program_t *program, int process)
{
    (void)state;
    tune.program = program;
    tune.pc = find_phase(program);
    if (tune.pc < 0 || add_levers(program))
        return EPOP_ERR_ARGUMENT;
    if (process == 0 && tune.options.path && output_check(tune.options.path, &tune.error))
        return EPOP_ERR_SYSTEM;
    return EPOP_OK;
}

static const char *tune_explain(void *state)
{
    (void)state;
    return tune.error.text[0] ? tune.error.text : NULL;
}

/* ---- What is known of the phase, on rank 0 ------------------------------------------------------ */

/* Done of the visit; negative: the phase does not tell. */
static double share_done(void)
{
    const epop_element_t *element = &tune.program->elements[tune.pc];
    epop_progress_t progress = {.iteration = tune.done};
    if (!element->progress || !tune.data)
        return -1;
    element->progress(tune.data, &progress);
    if (progress.share > 0)
        return progress.share;
    return progress.bound > 0 ? (double)progress.iteration / (double)progress.bound : -1;
}

/* With the best setting of all but the ranks, on as many as there are. */
static void count_iterations(double seconds)
{
    int i = 0;
    while (i < tune.speed_count && tune.speeds[i].ranks != tune.ranks)
        i++;
    if (i == SEARCH_VALUES)
        return;
    if (i == tune.speed_count)
        tune.speeds[tune.speed_count++] = (struct tuned_speed){.ranks = tune.ranks};
    tune.speeds[i].iterations += tune.done - tune.begin_iteration;
    tune.speeds[i].seconds += seconds;
}

/* ---- The result, on rank 0 ---------------------------------------------------------------------- */

/* The largest number of ranks at which the efficiency, that of the smallest being 1, is still good. */
static int preferred_ranks(void)
{
    int k = search_knob_of_ranks(&tune.search), preferred = 0, least = -1, seen = 0;
    for (int i = 0; k >= 0 && i < tune.levers.knobs[k].count; i++) {
        double cost = search_cost_at(&tune.search, i);
        if (!(cost > 0))
            continue;
        least = least < 0 ? i : least;
        double speedup = search_cost_at(&tune.search, least) / cost;
        const int *values = tune.levers.knobs[k].values;
        if (speedup * values[least] / values[i] >= tune.options.efficiency)
            preferred = values[i];
        seen++;
    }
    return seen > 1 ? preferred : 0;
}

static void add_settings(struct tuned *tuned)
{
    for (int k = 0; k < tune.levers.count; k++) {
        const struct lever *lever = &tune.levers.all[k];
        const struct knob *knob = &tune.levers.knobs[k];
        if (lever->kind == LEVER_RANKS)
            continue;
        struct tuned_setting *setting = &tuned->settings[tuned->setting_count++];
        *setting = (struct tuned_setting){
            .kind = lever->kind, .value = knob->values[tune.search.best.at[k]], .usual = knob->values[knob->usual]};
        snprintf(setting->name, sizeof setting->name, "%s", lever->name);
    }
}

static void add_speeds(struct tuned *tuned)
{
    for (int i = 0; i < tune.speed_count; i++)
        if (tune.speeds[i].iterations > 0)
            tuned->speeds[tuned->speed_count++] = tune.speeds[i];
}

static void keep_result(void)
{
    const epop_element_t *element = &tune.program->elements[tune.pc];
    int k = search_knob_of_ranks(&tune.search);
    struct tuned tuned = {.sure = tune.search.over && tune.search.sure,
                          .bound = tune.options.bound,
                          .gain = tune.search.gain,
                          .ranks = k < 0 ? tune.ranks : tune.levers.knobs[k].values[tune.search.best.at[k]],
                          .preferred = preferred_ranks(),
                          .runs = tune.search.runs,
                          .seconds = tune.budget.searched,
                          .share = budget_share(&tune.budget)};
    snprintf(tuned.program, sizeof tuned.program, "%s", tune.program->name);
    snprintf(tuned.phase, sizeof tuned.phase, "%s",
             element->name ? element->name : epop_element_type_name(element->type));
    add_settings(&tuned);
    add_speeds(&tuned);
    cJSON *json = tuned_to_json(&tuned);
    char *text = json ? cJSON_Print(json) : NULL;
    cJSON_Delete(json);
    pthread_mutex_lock(&tune.lock);
    free(tune.result);
    tune.result = text;
    pthread_mutex_unlock(&tune.lock);
}

/* ---- What comes next, on rank 0 ----------------------------------------------------------------- */

/* NULL: it is not known. */
static const struct effort *next_effort(void)
{
    int candidate = tune.search.begun ? search_candidate(&tune.search) : -1;
    return candidate >= 0 && tune.efforts[candidate].seconds > 0 ? &tune.efforts[candidate] : NULL;
}

/* Iterations: long enough, and not too long for each candidate to run there and back. */
static int run_length(double share)
{
    const struct effort *effort = next_effort();
    double seconds = effort ? effort->seconds : tune.last.seconds,
           runs = 2 * search_candidates(&tune.search) * search_contests_left(&tune.search);
    double length = tune.options.run, most = budget_left(&tune.budget, monotonic_seconds(), share) / runs;
    double iterations = seconds > 0 ? (length < most ? ceil(length / seconds) : floor(most / seconds)) : 1;
    return iterations < 1 ? 1 : iterations > MOST_ITERATIONS ? MOST_ITERATIONS : (int)iterations;
}

/* The first iteration of a run may still use what was made with the setting before; a trial was that iteration. */
static struct order order_of_run(double share)
{
    struct order order = {.step = STEP_RUN, .setting = search_next(&tune.search)};
    order.trial = !next_effort();
    order.iterations = order.trial ? 1 : run_length(share);
    order.warm = !order.trial && !tune.order.trial;
    return order;
}

/* Of those that were seen in the present contest and right before it. */
static double seconds_of_slowest_iteration(void)
{
    double slowest = tune.last.seconds;
    for (int candidate = 0; candidate < CONTEST_MOST; candidate++)
        if (slowest < tune.efforts[candidate].seconds)
            slowest = tune.efforts[candidate].seconds;
    return slowest;
}

/* 0: any number of ranks will do. */
static int ranks_of(const struct setting *setting)
{
    int k = search_knob_of_ranks(&tune.search);
    return k < 0 || tune.search.ranks_kept ? 0 : tune.levers.knobs[k].values[setting->at[k]];
}

/* To get the ranks for a run, and behind it those of the best so far. */
static double seconds_of_resizes(const struct setting *setting)
{
    struct setting best = search_so_far(&tune.search);
    int ranks = ranks_of(setting), resizes = (ranks && ranks != tune.ranks) + (ranks != ranks_of(&best));
    return resizes * (tune.resize > 0 ? tune.resize : RESIZE_SECONDS);
}

static bool is_worth_a_run(double share, const struct order *order)
{
    const struct effort *effort = next_effort();
    int iterations = order->iterations + order->warm;
    double now = monotonic_seconds() + seconds_of_resizes(&order->setting); /* as if they were over */
    return budget_has_run(&tune.budget, now, share, effort ? iterations * effort->seconds : 0,
                          iterations * seconds_of_slowest_iteration());
}

/* With that setting the program would go on anyway. */
static bool is_best_so_far(const struct setting *setting)
{
    struct setting best = search_so_far(&tune.search);
    return !memcmp(&best, setting, sizeof best);
}

/* Is the visit that begins with the present order time of the search? */
static bool is_searched(void)
{
    enum step step = tune.order.step;
    return tune.leads && step != STEP_END && step != STEP_PAUSE &&
           !(step == STEP_VISIT && is_best_so_far(&tune.order.setting));
}

/* As long as the time that is left allows, divided among the contests that are left. How many visits there are nobody
 * knows: then each round runs all once, as visits are alike. */
static void give_room(double share)
{
    double run = tune.last.seconds * (run_length(share) + 1), runs = INFINITY;
    memset(tune.efforts, 0, sizeof tune.efforts);
    if (search_waits_for_visit(&tune.search))
        runs = search_candidates(&tune.search);
    else if (run > 0)
        runs = budget_left(&tune.budget, monotonic_seconds(), share) / search_contests_left(&tune.search) / run;
    search_room(&tune.search, runs);
    if (tune.search.runs == 0) /* what ran before is the program's own setting */
        tune.efforts[tune.search.contest.incumbent] = tune.last;
}

static struct order end_of_search(void)
{
    budget_rest(&tune.budget, monotonic_seconds());
    keep_result();
    return (struct order){.step = STEP_END, .setting = tune.search.best};
}

/* Of a visit with the next setting; 0: it had none yet, or the phase does not tell how far it is. */
static double seconds_of_visit(void)
{
    const struct effort *effort = &tune.efforts[search_candidate(&tune.search)];
    return effort->share > 0 ? effort->seconds / effort->share : 0;
}

/* The next visit is a run if there is time for it; with the best so far always. The rest of this one is not. */
static struct order order_of_visit(struct order order)
{
    double now = monotonic_seconds();
    budget_rest(&tune.budget, now);
    order.step = STEP_VISIT;
    order.trial = false;
    if (is_best_so_far(&order.setting) || budget_has_visit(&tune.budget, now, seconds_of_visit()))
        return order;
    return (struct order){.step = STEP_PAUSE, .setting = search_so_far(&tune.search)};
}

static struct order next_order(double share)
{
    if (tune.last.seconds == 0 && !tune.search.over)
        return order_of_run(share);
    if (search_wants_room(&tune.search)) {
        keep_result();
        give_room(share);
    }
    if (tune.search.over)
        return end_of_search();
    struct order order = order_of_run(share);
    if (search_waits_for_visit(&tune.search)) {
        order = order_of_visit(order);
    } else if (!is_worth_a_run(share, &order)) {
        budget_rest(&tune.budget, monotonic_seconds());
        order = (struct order){.step = STEP_REST, .setting = search_so_far(&tune.search)};
    }
    return order;
}

/* Does the setting want another number of ranks? Then it is asked for. */
static void ask_for_ranks(struct order *order)
{
    int wanted = ranks_of(&order->setting);
    tune.ranks_asked = wanted && wanted != tune.ranks;
    if (!tune.ranks_asked)
        return;
    tune.deadline = monotonic_seconds() + RANKS_SECONDS;
    if (epop_request_resize(wanted))
        tune.deadline = 0;
    order->step = order->step == STEP_END ? STEP_END : STEP_RANKS;
}

/* ---- Together ----------------------------------------------------------------------------------- */

static bool is_rank_0(const epop_position_t *at)
{
    return at->rank == 0 || !levers_have_mpi();
}

static void tell(void *what, int bytes)
{
    if (levers_have_mpi())
        PMPI_Bcast(what, bytes, MPI_BYTE, 0, epop_world());
}

/* Begins to count; where iterations are to warm up first, when these are over. */
static void begin_run(void)
{
    tune.begin = tune.lap = monotonic_seconds();
    tune.lap_count = 0;
    tune.spoilt = false;
    if (!tune.leads)
        return;
    tune.begin_share = share_done();
    tune.begin_iteration = tune.done;
}

static void end_lap(void)
{
    double now = monotonic_seconds();
    if (tune.lap_count < LAPS)
        tune.laps[tune.lap_count] = now - tune.lap;
    tune.lap_count++;
    tune.lap = now;
}

static int by_length(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

/* Of the present run, without most of what disturbed it. */
static double seconds_so_far(void)
{
    double sum = 0;
    if (tune.lap_count == 0 || tune.lap_count > LAPS)
        return monotonic_seconds() - tune.begin;
    qsort(tune.laps, (size_t)tune.lap_count, sizeof *tune.laps, by_length);
    double most = DISTURBED * tune.laps[(tune.lap_count - 1) / 2];
    for (int i = 0; i < tune.lap_count; i++)
        sum += tune.laps[i] < most ? tune.laps[i] : most;
    return sum;
}

static void restart_run(void)
{
    tune.left = tune.order.iterations;
    tune.warm = tune.order.warm;
    begin_run();
}

/* All ranks were replaced, and nobody knows what was searched. */
static struct order order_of_nobody(void)
{
    struct order order = {.step = STEP_END};
    for (int k = 0; k < tune.levers.count; k++)
        order.setting.at[k] = tune.levers.knobs[k].usual;
    return order;
}

/* Rank 0 says what comes next, and all do it. Collective over the world. */
static void take_order(const epop_position_t *at)
{
    if (tune.leads) {
        tune.order = next_order(share_done());
        ask_for_ranks(&tune.order);
    } else if (is_rank_0(at)) {
        tune.order = order_of_nobody();
    }
    tell(&tune.order, sizeof tune.order);
    levers_set(&tune.levers, &tune.order.setting);
    tune.in_visit = false; /* the rest of this one does not count */
    tune.resync = false;
    restart_run();
}

/* The slowest rank's seconds, or none where any has stood still. Collective over the world. */
static double seconds_of_run(void)
{
    double mine[2] = {seconds_so_far(), tune.spoilt}, all[2] = {mine[0], mine[1]};
    if (levers_have_mpi())
        PMPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, epop_world());
    return all[1] > 0 ? 0 : all[0];
}

/* Where progress counts work, a share of it is as much on any number of ranks. */
static double work_of_iteration(void)
{
    epop_scaling scaling = epop_scaling_at(tune.program, tune.pc);
    bool counted = scaling == EPOP_SCALING_WEAK_WORK && tune.last.share > 0;
    return counted ? 1 : scaling_work(scaling, tune.ranks);
}

/* On rank 0. */
static void judge_run(double seconds)
{
    double share = share_done(), done = share - tune.begin_share;
    int64_t iterations = tune.done - tune.begin_iteration;
    if (!(seconds > 0) || iterations < 1)
        return; /* once more */
    if (tune.begin_share >= 0)
        budget_note(&tune.budget, done, seconds);
    tune.last = (struct effort){seconds / (double)iterations,
                                tune.begin_share >= 0 && done > 0 ? done / (double)iterations : 0};
    if (tune.search.begun)
        tune.efforts[search_candidate(&tune.search)] = tune.last;
    if (tune.order.trial)
        return;
    if (!tune.search.over && tune.search.stages[tune.search.stage].ranks)
        count_iterations(seconds);
    double cost = tune.last.share > 0 ? seconds / done : tune.last.seconds;
    search_take(&tune.search, cost / work_of_iteration());
}

static void end_run(const epop_position_t *at)
{
    double seconds = seconds_of_run();
    if (tune.leads)
        judge_run(seconds);
    take_order(at);
}

/* Another number of ranks is on its way: rank 0 gives up after a while. Collective over the world. */
static void await_ranks(const epop_position_t *at)
{
    int given_up = tune.leads && monotonic_seconds() > tune.deadline;
    tell(&given_up, sizeof given_up);
    if (!given_up)
        return;
    if (tune.leads)
        search_take(&tune.search, 0);
    take_order(at);
}

/* ---- Hooks -------------------------------------------------------------------------------------- */

static void begin_search(const epop_position_t *at)
{
    levers_add_tunables(&tune.levers);
    levers_begin(&tune.levers, at->size);
    tune.ranks = at->size;
    tune.begun = true;
    if (!tune.leads)
        return;
    search_begin(&tune.search, tune.levers.knobs, tune.levers.count, tune.options.bound);
    if (search_knob_of_ranks(&tune.search) < 0 || (levers_have_mpi() && epop__job_grows()))
        return;
    search_keep_ranks(&tune.search);
    say_line("note: driver 'tune': this job can become smaller, but not larger again: its size is not tuned");
}

static bool concerns(const epop_position_t *at)
{
    return at->pc == tune.pc && tune.begun;
}

/* On rank 0, behind an adaptation: is the number of ranks what it asked for? */
static void look_at_ranks(const epop_position_t *at)
{
    bool wanted = tune.ranks_asked && ranks_of(&tune.order.setting) == at->size;
    double took = monotonic_seconds() - (tune.deadline - RANKS_SECONDS);
    if (wanted && tune.resize < took)
        tune.resize = took;
    if (!wanted && at->size != tune.ranks && !tune.search.ranks_kept) {
        search_keep_ranks(&tune.search);
        if (search_knob_of_ranks(&tune.search) >= 0)
            say_line("note: driver 'tune': somebody else changes the number of ranks, so that it is not tuned");
    }
    tune.ranks = at->size;
    tune.ranks_asked = false;
}

/* Joining ranks come here, too, and hear at the end of the hold what the others do. */
static void tune_enter(void *state, const epop_position_t *at)
{
    (void)state;
    if (at->pc != tune.pc || (epop_status() == EPOP_JOINING && !tune.joined))
        return;
    bool first = !tune.begun;
    if (first) {
        tune.leads = is_rank_0(at);
        begin_search(at);
    }
    budget_enter(&tune.budget, monotonic_seconds(), first || is_searched());
    tune.done = at->iteration;
    if (tune.leads && tune.resync)
        look_at_ranks(at);
    struct setting before = tune.order.setting;
    if (first || tune.resync || tune.order.step == STEP_REST)
        take_order(at);
    else
        restart_run();
    tune.in_visit = first || !memcmp(&before, &tune.order.setting, sizeof before); /* else it counts from the next on */
}

static void tune_iteration_end(void *state, const epop_position_t *at)
{
    (void)state;
    if (!concerns(at))
        return;
    tune.done = at->iteration + 1;
    if (tune.order.step == STEP_RANKS) {
        await_ranks(at);
    } else if (tune.order.step == STEP_RUN && tune.warm > 0) {
        if (--tune.warm == 0)
            begin_run();
    } else if (tune.order.step == STEP_RUN) {
        end_lap();
        if (--tune.left == 0)
            end_run(at);
    } else if (tune.order.step == STEP_VISIT) {
        end_lap();
    }
}

/* With the best setting. */
static void count_the_rest(void)
{
    if (!tune.leads || tune.order.step != STEP_END || tune.spoilt)
        return;
    count_iterations(monotonic_seconds() - tune.begin);
}

static void tune_leave(void *state, const epop_position_t *at)
{
    (void)state;
    if (!concerns(at))
        return;
    if (tune.order.step == STEP_VISIT && tune.in_visit)
        end_run(at);
    else if (tune.order.step == STEP_PAUSE && tune.in_visit)
        take_order(at);
    else
        count_the_rest();
    if (tune.leads)
        budget_leave(&tune.budget, monotonic_seconds());
}

static void tune_hold_begin(void *state, const epop_position_t *at)
{
    (void)state;
    if (concerns(at))
        count_the_rest();
    tune.adapted = false;
    tune.spoilt = true;
}

static void tune_adapts(void *state, const epop_position_t *at)
{
    (void)state, (void)at;
    tune.adapted = true;
}

/* In another phase: have the others entered this one already? Then the next time all hear how it goes on. Collective
 * over the world. */
static void hear_of_ranks(const epop_position_t *at)
{
    int begun = tune.begun;
    tell(&begun, sizeof begun);
    tune.resync = begun;
    if (!begun)
        return;
    if (!tune.begun)
        begin_search(at);
    tell(&tune.order, sizeof tune.order);
    levers_set(&tune.levers, &tune.order.setting);
}

static void tune_hold_end(void *state, const epop_position_t *at)
{
    (void)state;
    tune.joined = at->rank >= 0;
    if (at->rank < 0)
        return;
    if (at->pc != tune.pc) {
        if (tune.adapted)
            hear_of_ranks(at);
        return;
    }
    tune.done = at->iteration;
    if (!tune.adapted) {
        if (tune.begun && tune.order.step == STEP_END)
            begin_run();
        return;
    }
    if (!tune.begun)
        begin_search(at);
    if (tune.leads)
        look_at_ranks(at);
    take_order(at);
}

static void tune_finished(void *state, const epop_position_t *at)
{
    (void)state, (void)at;
    if (!tune.leads || !tune.begun)
        return;
    search_end(&tune.search);
    keep_result();
}

/* INIT has made it when it returns. */
static void tune_block_leave(void *state, const epop_position_t *at, epop_block_t block, void *data)
{
    (void)state, (void)at, (void)block;
    tune.data = data;
}

static void tune_close(void *state)
{
    (void)state;
    levers_free(&tune.levers);
}

/* ---- The result --------------------------------------------------------------------------------- */

static char *tune_record(void *state, int last)
{
    (void)state, (void)last;
    pthread_mutex_lock(&tune.lock);
    char *text = tune.result ? strdup(tune.result) : NULL;
    pthread_mutex_unlock(&tune.lock);
    return text;
}

/* Of the process that has led the search. */
static const char *find_result(const epop_job_t *job)
{
    for (int i = 0; i < job->record_count; i++)
        if (job->records[i].text[0] == '{')
            return job->records[i].text;
    return NULL;
}

static void print_settings(const cJSON *result)
{
    const cJSON *each;
    cJSON_ArrayForEach(each, cJSON_GetObjectItemCaseSensitive(result, "settings"))
        fprintf(stderr, "  %-24s %d -> %d\n", json_text(each, "name"), json_int(each, "default", 0),
                json_int(each, "value", 0));
    if (cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(result, "speeds")) > 1)
        fprintf(stderr, "  %-24s %d; up to %d are used well\n", "ranks", json_int(result, "ranks", 0),
                json_int(result, "preferred", 0));
}

static void print_result(const cJSON *result)
{
    if (!json_int(result, "runs", 0)) {
        say_line("driver 'tune': nothing was tried: %s",
                 tune.levers.count ? "the phase was too short"
                                   : "the program has no tunables; see also --sizes, --threads and --cvar");
        return;
    }
    fprintf(stderr, "tuned: '%s' of %s is %.2f times as fast\n", json_text(result, "phase"),
            json_text(result, "program"), json_number(result, "gain", 1));
    print_settings(result);
    fprintf(stderr, "  %s within %.3g %%; %d runs in %.3g s, %.3g %% of the phase\n",
            cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(result, "sure")) ? "sure" : "not sure",
            100 * json_number(result, "bound", 0), json_int(result, "runs", 0), json_number(result, "seconds", 0),
            100 * json_number(result, "share", 0));
}

static int tune_write(void *state, const epop_job_t *job)
{
    (void)state;
    struct error error = {0};
    const char *text = find_result(job);
    if (!text)
        return EPOP_OK;
    cJSON *result = cJSON_Parse(text);
    if (!job->quiet && result)
        print_result(result);
    cJSON_Delete(result);
    if (!tune.options.path || !output_write(tune.options.path, text, &error))
        return EPOP_OK;
    say_line("driver 'tune': %s", error.text);
    return EPOP_ERR_SYSTEM;
}

const epop_driver_t driver_tune = {
    .abi_version = EPOP_DRIVER_ABI_VERSION,
    .struct_size = sizeof(epop_driver_t),
    .name = "tune",
    .summary = "runs it; finds the settings with which it is fastest",
    .options = options,
    .option = tune_option,
    .loaded = tune_loaded,
    .element_enter = tune_enter,
    .element_leave = tune_leave,
    .iteration_end = tune_iteration_end,
    .adaptation_begin = tune_adapts,
    .finished = tune_finished,
    .close = tune_close,
    .hold_begin = tune_hold_begin,
    .hold_end = tune_hold_end,
    .explain = tune_explain,
    .record = tune_record,
    .write = tune_write,
    .block_leave = tune_block_leave,
};
