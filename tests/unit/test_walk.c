/*
 * The walk with a runtime that only pretends: no MPI, no control plane. What it calls is written down as a line of
 * words, and what the runtime answers is scripted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/epop/walk.h"

/* ---- What happened, in words ---------------------------------------------------------- */

static char story[4000];

static void __attribute__((format(printf, 1, 2))) tell(const char *format, ...)
{
    size_t length = strlen(story);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(story + length, sizeof story - length, format, arguments);
    va_end(arguments);
}

/* ---- The runtime ------------------------------------------------------------------------ */

/* What happens at one probe: it holds, and is told this. */
struct event {
    uint64_t probe;
    enum action action;
};

static struct {
    struct ceiling ceiling;
    struct live_position live;
    struct meter meter;
    struct event events[8];
    size_t next;
    int rank, size, size_after;
    enum window_result window;
    bool open_fails, joins, restarts;
    struct position at; /* where a joining process comes in, or a restarted one goes on */
    void *data;         /* of the program, until it is released */
    bool joining, tells_release;
} mock;

static void arm(void)
{
    uint64_t limit = mock.events[mock.next].probe;
    ceiling_lower(&mock.ceiling, limit ? limit : CEILING_NONE);
}

static void mock_world(void *context, int *rank, int *size)
{
    (void)context;
    *rank = mock.rank;
    *size = mock.size;
}

static void mock_begun(void *context, const epop_program_t *of, void *data, bool joining)
{
    (void)context;
    (void)of;
    mock.data = data;
    mock.joining = joining;
}

static const char *mock_inspect(void *context)
{
    (void)context;
    return NULL;
}

static const char *mock_look(void *context, int pc)
{
    (void)context, (void)pc;
    return NULL;
}

static void mock_entered(void *context, int pc)
{
    (void)context, (void)pc;
}

static void mock_left(void *context)
{
    (void)context;
}

static void mock_release(void *context)
{
    (void)context;
    if (mock.data && mock.tells_release)
        tell("release ");
    mock.data = NULL;
}

static enum action mock_hold(void *context, const struct position *at, int needs)
{
    (void)context;
    tell("hold(%d.%lld.%lld", at->pc, (long long)at->visit, (long long)at->iteration);
    tell(needs ? " needs %d) " : ") ", needs);
    if (atomic_load(&mock.ceiling.count) != mock.events[mock.next].probe)
        return ACTION_CONTINUE;
    enum action action = mock.events[mock.next++].action;
    if (mock.events[mock.next].probe != mock.events[mock.next - 1].probe)
        arm();
    return action;
}

static void mock_progress(void *context, const epop_progress_t *progress)
{
    (void)context;
    tell("progress(%lld/%lld) ", (long long)progress->iteration, (long long)progress->bound);
}

static void mock_checkpoint(void *context, const struct position *at)
{
    (void)context;
    tell("checkpoint(%d.%lld.%lld) ", at->pc, (long long)at->visit, (long long)at->iteration);
}

static bool mock_restart(void *context, struct position *at)
{
    (void)context;
    *at = mock.at;
    return mock.restarts;
}

static bool mock_join(void *context, const char *failure, struct position *at)
{
    (void)context;
    tell("join%s ", failure ? "(failed)" : "");
    *at = mock.at;
    return mock.joins && !failure;
}

static int mock_open(void *context, struct error *error)
{
    (void)context;
    error_set(error, ERROR_FAILED, "no connection");
    tell("open ");
    return mock.open_fails ? -1 : 0;
}

static enum window_result mock_close(void *context, struct error *error)
{
    (void)context;
    error_set(error, ERROR_FAILED, "its adapt block forgot something");
    tell("close ");
    if (mock.size_after)
        mock.size = mock.size_after;
    return mock.window;
}

static const epop_adapted_t *mock_adapted(void *context)
{
    static const epop_adapted_t adapted = {.adaptation = 7};
    (void)context;
    return &adapted;
}

static const struct elastic elastic = {.ceiling = &mock.ceiling,
                                       .live = &mock.live,
                                       .meter = &mock.meter,
                                       .world = mock_world,
                                       .begun = mock_begun,
                                       .look = mock_look,
                                       .inspect = mock_inspect,
                                       .release = mock_release,
                                       .entered = mock_entered,
                                       .left = mock_left,
                                       .hold = mock_hold,
                                       .report_progress = mock_progress,
                                       .checkpoint = mock_checkpoint,
                                       .restart = mock_restart,
                                       .join = mock_join,
                                       .window_open = mock_open,
                                       .window_close = mock_close,
                                       .adapted = mock_adapted};

/* ---- The program: its data counts down what is left ------------------------------------------ */

static struct {
    int loops; /* iterations per phase */
    int turns; /* times that the branch goes back */
    int left;
    int fault; /* what the block named by fault_in returns */
    const char *fault_in;
    int branch_to; /* instead of where it should; 0: as it should */
} script;

static int outcome_of(const char *block)
{
    tell("%s ", block);
    return script.fault_in && !strcmp(script.fault_in, block) ? script.fault : 0;
}

static int init(int *argc, char ***argv, void **data)
{
    assert_int_equal(*argc, 2);
    assert_string_equal((*argv)[1], "word");
    *data = &script;
    script.left = script.loops;
    return outcome_of("init");
}

static int exec(void *data)
{
    assert_ptr_equal(data, &script);
    return outcome_of("exec");
}

static int rigid(void *data)
{
    assert_ptr_equal(data, &script);
    return outcome_of("rigid");
}

static int last(void *data)
{
    (void)data;
    return outcome_of("last");
}

static int adapt(void *data)
{
    assert_ptr_equal(data, &script);
    return outcome_of("adapt");
}

static int loop(void *data)
{
    (void)data;
    tell("loop ");
    if (--script.left > 0)
        return 1;
    script.left = script.loops;
    return 0;
}

static int branch(int pc, void *data)
{
    assert_ptr_equal(data, &script);
    tell("branch ");
    if (script.branch_to)
        return script.branch_to;
    return script.turns-- > 0 ? 1 : pc + 1;
}

static void progress(void *data, epop_progress_t *progress)
{
    assert_ptr_equal(data, &script);
    progress->bound = 100;
}

enum { START, WORK, RIGID, AGAIN, LAST, ELEMENTS };

static epop_program_t *program;
static struct drivers drivers;
static struct walk walk;
static char *words[] = {"program", "word", NULL};

static int set_up(void **state)
{
    (void)state;
    program = epop_program_create("test");
    epop_add_init(program, "start", init);
    epop_add_elastic(program, "work", exec, adapt, loop);
    epop_add_rigid(program, "rigid", rigid, loop);
    epop_add_branch(program, "again", branch);
    epop_add_rigid(program, "last", last, NULL);
    program->elements[WORK].progress = progress;
    program->finalizer = -1;
    memset(&mock, 0, sizeof mock);
    ceiling_init(&mock.ceiling);
    mock.size = 3;
    memset(&script, 0, sizeof script);
    script.loops = 2;
    memset(&drivers, 0, sizeof drivers);
    walk = (struct walk){.program = program, .elastic = &elastic, .drivers = &drivers};
    story[0] = '\0';
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    epop_program_free(program);
    return 0;
}

static enum walk_outcome start(void)
{
    int argc = 2;
    char **argv = words;
    arm();
    return walk_from_start(&walk, &argc, &argv);
}

static enum walk_outcome join(void)
{
    int argc = 2;
    char **argv = words;
    arm();
    return walk_joining(&walk, &argc, &argv);
}

#define ONCE "exec loop exec loop rigid loop rigid loop branch "

/* ---- Tests: the order of things ----------------------------------------------------------------- */

static void from_start_to_end(void **state)
{
    (void)state;
    script.turns = 1;
    assert_int_equal(start(), WALK_ENDED);
    assert_string_equal(story, "init " ONCE ONCE "last ");
    assert_int_equal(atomic_load(&mock.ceiling.count), 4); /* probes: only of the elastic phase */
    assert_int_equal(walk.position.visit, 7);
    assert_int_equal(atomic_load(&mock.live.pc), -1);
}

static int64_t no_mpi(void)
{
    return 0;
}

static int64_t iterations_measured(int pc)
{
    struct meter_reading reading;
    for (int i = 0; i < METER_CELLS; i++)
        if (meter_read(&mock.meter, i, 1e-9, &reading) && reading.pc == pc)
            return reading.iterations;
    return -1;
}

/* Phases, elastic and rigid, with or without a condition; nothing else. */
static void each_iteration_is_measured(void **state)
{
    (void)state;
    mock.meter.mpi_ticks = no_mpi;
    meter_switch(&mock.meter, true, 1e9);
    script.turns = 1;
    mock.events[0] = (struct event){2, ACTION_CONTINUE};
    assert_int_equal(start(), WALK_ENDED);
    assert_int_equal(iterations_measured(0), -1);
    assert_int_equal(iterations_measured(1), 4);
    assert_int_equal(iterations_measured(2), 4);
    assert_int_equal(iterations_measured(3), -1);
    assert_int_equal(iterations_measured(4), 1);
}

/* Once each value is there, unless the phase has ended, without a hold; with the place where it was made, though the
 * walk has gone on. */
static void progress_is_asked_for_while_it_is_measured(void **state)
{
    struct meter_progress progress;
    int64_t when;
    (void)state;
    mock.meter.mpi_ticks = no_mpi;
    meter_switch(&mock.meter, true, 1e9);
    assert_int_equal(start(), WALK_ENDED);
    assert_null(strstr(story, "hold"));
    assert_true(meter_read_progress(&mock.meter, &when, &progress));
    assert_true(progress.pc == 1 && progress.visit == 1 && progress.bound == 100);
    assert_int_equal(progress.iteration, 1); /* of two */
}

/* Also of the same size. */
static void an_adaptation_makes_another_world_to_measure(void **state)
{
    (void)state;
    mock.events[0] = (struct event){2, ACTION_ADAPT};
    assert_int_equal(start(), WALK_ENDED);
    assert_int_equal(mock.meter.world, 1);
}

static void a_branch_may_end_the_program(void **state)
{
    (void)state;
    script.branch_to = ELEMENTS;
    assert_int_equal(start(), WALK_ENDED);
    assert_string_equal(story, "init " ONCE);
}

static void a_program_of_init_alone(void **state)
{
    (void)state;
    program->size = 1;
    assert_int_equal(start(), WALK_ENDED);
    assert_string_equal(story, "init ");
}

/* ---- Probes that hold ----------------------------------------------------------------------------- */

static void a_probe_that_holds_for_nothing(void **state)
{
    (void)state;
    mock.events[0] = (struct event){2, ACTION_CONTINUE};
    assert_int_equal(start(), WALK_ENDED);
    assert_string_equal(story, "init exec loop hold(1.1.1) exec loop rigid loop rigid loop branch last ");
}

static void progress_is_told_and_the_probe_holds_again(void **state)
{
    (void)state;
    mock.events[0] = (struct event){2, ACTION_PROGRESS};
    mock.events[1] = (struct event){2, ACTION_PROGRESS};
    mock.events[2] = (struct event){2, ACTION_CONTINUE};
    assert_int_equal(start(), WALK_ENDED);
    assert_non_null(strstr(story, "loop hold(1.1.1) progress(1/100) hold(1.1.1) progress(1/100) hold(1.1.1) exec "));
}

static void data_is_saved_and_the_probe_holds_again(void **state)
{
    (void)state;
    mock.events[0] = (struct event){2, ACTION_CHECKPOINT};
    mock.events[1] = (struct event){2, ACTION_PROGRESS};
    mock.events[2] = (struct event){2, ACTION_CONTINUE};
    assert_int_equal(start(), WALK_ENDED);
    assert_non_null(strstr(story, "loop hold(1.1.1) checkpoint(1.1.1) hold(1.1.1) progress(1/100) hold(1.1.1) exec "));
}

static void an_adaptation(void **state)
{
    (void)state;
    script.turns = 1;
    mock.events[0] = (struct event){1, ACTION_ADAPT};
    mock.events[1] = (struct event){4, ACTION_ADAPT};
    mock.size_after = 5;
    assert_int_equal(start(), WALK_ENDED);
    assert_string_equal(story, "init hold(1.1.0) open adapt close " ONCE
                               "exec loop hold(1.4.1) open adapt close exec loop rigid loop rigid loop branch last ");
    assert_int_equal(walk.position.size, 5);
}

/* ---- What drivers hear --------------------------------------------------------------------------------- */

#define HEARD(hook)                                                                                                    \
    static void hear_##hook(void *state, const epop_position_t *position)                                              \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        tell("<" #hook " %d> ", position->size);                                                                       \
    }
HEARD(hold_begin)
HEARD(hold_end)
HEARD(adaptation_begin)
HEARD(adaptation_end)

static void hear_adapted(void *state, const epop_position_t *position, const epop_adapted_t *adapted)
{
    (void)state;
    (void)position;
    tell("<adapted %d> ", adapted->adaptation);
}

static void listen(void)
{
    drivers.count = 1;
    drivers.adapted_hooks = 1;
    drivers.slots[0].table = (epop_driver_t){.hold_begin = hear_hold_begin,
                                             .hold_end = hear_hold_end,
                                             .adaptation_begin = hear_adaptation_begin,
                                             .adaptation_end = hear_adaptation_end,
                                             .adapted = hear_adapted};
}

static void drivers_hear_of_a_hold_and_what_it_was_for(void **state)
{
    (void)state;
    listen();
    mock.events[0] = (struct event){1, ACTION_CONTINUE};
    mock.events[1] = (struct event){2, ACTION_ADAPT};
    mock.size_after = 5;
    assert_int_equal(start(), WALK_ENDED);
    assert_string_equal(story, "init <hold_begin 3> hold(1.1.0) <hold_end 3> exec loop <hold_begin 3> hold(1.1.1) open "
                               "<adaptation_begin 3> adapt close <adapted 7> <adaptation_end 3> <hold_end 5> exec loop "
                               "rigid loop rigid loop branch last ");
}

static void drivers_hear_where_a_joining_process_goes_on(void **state)
{
    (void)state;
    listen();
    mock.joins = true;
    mock.at = (struct position){.pc = RIGID - 1, .visit = 1, .iteration = 1};
    assert_int_equal(join(), WALK_ENDED);
    assert_non_null(strstr(story, "init join <hold_begin 3> open <adaptation_begin 3> adapt close <adapted 7> "
                                  "<adaptation_end 3> <hold_end 3> exec "));
}

static void a_rank_that_leaves_runs_nothing_more(void **state)
{
    (void)state;
    mock.events[0] = (struct event){2, ACTION_ADAPT};
    mock.window = WINDOW_LEAVE;
    assert_int_equal(start(), WALK_LEFT);
    assert_string_equal(story, "init exec loop hold(1.1.1) open adapt close ");
    assert_int_equal(atomic_load(&mock.live.pc), -1);
}

static void a_stop(void **state)
{
    (void)state;
    mock.events[0] = (struct event){2, ACTION_STOP};
    assert_int_equal(start(), WALK_ENDED);
    assert_string_equal(story, "init exec loop hold(1.1.1) ");
}

static void stop_runs_the_finalizer(void **state)
{
    (void)state;
    program->finalizer = LAST;
    mock.events[0] = (struct event){1, ACTION_STOP};
    assert_int_equal(start(), WALK_ENDED);
    assert_string_equal(story, "init hold(1.1.0) last ");
}

/* It probes where the checkpoint was made; the visit is not a new one, the next is. */
static void a_restart(void **state)
{
    (void)state;
    mock.restarts = true;
    mock.at = (struct position){.pc = WORK, .visit = 7, .iteration = 40};
    mock.events[0] = (struct event){1, ACTION_CONTINUE};
    script.loops = 2;
    assert_int_equal(start(), WALK_ENDED);
    assert_string_equal(story, "init hold(1.7.40) exec loop exec loop rigid loop rigid loop branch last ");
    assert_int_equal(walk.position.visit, 10);
}

/* ---- Joining ------------------------------------------------------------------------------------------ */

/* Adapt, then exec without another probe, at the place where the others are. */
static void a_joining_rank(void **state)
{
    (void)state;
    mock.joins = true;
    mock.at = (struct position){.pc = WORK, .visit = 7, .iteration = 40};
    mock.events[0] = (struct event){1, ACTION_CONTINUE};
    script.loops = 3;
    assert_int_equal(join(), WALK_ENDED);
    assert_string_equal(story, "init join open adapt close exec loop hold(1.7.41) exec loop exec loop "
                               "rigid loop rigid loop rigid loop branch last ");
    assert_int_equal(walk.position.visit, 10);
}

static void a_joining_rank_that_is_called_off(void **state)
{
    (void)state;
    assert_int_equal(join(), WALK_CALLED_OFF);
    assert_string_equal(story, "init join ");
}

static void a_joining_rank_whose_init_fails(void **state)
{
    (void)state;
    mock.joins = true;
    script.fault_in = "init";
    script.fault = 41;
    assert_int_equal(join(), WALK_CALLED_OFF);
    assert_string_equal(story, "init join(failed) ");
    assert_non_null(strstr(walk.error, "test: element 0 'start' (INIT), iteration 0, rank 0 of 3: its init block "
                                       "returned 41"));
}

/* ---- The end ------------------------------------------------------------------------------------------ */

/* On each way out, and the drivers' last word comes behind it. */
static void who_leaves_releases_the_data(void **state)
{
    (void)state;
    mock.tells_release = true;
    script.branch_to = EPOP_END;
    assert_int_equal(start(), WALK_ENDED);
    assert_string_equal(story, "init " ONCE "release ");
    assert_true(!mock.joining && walk.position.pc == ELEMENTS);
    script.branch_to = 0;
    story[0] = '\0';
    mock.at = (struct position){.pc = WORK, .visit = 1};
    assert_int_equal(join(), WALK_CALLED_OFF);
    assert_string_equal(story, "init join release ");
    assert_true(mock.joining);
}

static void who_leaves_in_a_window_releases_the_data(void **state)
{
    (void)state;
    mock.tells_release = true;
    mock.events[0] = (struct event){1, ACTION_ADAPT};
    mock.window = WINDOW_LEAVE;
    assert_int_equal(start(), WALK_LEFT);
    assert_string_equal(story, "init hold(1.1.0) open adapt close release ");
}

/* There is none, or it is in no state to be asked. */
static void who_fails_releases_nothing(void **state)
{
    (void)state;
    mock.tells_release = true;
    script.fault_in = "exec";
    script.fault = 1;
    assert_int_equal(start(), WALK_FAILED);
    assert_string_equal(story, "init exec ");
    story[0] = '\0';
    script.fault_in = "init";
    mock.data = NULL;
    assert_int_equal(join(), WALK_CALLED_OFF);
    assert_string_equal(story, "init join(failed) ");
}

/* ---- Failures ------------------------------------------------------------------------------------------- */

static void expect_failure(const char *last_words, const char *text)
{
    size_t length = strlen(story), end = strlen(last_words);
    assert_true(length >= end);
    assert_string_equal(story + length - end, last_words);
    assert_string_equal(walk.error, text);
}

static void blocks_that_fail(void **state)
{
    (void)state;
    static const struct {
        const char *block, *where;
    } blocks[] = {{"init", "0 'start' (INIT)"},
                  {"exec", "1 'work' (EP)"},
                  {"rigid", "2 'rigid' (RP)"},
                  {"last", "4 'last' (RP)"}};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        char text[200], words_said[20];
        tear_down(NULL);
        set_up(NULL);
        script.fault_in = blocks[i].block;
        script.fault = EPOP_ERR_MEMORY;
        assert_int_equal(start(), WALK_FAILED);
        snprintf(text, sizeof text,
                 "test: element %s, iteration 0, rank 0 of 3: its %s block returned 203 (out of memory)",
                 blocks[i].where, i ? "exec" : "init");
        snprintf(words_said, sizeof words_said, "%s ", blocks[i].block);
        expect_failure(words_said, text);
    }
}

static void an_adapt_block_that_fails(void **state)
{
    (void)state;
    mock.events[0] = (struct event){2, ACTION_ADAPT};
    script.fault_in = "adapt";
    script.fault = 7;
    assert_int_equal(start(), WALK_FAILED);
    expect_failure("open adapt ", "test: element 1 'work' (EP), iteration 1, rank 0 of 3: its adapt block returned 7");
}

static void a_window_that_is_broken(void **state)
{
    (void)state;
    mock.events[0] = (struct event){1, ACTION_ADAPT};
    mock.window = WINDOW_BROKEN;
    assert_int_equal(start(), WALK_FAILED);
    expect_failure("adapt close ",
                   "test: element 1 'work' (EP), iteration 0, rank 0 of 3: its adapt block forgot something");
}

static void a_window_that_does_not_open(void **state)
{
    (void)state;
    mock.events[0] = (struct event){1, ACTION_ADAPT};
    mock.open_fails = true;
    assert_int_equal(start(), WALK_ENDED);
    assert_non_null(strstr(story, "open exec ")); /* the adaptation is off: on as before, without the adapt block */
    assert_null(strstr(story, "adapt "));
}

static void branches_that_lead_nowhere(void **state)
{
    (void)state;
    static const struct {
        int to;
        const char *text;
    } branches[] = {
        {-1, "it branched to -1, but the elements are 0 to 4 (EPOP_END, or 5, ends the program)"},
        {6, "it branched to 6, but the elements are 0 to 4 (EPOP_END, or 5, ends the program)"},
        {AGAIN, "an endless loop: 1000000 branches in a row without a phase between them"},
    };
    for (size_t i = 0; i < sizeof branches / sizeof branches[0]; i++) {
        char text[200];
        tear_down(NULL);
        set_up(NULL);
        script.branch_to = branches[i].to;
        assert_int_equal(start(), WALK_FAILED);
        snprintf(text, sizeof text, "test: element 3 'again' (BRANCH), iteration 0, rank 0 of 3: %s", branches[i].text);
        assert_string_equal(walk.error, text);
    }
}

static int to_init(int pc, void *data)
{
    (void)pc, (void)data;
    return START;
}

static void a_branch_to_init(void **state)
{
    (void)state;
    program->elements[AGAIN].branch_condition = to_init;
    assert_int_equal(start(), WALK_FAILED);
    assert_non_null(strstr(walk.error, "it branched to element 0, which is INIT; INIT runs once only"));
}

/* ---- World sizes ------------------------------------------------------------------------------------------ */

static const epop_sizes_t power = {.kind = EPOP_SIZE_POWER_OF_TWO}, four = {.min = 4};

static void an_elastic_phase_shrinks_before_its_first_iteration(void **state)
{
    (void)state;
    program->elements[WORK].sizes = &power;
    mock.events[0] = (struct event){1, ACTION_ADAPT};
    mock.size_after = 2;
    assert_int_equal(start(), WALK_ENDED);
    assert_string_equal(story, "init hold(1.1.0 needs 2) open adapt close " ONCE "last ");
}

static void a_phase_that_accepts_no_smaller_size(void **state)
{
    (void)state;
    program->elements[WORK].sizes = &four;
    assert_int_equal(start(), WALK_FAILED);
    expect_failure("init ", "test: element 1 'work' (EP), iteration 0, rank 0 of 3: it does not accept 3 ranks, and no "
                            "smaller number either");
}

static void a_rigid_phase_cannot_shrink(void **state)
{
    (void)state;
    program->elements[RIGID].sizes = &power;
    assert_int_equal(start(), WALK_FAILED);
    expect_failure("exec loop ", "test: element 2 'rigid' (RP), iteration 0, rank 0 of 3: it does not accept 3 ranks, "
                                 "and a rigid phase cannot be resized");
}

/* ---- Hooks --------------------------------------------------------------------------------------------------- */

#define HOOK(name)                                                                                                     \
    static void on_##name(void *state, const epop_position_t *p)                                                       \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        tell("<" #name " %d.%lld.%lld> ", p->pc, (long long)p->visit, (long long)p->iteration);                        \
    }
HOOK(enter)
HOOK(leave)
HOOK(begin)
HOOK(end)
HOOK(window)
HOOK(commit)
HOOK(finished)

static void on_failed(void *state, const epop_position_t *p, int error)
{
    (void)state;
    tell("<failed %d.%lld.%lld with %d> ", p->pc, (long long)p->visit, (long long)p->iteration, error);
}

static void add_hooks(void)
{
    drivers.count = 1;
    drivers.element_hooks = drivers.iteration_hooks = 1;
    drivers.slots[0].table = (epop_driver_t){.name = "test",
                                             .element_enter = on_enter,
                                             .element_leave = on_leave,
                                             .iteration_begin = on_begin,
                                             .iteration_end = on_end,
                                             .adaptation_begin = on_window,
                                             .adaptation_end = on_commit,
                                             .finished = on_finished,
                                             .failed = on_failed};
}

static void name_first(void *state, const epop_position_t *position)
{
    (void)position;
    tell("<%s ", (const char *)state);
}

static void name_last(void *state, const epop_position_t *position)
{
    (void)position;
    tell("%s> ", (const char *)state);
}

/* The first of the list is told first of what begins, and last of what ends. */
static void several_drivers(void **state)
{
    static char a[] = "a", b[] = "b";
    (void)state;
    drivers.count = 2;
    drivers.iteration_hooks = 1;
    for (int i = 0; i < 2; i++)
        drivers.slots[i] = (struct driver_slot){
            .state = i ? b : a,
            .table = {.iteration_begin = name_first, .iteration_end = name_last, .finished = name_last}};
    program->size = 2;
    assert_int_equal(start(), WALK_ENDED);
    assert_string_equal(story, "init <a <b exec b> a> loop <a <b exec b> a> loop b> a> ");
}

static void hooks_around_everything(void **state)
{
    (void)state;
    add_hooks();
    script.loops = 1;
    mock.events[0] = (struct event){1, ACTION_ADAPT};
    assert_int_equal(start(), WALK_ENDED);
    assert_string_equal(story, "<enter 0.0.0> init <leave 0.0.0> "
                               "<enter 1.1.0> hold(1.1.0) open <window 1.1.0> adapt close <commit 1.1.0> "
                               "<begin 1.1.0> exec <end 1.1.0> loop <leave 1.1.1> "
                               "<enter 2.2.0> <begin 2.2.0> rigid <end 2.2.0> loop <leave 2.2.1> "
                               "<enter 3.3.0> branch <leave 3.3.0> "
                               "<enter 4.4.0> <begin 4.4.0> last <end 4.4.0> <leave 4.4.1> <finished 5.4.1> ");
}

static void hooks_of_a_failure(void **state)
{
    (void)state;
    add_hooks();
    script.fault_in = "exec";
    script.fault = 9;
    assert_int_equal(start(), WALK_FAILED);
    assert_non_null(strstr(story, "<begin 1.1.0> exec <failed 1.1.0 with 9> "));
    assert_null(strstr(story, "finished"));
}

#define BLOCK_HOOK(name, sign)                                                                                         \
    static void on_##name(void *state, const epop_position_t *p, epop_block_t block, void *data)                       \
    {                                                                                                                  \
        (void)state, (void)p;                                                                                          \
        tell(sign "%d%s ", (int)block, data ? "" : "?");                                                               \
    }
BLOCK_HOOK(block_enter, "(")
BLOCK_HOOK(block_leave, ")")

static void on_decided(void *state, const epop_position_t *p, int answer)
{
    (void)state;
    tell("=%d at %d.%lld ", answer, p->pc, (long long)p->iteration);
}

static void hooks_around_blocks(void **state)
{
    static int data;
    (void)state;
    drivers.count = 1;
    drivers.block_hooks = 1;
    drivers.slots[0].table = (epop_driver_t){
        .name = "test", .block_enter = on_block_enter, .block_leave = on_block_leave, .decided = on_decided};
    program->data = &data;
    script.loops = 1;
    mock.events[0] = (struct event){1, ACTION_ADAPT};
    assert_int_equal(start(), WALK_ENDED);
    assert_string_equal(story, "(0 init )0 hold(1.1.0) open (1 adapt )1 close (2 exec )2 (3 loop )3 =0 at 1.1 "
                               "(2 rigid )2 (3 loop )3 =0 at 2.1 (4 branch )4 =4 at 3.0 (2 last )2 ");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(from_start_to_end),
        TEST(each_iteration_is_measured),
        TEST(progress_is_asked_for_while_it_is_measured),
        TEST(an_adaptation_makes_another_world_to_measure),
        TEST(a_branch_may_end_the_program),
        TEST(a_program_of_init_alone),
        TEST(a_probe_that_holds_for_nothing),
        TEST(progress_is_told_and_the_probe_holds_again),
        TEST(data_is_saved_and_the_probe_holds_again),
        TEST(an_adaptation),
        TEST(a_rank_that_leaves_runs_nothing_more),
        TEST(a_stop),
        TEST(stop_runs_the_finalizer),
        TEST(drivers_hear_of_a_hold_and_what_it_was_for),
        TEST(drivers_hear_where_a_joining_process_goes_on),
        TEST(a_restart),
        TEST(a_joining_rank),
        TEST(a_joining_rank_that_is_called_off),
        TEST(who_leaves_releases_the_data),
        TEST(who_leaves_in_a_window_releases_the_data),
        TEST(who_fails_releases_nothing),
        TEST(a_joining_rank_whose_init_fails),
        TEST(blocks_that_fail),
        TEST(an_adapt_block_that_fails),
        TEST(a_window_that_is_broken),
        TEST(a_window_that_does_not_open),
        TEST(branches_that_lead_nowhere),
        TEST(a_branch_to_init),
        TEST(an_elastic_phase_shrinks_before_its_first_iteration),
        TEST(a_phase_that_accepts_no_smaller_size),
        TEST(a_rigid_phase_cannot_shrink),
        TEST(several_drivers),
        TEST(hooks_around_everything),
        TEST(hooks_of_a_failure),
        TEST(hooks_around_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
