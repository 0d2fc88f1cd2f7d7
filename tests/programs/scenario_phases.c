/*
 * Short phases, a branch that goes back, and ranks that each take their own time and talk to each other in the window
 * alone: who is not at the same place there is found out.
 *
 * rounds=N windows=N   how often the branch goes back: so often, and until there were so many windows
 * skew=US              every iteration sleeps up to so long
 * every=K from=BLOCK   in every K-th round another size is asked for, in that block: exec, branch or loop
 * who=WHO max=N        by that rank, or "all"; sizes 1 .. N
 */
#include "scenario.h"

struct place {
    int64_t round, phase, iteration, windows;
};

struct phases {
    struct place at; /* the same on every rank */
    long rounds, least_windows, skew, every, max;
    char from[16], who[16];
    unsigned seed;
};

static int init(int *argc, char ***argv, void **data)
{
    arguments_t arguments = {*argc, *argv};
    struct phases *s = calloc(1, sizeof *s);
    const char *from = text_argument(arguments, "from", 0), *who = text_argument(arguments, "who", 0);
    if (!s)
        return EPOP_ERR_MEMORY;
    *data = s;
    s->rounds = argument(arguments, "rounds", 100);
    s->least_windows = argument(arguments, "windows", 0);
    s->skew = argument(arguments, "skew", 1000);
    s->every = argument(arguments, "every", 0);
    s->max = argument(arguments, "max", 1);
    snprintf(s->from, sizeof s->from, "%s", from ? from : "exec");
    snprintf(s->who, sizeof s->who, "%s", who ? who : "all");
    s->seed = (unsigned)getpid();
    say_init();
    return 0;
}

static void ask(const struct phases *s, const char *block)
{
    bool me = !strcmp(s->who, "all") || atoi(s->who) == rank_in(epop_world());
    if (s->every && me && !strcmp(s->from, block) && s->at.round % s->every == s->every - 1)
        epop_request_resize((int)(1 + (s->at.round / s->every) % s->max));
}

static int exec(void *data)
{
    struct phases *s = data;
    if (s->at.phase == 0)
        ask(s, "exec");
    nap(s->skew ? rand_r(&s->seed) % s->skew : 0);
    s->at.iteration++;
    return 0;
}

/* The first phase has one iteration, the second one to three. */
static int more(void *data)
{
    struct phases *s = data;
    if (s->at.phase == 0)
        ask(s, "loop");
    if (s->at.phase == 1 && s->at.iteration <= s->at.round % 3)
        return 1;
    s->at.iteration = 0;
    s->at.phase = !s->at.phase;
    return 0;
}

static int again(int pc, void *data)
{
    struct phases *s = data;
    ask(s, "branch");
    return ++s->at.round < s->rounds || s->at.windows < s->least_windows ? 1 : pc + 1;
}

/* The old ranks are all where rank 0 is. */
static int check_place(const struct phases *s, const epop_window_t *w)
{
    int wrong = 0;
    struct place zero = s->at;
    MPI_Bcast(&zero, 4, MPI_INT64_T, 0, w->all);
    EXPECT(w->status == EPOP_JOINING || !memcmp(&zero, &s->at, sizeof zero));
    return wrong;
}

static int adapt(void *data)
{
    struct phases *s = data;
    epop_window_t window;
    int error = epop_adapt_begin(&window);
    if (error || (error = check_window(&window) + check_place(s, &window)))
        return error;
    s->at.windows++;
    if ((error = epop_redist_replicated(&window, &s->at, 4, MPI_INT64_T)) || (error = epop_adapt_commit()))
        return error;
    if (window.status == EPOP_LEAVING)
        free(s);
    return 0;
}

static int report(void *data)
{
    struct phases *s = data;
    int wrong = 0;
    struct place zero = s->at;
    MPI_Bcast(&zero, 4, MPI_INT64_T, 0, epop_world());
    EXPECT(!memcmp(&zero, &s->at, sizeof zero));
    say_end((int)s->at.windows, s->at.round);
    free(s);
    return wrong;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("scenario");
    epop_add_init(program, "start", init);
    epop_add_elastic(program, "one", exec, adapt, more);
    epop_add_elastic(program, "some", exec, adapt, more);
    epop_add_branch(program, "again?", again);
    epop_add_rigid(program, "report", report, NULL);
    return program;
}
