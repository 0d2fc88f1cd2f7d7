/*
 * Rank 1 goes another way than the others: its loop condition says no (way=loop), and then its program ends (way=end),
 * or its branch turns back (way=branch); or it does not (way=none). The ranks talk to each other in the window alone,
 * and go on until they are stopped.
 */
#include "scenario.h"

static const char *way;
static int64_t iterations;

enum { START, FIRST, TURN, SECOND, REPORT, ELEMENTS };

static bool breaks(const char *name)
{
    return !strcmp(way, name) && rank_in(epop_world()) == 1;
}

static int init(int *argc, char ***argv, void **data)
{
    static char copy[20];
    const char *text = text_argument((arguments_t){*argc, *argv}, "way", 0);
    snprintf(copy, sizeof copy, "%s", text ? text : "none");
    way = copy;
    *data = NULL;
    say_init();
    return 0;
}

static int work(void *data)
{
    (void)data;
    nap(1000);
    iterations++;
    return 0;
}

/* With "loop" and "end" only rank 1's loop condition ever says no. */
static int more(void *data)
{
    (void)data;
    bool endless = !strcmp(way, "loop") || !strcmp(way, "end");
    if (iterations == 10) {
        printf("rank %d did ten\n", rank_in(epop_world()));
        fflush(stdout);
    }
    return iterations < 10 || (endless && rank_in(epop_world()) != 1);
}

static int turn(int pc, void *data)
{
    (void)data;
    iterations = 0;
    return breaks("branch") ? FIRST : breaks("end") ? ELEMENTS : pc + 1;
}

static int adapt(void *data)
{
    (void)data;
    return adapt_copies(&iterations, 1, MPI_INT64_T);
}

static int forever(void *data)
{
    (void)data;
    return 1;
}

static int nothing(void *data)
{
    (void)data;
    return 0;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("scenario");
    epop_add_init(program, "init", init);
    epop_add_elastic(program, "first", work, adapt, more);
    epop_add_branch(program, "turn", turn);
    epop_add_elastic(program, "second", work, adapt, forever);
    epop_add_rigid(program, "report", nothing, NULL);
    return program;
}
