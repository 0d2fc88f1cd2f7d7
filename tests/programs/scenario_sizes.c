/*
 * Two phases that accept different world sizes, as EPOP_TEST_SIZES says. The first one goes on as long as the file
 * first-while=PATH is there; the second one until the program is stopped, or with second-while=PATH as long as that
 * file is there, and then there is a third one. own-sigterm: it has a handler.
 */
#include <signal.h>

#include "scenario.h"

struct sizes {
    int64_t phase, iteration, windows; /* the same on every rank */
    const char *stay, *second, *wait;
};

static void on_sigterm(int number)
{
    static const char text[] = "its own handler\n";
    (void)number;
    (void)!write(STDOUT_FILENO, text, sizeof text - 1);
}

static int init(int *argc, char ***argv, void **data)
{
    arguments_t arguments = {*argc, *argv};
    struct sizes *s = calloc(1, sizeof *s);
    if (!s)
        return EPOP_ERR_MEMORY;
    *data = s;
    s->stay = text_argument(arguments, "first-while", 0);
    s->second = text_argument(arguments, "second-while", 0);
    s->wait = text_argument(arguments, "join-waits-while", 0);
    if (text_argument(arguments, "own-sigterm", 0))
        signal(SIGTERM, on_sigterm);
    say_init();
    if (epop_status() == EPOP_JOINING)
        wait_while_there(s->wait);
    return 0;
}

static int work(void *data)
{
    struct sizes *s = data;
    nap(1000);
    s->iteration++;
    return 0;
}

static int first_goes_on(void *data)
{
    struct sizes *s = data;
    int stay = exists(s->stay);
    MPI_Bcast(&stay, 1, MPI_INT, 0, epop_world());
    if (!stay) {
        s->phase = 1;
        s->iteration = 0;
    }
    return stay;
}

static int second_goes_on(void *data)
{
    const struct sizes *s = data;
    if (s->iteration == 1 && rank_in(epop_world()) == 0) {
        printf("second phase with %d ranks\n", size_of(epop_world()));
        fflush(stdout);
    }
    int stay = !s->second || exists(s->second);
    if (s->second)
        MPI_Bcast(&stay, 1, MPI_INT, 0, epop_world());
    return stay;
}

static int third_goes_on(void *data)
{
    (void)data;
    return 1;
}

static int adapt(void *data)
{
    struct sizes *s = data;
    epop_window_t window;
    int error = epop_adapt_begin(&window);
    if (error || (error = check_window(&window)))
        return error;
    s->windows++;
    if ((error = epop_redist_replicated(&window, s, 3, MPI_INT64_T)))
        return error;
    if (rank_in(window.all) == 0) {
        printf("window: %d -> %d, phase %d, iteration %d\n", window.old_size, window.new_size, (int)s->phase,
               (int)s->iteration);
        fflush(stdout);
    }
    error = epop_adapt_commit();
    if (window.status == EPOP_LEAVING)
        free(s);
    return error;
}

static int report(void *data)
{
    struct sizes *s = data;
    say_end((int)s->windows, s->iteration);
    free(s);
    return 0;
}

static bool are(const char *name)
{
    const char *chosen = getenv("EPOP_TEST_SIZES");
    return chosen && !strcmp(chosen, name);
}

static int odd_and_small(int size)
{
    return size % 2 && size < 4;
}

static void set_rules(epop_program_t *program)
{
    static epop_sizes_t power = {.kind = EPOP_SIZE_POWER_OF_TWO}, even = {.kind = EPOP_SIZE_EVEN};
    static epop_sizes_t two = {.min = 2}, odd = {.kind = EPOP_SIZE_ODD}, four = {.min = 4}, pair = {.max = 2};
    if (are("squares"))
        program->sizes = (epop_sizes_t){.kind = EPOP_SIZE_SQUARE};
    if (are("from two on"))
        program->sizes = (epop_sizes_t){.min = 2};
    if (are("function"))
        program->sizes = (epop_sizes_t){.kind = EPOP_SIZE_FUNCTION, .accepts = odd_and_small};
    if (are("power of two second"))
        program->elements[2].sizes = &power;
    if (are("four second"))
        program->elements[2].sizes = &four;
    if (are("pair second"))
        program->elements[2].sizes = &pair;
    if (are("two first"))
        program->elements[1].sizes = &two;
    if (are("odd first"))
        program->elements[1].sizes = &odd;
    if (are("rigid second")) {
        program->elements[2].type = EPOP_RP;
        program->elements[2].phase_adapt = NULL;
    }
    if (are("rigid even second")) {
        program->elements[2].type = EPOP_RP;
        program->elements[2].phase_adapt = NULL;
        program->elements[2].sizes = &even;
    }
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("scenario");
    epop_add_init(program, "start", init);
    epop_add_elastic(program, "first", work, adapt, first_goes_on);
    epop_add_elastic(program, "second", work, adapt, second_goes_on);
    if (are("rigid second"))
        epop_add_elastic(program, "third", work, adapt, third_goes_on);
    program->finalizer = epop_add_rigid(program, "report", report, NULL);
    set_rules(program);
    return program;
}
