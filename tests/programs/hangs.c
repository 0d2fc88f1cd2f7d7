/*
 * Ranks that hang, each in its way (hang.h), once rank 0 has found a file; the others wait for another one, and
 * fail then.
 *
 * go=PATH              from the iteration on in which rank 0 finds it; in INIT and in a window at once
 * rank=R:HOW           what that rank does then
 * where=work|init|window|rule    where: in INIT of the first processes, in the window of the first resize, in the size
 *                                 rule of the phase: whoever looks at it (work)
 * fail=PATH            rank 0 fails, unless it hangs; else the first that does not
 */
#include "scenario.h"

#include "hang.h"

static struct {
    struct count count;
    arguments_t arguments;
} plan;

static bool is_here(const char *where)
{
    const char *text = text_argument(plan.arguments, "where", 0);
    return !strcmp(text ? text : "work", where);
}

static int hang_here(MPI_Comm comm)
{
    const char *text, *fails = text_argument(plan.arguments, "fail", 0);
    char how[16];
    int rank;
    for (int i = 0; (text = text_argument(plan.arguments, "rank", i)); i++)
        if (sscanf(text, "%d:%15s", &rank, how) == 2 && rank == rank_in(comm))
            hang(how);
    while (!exists(fails))
        nap(2000);
    return 41;
}

static int init(int *argc, char ***argv, void **data)
{
    plan.arguments = (arguments_t){*argc, *argv};
    plan.count.to = 1000000;
    *data = &plan;
    say_init();
    return is_here("init") && epop_status() == EPOP_NEW ? hang_here(epop_world()) : 0;
}

static int work(void *data)
{
    (void)data;
    int go = told(exists(text_argument(plan.arguments, "go", 0)) && is_here("work"));
    plan.count.done++;
    nap(1000);
    return go ? hang_here(epop_world()) : 0;
}

static int adapt(void *data)
{
    epop_window_t window;
    if (!is_here("window"))
        return adapt_count(data);
    int error = epop_adapt_begin(&window);
    return error ? error : hang_here(window.all);
}

/* Also on threads of epop. */
static int accepts(int size)
{
    if (is_here("rule") && exists(text_argument(plan.arguments, "go", 0)))
        hang("loop");
    return size > 0;
}

static int report(void *data)
{
    (void)data;
    say_end(0, plan.count.done);
    return 0;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("hangs");
    epop_add_init(program, "start", init);
    static const epop_sizes_t sizes = {.kind = EPOP_SIZE_FUNCTION, .accepts = accepts};
    int phase = epop_add_elastic(program, "work", work, adapt, count_on);
    epop_set_sizes(program, phase, &sizes);
    program->finalizer = epop_add_rigid(program, "report", report, NULL);
    return program;
}
