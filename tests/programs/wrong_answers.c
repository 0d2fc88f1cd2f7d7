/*
 * Rank 1 goes its own way: its loop condition says stop one iteration before the others' (loop), that of a rigid phase
 * (rigid), its branch goes on (branch), or it has one element more (element). Every block needs all ranks, so that
 * without the debug driver they hang. With any other word it is right.
 */
#include "scenario.h"

enum { START, WORK, AGAIN, REPORT };

static const char *way = "right";
static int iterations, rounds, reports;

static bool wrong(const char *name)
{
    return !strcmp(way, name) && rank_in(epop_world()) == 1;
}

static int init(int *argc, char ***argv, void **data)
{
    static int number;
    way = *argc > 1 ? (*argv)[1] : way;
    *data = &number;
    return 0;
}

static int work(void *data)
{
    iterations++;
    return MPI_Allreduce(MPI_IN_PLACE, data, 1, MPI_INT, MPI_SUM, epop_world());
}

static int more(void *data)
{
    (void)data;
    return iterations % 5 != (wrong("loop") ? 4 : 0);
}

static int adapt(void *data)
{
    return adapt_copies(data, 1, MPI_INT);
}

static int again(int pc, void *data)
{
    (void)data;
    rounds++;
    return rounds < 3 && !wrong("branch") ? WORK : pc + 1;
}

static int report(void *data)
{
    (void)data;
    return MPI_Barrier(epop_world());
}

static int once_more(void *data)
{
    (void)data;
    return ++reports < (wrong("rigid") ? 2 : 3);
}

/* Before INIT the way is not known yet. */
static bool has_more_elements(void)
{
    const char *rank = getenv("PMI_RANK"), *word = getenv("EPOP_TEST_FAULT");
    return word && !strcmp(word, "element") && rank && !strcmp(rank, "1");
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("wrong_answers");
    epop_add_init(program, "start", init);
    if (has_more_elements())
        epop_add_rigid(program, "more", report, NULL);
    epop_add_elastic(program, "work", work, adapt, more);
    epop_add_branch(program, "again", again);
    epop_add_rigid(program, "report", report, once_more);
    return program;
}
