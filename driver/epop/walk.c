/* Walks a program: its elements one after the other, their blocks, and the probes at which it is adapted. */
#include "driver/epop/walk.h"

#include <stdio.h>

#include "epop_api/program.h"
#include "epop_api/tune.h"

/* A branch may turn a program back, but between two phases it can do so only so often before it is called endless. */
#define BRANCHES_IN_A_ROW 1000000

/* A block of the program, not of an element: drivers do not hear of it. */
#define BLOCK_RELEASE (EPOP_BLOCK_BRANCH + 1)

/* What the steps below return besides an outcome. */
#define WALK_ON (-1)

/* Behind the end: the last one. */
static const epop_element_t *element_at(const struct walk *w)
{
    int last = w->program->size - 1;
    return &w->program->elements[w->position.pc < last ? w->position.pc : last];
}

/* ---- Failures ----------------------------------------------------------------------------------- */

static void describe_error(struct walk *w, const char *what)
{
    const epop_position_t *p = &w->position;
    const epop_element_t *element = element_at(w);
    snprintf(w->error, sizeof w->error, "%s: element %d '%s' (%s), iteration %lld, rank %d of %d: %s", w->program->name,
             (int)(element - w->program->elements),
             element->name ? element->name : epop_element_type_name(element->type),
             epop_element_type_name(element->type), (long long)p->iteration, p->rank, p->size, what);
}

static int fail_walk(struct walk *w, int error, const char *what)
{
    describe_error(w, what);
    drivers_failed(w->drivers, &w->position, error);
    return WALK_FAILED;
}

static int fail_block(struct walk *w, const char *block, int error)
{
    char what[160];
    bool ours = error >= EPOP_ERR_ARGUMENT && error <= EPOP_ERR_SYSTEM;
    snprintf(what, sizeof what, "its %s block returned %d%s%s%s", block, error, ours ? " (" : "",
             ours ? epop_result_text(error) : "", ours ? ")" : "");
    return fail_walk(w, error, what);
}

void walk_quits(struct walk *w, const char *call)
{
    static const char *const names[] = {"init", "adapt", "exec", "loop_condition", "branch_condition", "release"};
    char what[100];
    int block = atomic_load_explicit(&w->block, memory_order_relaxed);
    if (block)
        snprintf(what, sizeof what, "its %s block called %s", names[block - 1], call);
    else
        snprintf(what, sizeof what, "%s was called between its blocks", call);
    describe_error(w, what);
}

bool walk_exits(struct walk *w, int status)
{
    char call[32];
    snprintf(call, sizeof call, "exit(%d)", status);
    if (!atomic_load_explicit(&w->block, memory_order_relaxed))
        return false;
    walk_quits(w, call);
    drivers_failed(w->drivers, &w->position, EPOP_ERR_STATE);
    return true;
}

/* What the program describes is as it has to be, as far as that can be told here. */
static int look_at_data(struct walk *w)
{
    const char *fault = w->elastic->look(w->elastic->context, w->position.pc);
    return fault ? fail_walk(w, EPOP_ERR_ARGUMENT, fault) : WALK_ON;
}

/* ---- Position ----------------------------------------------------------------------------------- */

static void look_at_world(struct walk *w)
{
    w->elastic->world(w->elastic->context, &w->position.rank, &w->position.size);
    atomic_store(&w->elastic->live->rank, w->position.rank);
    atomic_store(&w->elastic->live->size, w->position.size);
}

static void publish_iteration(const struct walk *w)
{
    atomic_store_explicit(&w->elastic->live->iteration, w->position.iteration, memory_order_relaxed);
}

static void publish_position(const struct walk *w)
{
    atomic_store_explicit(&w->elastic->live->pc, w->position.pc, memory_order_relaxed);
    atomic_store_explicit(&w->elastic->live->visit, w->position.visit, memory_order_relaxed);
    publish_iteration(w);
}

/* Drivers look at it from their other threads. */
static void next_iteration(struct walk *w)
{
    __atomic_store_n(&w->position.iteration, w->position.iteration + 1, __ATOMIC_RELAXED);
    publish_iteration(w);
}

/* Its iterations are counted from here on, in time. */
static void tally_on(struct walk *w)
{
    epop_element_type type = element_at(w)->type;
    if (type == EPOP_EP)
        w->elastic->entered(w->elastic->context, w->position.pc);
    if (type == EPOP_EP || type == EPOP_RP)
        epop__tally_begin(&w->elastic->live->tally, &w->position);
}

static void tally_off(struct walk *w)
{
    epop__tally_end(&w->elastic->live->tally, w->position.iteration);
}

static void enter_element(struct walk *w, int pc)
{
    w->position.pc = pc;
    w->position.iteration = 0;
    publish_position(w);
    tally_on(w);
    if (w->drivers->element_hooks)
        drivers_element_enter(w->drivers, &w->position);
}

static void leave_element(struct walk *w)
{
    w->elastic->left(w->elastic->context);
    tally_off(w);
    if (w->drivers->element_hooks)
        drivers_element_leave(w->drivers, &w->position);
}

/* ---- Blocks ------------------------------------------------------------------------------------- */

static void block_enter(struct walk *w, epop_block_t block)
{
    atomic_store_explicit(&w->block, 1 + (int)block, memory_order_relaxed);
    if (w->drivers->block_hooks)
        drivers_block_enter(w->drivers, &w->position, block, w->data);
}

static void block_leave(struct walk *w, epop_block_t block)
{
    atomic_store_explicit(&w->block, 0, memory_order_relaxed);
    if (w->drivers->block_hooks)
        drivers_block_leave(w->drivers, &w->position, block, w->data);
}

static bool goes_on(struct walk *w, const epop_element_t *element)
{
    block_enter(w, EPOP_BLOCK_LOOP);
    int answer = element->loop_condition(w->data);
    block_leave(w, EPOP_BLOCK_LOOP);
    if (w->drivers->block_hooks)
        drivers_decided(w->drivers, &w->position, answer);
    return answer;
}

/* This process leaves the program. */
static void release_process(struct walk *w)
{
    atomic_store_explicit(&w->block, 1 + BLOCK_RELEASE, memory_order_relaxed);
    w->elastic->release(w->elastic->context);
    atomic_store_explicit(&w->block, 0, memory_order_relaxed);
}

/* The next pc; the number of elements where the program ends. */
static int take_branch(struct walk *w)
{
    block_enter(w, EPOP_BLOCK_BRANCH);
    int next = element_at(w)->branch_condition(w->position.pc, w->data);
    block_leave(w, EPOP_BLOCK_BRANCH);
    if (next == EPOP_END)
        next = w->program->size;
    if (w->drivers->block_hooks)
        drivers_decided(w->drivers, &w->position, next);
    return next;
}

/* ---- The probe and the adaptation --------------------------------------------------------------- */

/* The adapt block inside its window. WALK_ON if this process stays in the program. */
static int adapt_in_window(struct walk *w)
{
    const struct elastic *e = w->elastic;
    struct error problem;
    if (e->window_open(e->context, &problem))
        return WALK_CALLED_OFF;
    look_at_world(w);
    epop__meter_world(w->elastic->meter); /* before anybody can know that there is another */
    drivers_adaptation_begin(w->drivers, &w->position);
    block_enter(w, EPOP_BLOCK_ADAPT);
    int error = element_at(w)->phase_adapt(w->data);
    block_leave(w, EPOP_BLOCK_ADAPT);
    if (error)
        return fail_block(w, "adapt", error);
    enum window_result result = e->window_close(e->context, &problem);
    if (result == WINDOW_BROKEN)
        return fail_walk(w, EPOP_ERR_STATE, problem.text);
    if (w->drivers->adapted_hooks)
        drivers_adapted(w->drivers, &w->position, e->adapted(e->context));
    drivers_adaptation_end(w->drivers, &w->position);
    look_at_world(w);
    if (result == WINDOW_STAY)
        return WALK_ON;
    release_process(w);
    return WALK_LEFT;
}

static epop_progress_t present_progress(const struct walk *w)
{
    epop_progress_t progress = {.iteration = w->position.iteration};
    if (element_at(w)->progress)
        element_at(w)->progress(w->data, &progress);
    return progress;
}

static void report_progress(struct walk *w)
{
    epop_progress_t progress = present_progress(w);
    w->elastic->report_progress(w->elastic->context, &progress);
}

/* What a process does in a hold, which goes on behind it. */
static bool is_errand(enum action action)
{
    return action == ACTION_PROGRESS || action == ACTION_CHECKPOINT;
}

static void run_errand_in_hold(struct walk *w, enum action action, const struct position *at)
{
    if (action == ACTION_PROGRESS)
        report_progress(w);
    else
        w->elastic->checkpoint(w->elastic->context, at);
}

/* A probe that has to hold. WALK_ON, or the outcome; *stop when the program is told to end. */
static int hold_at_probe(struct walk *w, int needs, bool *stop)
{
    struct position position = {.pc = w->position.pc, .visit = w->position.visit, .iteration = w->position.iteration};
    enum action action;
    tally_off(w);
    drivers_hold_begin(w->drivers, &w->position);
    while (is_errand(action = w->elastic->hold(w->elastic->context, &position, needs)))
        run_errand_in_hold(w, action, &position);
    *stop = action == ACTION_STOP;
    int result = action == ACTION_ADAPT ? adapt_in_window(w) : WALK_ON;
    if (result != WALK_FAILED)
        drivers_hold_end(w->drivers, &w->position);
    if (!*stop && (result == WALK_ON || result == WALK_CALLED_OFF))
        tally_on(w);
    return result == WALK_CALLED_OFF ? WALK_ON : result;
}

/* Does the element about to start accept the world as it is? *needs: the size it asks for, 0 if it does. */
static int check_size(struct walk *w, int *needs)
{
    const epop_sizes_t *sizes = epop_sizes_at(w->program, w->position.pc);
    *needs = 0;
    if (epop_sizes_accept(sizes, w->position.size))
        return WALK_ON;
    *needs = epop_sizes_round_down(sizes, w->position.size);
    if (*needs && element_at(w)->type == EPOP_EP)
        return WALK_ON;
    char what[160];
    snprintf(what, sizeof what, "it does not accept %d ranks, and %s", w->position.size,
             *needs ? "a rigid phase cannot be resized" : "no smaller number either");
    return fail_walk(w, EPOP_ERR_REFUSED, what);
}

/* ---- The elements ------------------------------------------------------------------------------- */

/* While somebody measures. */
static void begin_measured(const struct walk *w)
{
    if (meter_is_on(w->elastic->meter))
        epop__meter_begin(w->elastic->meter, w->position.pc, w->position.size);
}

/* Rigid phases tell no progress: they have no probe where others could ask for it. Neither do those that have ended. */
static void measure_iteration(const struct walk *w, bool again)
{
    struct meter *meter = w->elastic->meter;
    bool wanted = epop__meter_iteration(meter, w->position.pc, w->position.size);
    if (!wanted || !again || w->position.rank != 0 || element_at(w)->type != EPOP_EP)
        return;
    epop_progress_t progress = present_progress(w);
    epop__meter_progress(meter, &(struct meter_progress){.pc = w->position.pc,
                                                         .visit = w->position.visit,
                                                         .iteration = progress.iteration,
                                                         .bound = progress.bound});
}

/* From the end of an exec block on: is there another iteration? */
static bool comes_again(struct walk *w, const epop_element_t *element)
{
    next_iteration(w);
    bool again = element->loop_condition && goes_on(w, element);
    if (meter_is_on(w->elastic->meter))
        measure_iteration(w, again);
    return again;
}

static int exec_once(struct walk *w, const epop_element_t *element)
{
    if (w->drivers->iteration_hooks)
        drivers_iteration_begin(w->drivers, &w->position);
    block_enter(w, EPOP_BLOCK_EXEC);
    int error = element->phase_exec(w->data);
    block_leave(w, EPOP_BLOCK_EXEC);
    if (error)
        return fail_block(w, "exec", error);
    if (w->drivers->iteration_hooks)
        drivers_iteration_end(w->drivers, &w->position);
    return WALK_ON;
}

/* joined: this process has just come in at this iteration, through its adapt block; it does not probe again. */
static int run_elastic(struct walk *w, bool joined, bool *stop)
{
    const epop_element_t *element = element_at(w);
    struct ceiling *ceiling = w->elastic->ceiling;
    int needs = 0, result = joined ? WALK_ON : look_at_data(w);
    if (result == WALK_ON && !joined)
        result = check_size(w, &needs);
    if (result != WALK_ON)
        return result;
    begin_measured(w);
    do {
        if (!joined && (ceiling_probe(ceiling) || needs)) {
            result = hold_at_probe(w, needs, stop);
            if (result != WALK_ON || *stop)
                return result;
            needs = 0;
            begin_measured(w);
        }
        joined = false;
        result = exec_once(w, element);
        if (result != WALK_ON)
            return result;
    } while (comes_again(w, element));
    return WALK_ON;
}

static int run_rigid(struct walk *w)
{
    const epop_element_t *element = element_at(w);
    int needs, result = check_size(w, &needs);
    if (result != WALK_ON)
        return result;
    begin_measured(w);
    do {
        result = exec_once(w, element);
    } while (result == WALK_ON && comes_again(w, element));
    return result;
}

static int run_branch(struct walk *w, int *next)
{
    const epop_program_t *program = w->program;
    char what[160];
    *next = take_branch(w);
    if (*next < 0 || *next > program->size)
        snprintf(what, sizeof what,
                 "it branched to %d, but the elements are 0 to %d (EPOP_END, or %d, ends the program)", *next,
                 program->size - 1, program->size);
    else if (*next < program->size && program->elements[*next].type == EPOP_INIT)
        snprintf(what, sizeof what, "it branched to element %d, which is INIT; INIT runs once only", *next);
    else if (++w->visits_without_phase > BRANCHES_IN_A_ROW)
        snprintf(what, sizeof what, "an endless loop: %d branches in a row without a phase between them",
                 BRANCHES_IN_A_ROW);
    else
        return WALK_ON;
    return fail_walk(w, EPOP_ERR_STATE, what);
}

/* The element at pc; *next is where to go on. */
static int step_element(struct walk *w, bool joined, int *next, bool *stop)
{
    int result = WALK_ON;
    *next = w->position.pc + 1;
    switch (element_at(w)->type) {
    case EPOP_EP:
        result = run_elastic(w, joined, stop);
        w->visits_without_phase = 0;
        break;
    case EPOP_RP:
        result = run_rigid(w);
        w->visits_without_phase = 0;
        break;
    case EPOP_BRANCH:
        result = run_branch(w, next);
        break;
    case EPOP_INIT: /* validation and run_branch keep the walk from coming here */
        break;
    }
    return result;
}

/* Told to end: the finalizer, if there is one, and no more. */
static int run_finalizer(struct walk *w)
{
    if (w->program->finalizer < 0)
        return WALK_ON;
    w->position.visit++;
    enter_element(w, w->program->finalizer);
    int result = run_rigid(w);
    leave_element(w);
    return result;
}

/* How this process comes to the present element. */
enum entry {
    ENTRY_NEW,   /* by its beginning */
    ENTRY_AGAIN, /* at a probe of it, with what was saved there */
    ENTRY_JOINED /* by an adapt block, behind the probe */
};

/* From the present pc to the end. */
static enum walk_outcome walk_on(struct walk *w, enum entry entry)
{
    bool stop = false;
    int result = WALK_ON, next;
    while (result == WALK_ON && !stop && w->position.pc < w->program->size) {
        if (entry == ENTRY_NEW) {
            w->position.visit++;
            enter_element(w, w->position.pc);
        }
        result = step_element(w, entry == ENTRY_JOINED, &next, &stop);
        entry = ENTRY_NEW;
        if (result == WALK_ON) {
            leave_element(w);
            w->position.pc = next;
        }
    }
    if (result == WALK_ON && stop)
        result = run_finalizer(w);
    atomic_store(&w->elastic->live->pc, -1);
    if (result != WALK_ON)
        return (enum walk_outcome)result;
    release_process(w);
    drivers_finished(w->drivers, &w->position);
    return WALK_ENDED;
}

/* ---- INIT --------------------------------------------------------------------------------------- */

static int run_init(struct walk *w, int *argc, char ***argv, bool joining)
{
    w->position = (epop_position_t){.program = w->program};
    w->data = w->program->data;
    look_at_world(w);
    enter_element(w, 0);
    block_enter(w, EPOP_BLOCK_INIT);
    int error = epop__program_init(w->program)(argc, argv, &w->data);
    block_leave(w, EPOP_BLOCK_INIT);
    if (error)
        return fail_block(w, "init", error);
    leave_element(w);
    if (w->begun)
        w->begun();
    w->elastic->begun(w->elastic->context, w->program, w->data, joining);
    look_at_world(w); /* INIT may have been the first to ask for it */
    int result = joining ? WALK_ON : look_at_data(w);
    w->position.pc = 1;
    return result;
}

/* The data is there as it was at that probe, which is made again. */
static enum walk_outcome walk_again(struct walk *w, const struct position *position)
{
    w->position.visit = position->visit;
    w->position.iteration = position->iteration;
    w->position.pc = position->pc;
    publish_position(w);
    tally_on(w);
    if (w->drivers->element_hooks)
        drivers_element_enter(w->drivers, &w->position);
    return walk_on(w, ENTRY_AGAIN);
}

/* No phase runs: what INIT has made is looked at, and freed. */
static enum walk_outcome end_behind_init(struct walk *w)
{
    const char *fault = w->elastic->inspect(w->elastic->context);
    w->position.pc = 0;
    if (fault)
        return (enum walk_outcome)fail_walk(w, EPOP_ERR_ARGUMENT, fault);
    atomic_store(&w->elastic->live->pc, -1);
    drivers_finished(w->drivers, &w->position);
    release_process(w);
    return WALK_ENDED;
}

static enum walk_outcome walk_start(struct walk *w, int *argc, char ***argv)
{
    struct position position;
    int result = run_init(w, argc, argv, false);
    if (result != WALK_ON)
        return (enum walk_outcome)result;
    if (w->drivers->init_only)
        return end_behind_init(w);
    return w->elastic->restart(w->elastic->context, &position) ? walk_again(w, &position) : walk_on(w, ENTRY_NEW);
}

static enum walk_outcome walk_join(struct walk *w, int *argc, char ***argv)
{
    struct position position;
    bool ready = run_init(w, argc, argv, true) == WALK_ON;
    if (!w->elastic->join(w->elastic->context, ready ? NULL : w->error, &position)) {
        release_process(w);
        return WALK_CALLED_OFF;
    }
    w->position.visit = position.visit;
    w->position.iteration = position.iteration;
    w->position.pc = position.pc;
    publish_position(w);
    if (w->drivers->element_hooks)
        drivers_element_enter(w->drivers, &w->position);
    drivers_hold_begin(w->drivers, &w->position);
    int result = adapt_in_window(w);
    if (result == WALK_ON) {
        drivers_hold_end(w->drivers, &w->position);
        tally_on(w);
    } else if (result == WALK_CALLED_OFF) {
        release_process(w);
    }
    return result == WALK_ON ? walk_on(w, ENTRY_JOINED) : (enum walk_outcome)result;
}

/* The program may be unloaded after the walk. */
static enum walk_outcome walk_whole(struct walk *w, int *argc, char ***argv, bool joining)
{
    atomic_store(&w->elastic->live->program, w->program);
    epop__tunables_forget();
    epop__tally_open(&w->elastic->live->tally, w->program->size);
    enum walk_outcome outcome = joining ? walk_join(w, argc, argv) : walk_start(w, argc, argv);
    atomic_store(&w->elastic->live->program, NULL);
    epop__tally_close(&w->elastic->live->tally);
    return outcome;
}

enum walk_outcome walk_from_start(struct walk *w, int *argc, char ***argv)
{
    return walk_whole(w, argc, argv, false);
}

enum walk_outcome walk_joining(struct walk *w, int *argc, char ***argv)
{
    return walk_whole(w, argc, argv, true);
}
