/*
 * A program whose speed is known: an iteration naps for nap=US microseconds, slow=N times as long where `width` is not
 * 16 or `layout`, as it was at the beginning of the visit, is not 2, shared by the ranks with scale=1. It is visited
 * visits=N times for iterations=N each. All ranks have to have the same settings in every iteration. Says at the end
 * what they are, and in how many iterations they were those at the end. With fixed=1 nothing makes a difference.
 * Behind each visit another elastic phase goes on until there are rest=N ranks.
 */
#include "scenario.h"

static struct {
    struct count count;
    long nap, slow, visits, scale, fixed, tell, rest;
    int width, layout, layout_now;
    int64_t like_last, visit;
    int last[2];
} plan;

static int init(int *argc, char ***argv, void **data)
{
    static const int layouts[] = {1, 2, 3};
    arguments_t arguments = {*argc, *argv};
    *data = &plan;
    plan.count.to = argument(arguments, "iterations", 100);
    plan.nap = argument(arguments, "nap", 5000);
    plan.slow = argument(arguments, "slow", 8);
    plan.visits = argument(arguments, "visits", 1);
    plan.scale = argument(arguments, "scale", 0);
    plan.fixed = argument(arguments, "fixed", 0);
    plan.tell = argument(arguments, "tell", 1);
    plan.rest = argument(arguments, "rest", 0);
    plan.width = (int)argument(arguments, "width", 64);
    plan.layout = 1;
    if (epop_tunable("width", &plan.width, 8, 64) != EPOP_OK)
        return 3;
    if (plan.visits > 1 && epop_tunable_add(&(epop_tunable_t){
                               .name = "layout", .value = &plan.layout, .values = layouts, .count = 3, .per_visit = 1}))
        return 3;
    say_init();
    return 0;
}

static int begin(void *data)
{
    (void)data;
    plan.count.done = 0;
    plan.visit++;
    plan.layout_now = plan.layout;
    return 0;
}

static int same_everywhere(const int mine[2])
{
    int both[4] = {mine[0], mine[1], -mine[0], -mine[1]};
    MPI_Allreduce(MPI_IN_PLACE, both, 4, MPI_INT, MPI_MAX, epop_world());
    return both[0] == -both[2] && both[1] == -both[3];
}

static int work(void *data)
{
    (void)data;
    int now[2] = {plan.width, plan.layout_now}, size = size_of(epop_world());
    long slow = plan.fixed ? 1 : (now[0] == 16 ? 1 : plan.slow) * (plan.visits == 1 || now[1] == 2 ? 1 : plan.slow);
    nap(plan.nap * slow / (plan.scale ? size : 1));
    if (!same_everywhere(now))
        return 7;
    plan.like_last = now[0] == plan.last[0] && now[1] == plan.last[1] ? plan.like_last + 1 : 1;
    plan.last[0] = now[0];
    plan.last[1] = now[1];
    plan.count.done++;
    return 0;
}

static int adapt(void *data)
{
    epop_window_t window;
    int64_t now[] = {plan.visit, plan.layout_now, plan.count.done, plan.like_last, plan.last[0], plan.last[1]};
    (void)data;
    if (epop_adapt_begin(&window) != EPOP_OK)
        return 4;
    if (epop_redist_replicated(&window, now, sizeof now / sizeof *now, MPI_INT64_T) != EPOP_OK)
        return 5;
    plan.visit = now[0];
    plan.layout_now = (int)now[1];
    plan.count.done = now[2];
    plan.like_last = now[3];
    plan.last[0] = (int)now[4];
    plan.last[1] = (int)now[5];
    return epop_adapt_commit();
}

static int wait_for_ranks(void *data)
{
    (void)data;
    nap(plan.rest ? 2000 : 0);
    return 0;
}

static int too_few_ranks(void *data)
{
    (void)data;
    return size_of(epop_world()) < plan.rest;
}

static int again(int pc, void *data)
{
    (void)data;
    return plan.visit < plan.visits ? 1 : pc + 1;
}

static int end(void *data)
{
    (void)data;
    if (rank_in(epop_world()) == 0)
        printf("width %d, layout %d, %d iterations so, %d ranks\n", plan.last[0], plan.last[1], (int)plan.like_last,
               size_of(epop_world()));
    return 0;
}

static void how_far(void *data, epop_progress_t *progress)
{
    (void)data;
    progress->iteration = plan.count.done;
    progress->bound = plan.tell ? plan.count.to : 0;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("scenario");
    epop_add_init(program, "prepare", init);
    epop_add_rigid(program, "begin", begin, NULL);
    int pc = epop_add_elastic(program, "work", work, adapt, count_on);
    program->elements[pc].progress = how_far;
    epop_add_elastic(program, "rest", wait_for_ranks, adapt, too_few_ranks);
    epop_add_branch(program, "again", again);
    epop_add_rigid(program, "end", end, NULL);
    return program;
}
