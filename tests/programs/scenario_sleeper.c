/*
 * Ranks that do not talk to each other, one of which sleeps for two seconds in one iteration: the others' iterations
 * must not get longer by it.
 *
 * iterations=N          of 2 ms each
 * sleeper=RANK at=N     who sleeps, and in which iteration; -1: nobody
 * join-waits-while=PATH a joining process is in INIT as long as that file is there
 * meet=N                every N iterations the ranks meet in a barrier, which the sleeper does hold up
 */
#include "scenario.h"

#define SLEEP 2000000

struct sleeper {
    struct count count;
    long sleeper, at, meet;
    double begin, longest; /* of an iteration, with the probe before it */
    const char *wait;
};

static int init(int *argc, char ***argv, void **data)
{
    arguments_t arguments = {*argc, *argv};
    struct sleeper *s = calloc(1, sizeof *s);
    if (!s)
        return EPOP_ERR_MEMORY;
    *data = s;
    s->count.to = argument(arguments, "iterations", 100);
    s->sleeper = argument(arguments, "sleeper", -1);
    s->at = argument(arguments, "at", 0);
    s->meet = argument(arguments, "meet", 0);
    s->wait = text_argument(arguments, "join-waits-while", 0);
    say_init();
    if (epop_status() == EPOP_JOINING)
        wait_while_there(s->wait);
    return 0;
}

/* All start at the same time. */
static int start(void *data)
{
    struct sleeper *s = data;
    MPI_Barrier(epop_world());
    s->begin = now();
    return 0;
}

static int work(void *data)
{
    struct sleeper *s = data;
    bool sleeps = s->count.done == s->at && rank_in(epop_world()) == s->sleeper;
    nap(sleeps ? SLEEP : 2000);
    if (s->meet && s->count.done % s->meet == 0)
        MPI_Barrier(epop_world());
    double end = now();
    if (!sleeps && end - s->begin > s->longest)
        s->longest = end - s->begin;
    s->begin = end;
    s->count.done++;
    return 0;
}

static int adapt(void *data)
{
    struct sleeper *s = data;
    int error = adapt_count(data);
    s->begin = now();
    return error;
}

static int report(void *data)
{
    struct sleeper *s = data;
    printf("rank %d: longest %.3f of a sleep\n", rank_in(epop_world()), s->longest * 1e6 / SLEEP);
    free(s);
    return 0;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("scenario");
    epop_add_init(program, "init", init);
    epop_add_rigid(program, "start", start, NULL);
    epop_add_elastic(program, "work", work, adapt, count_on);
    epop_add_rigid(program, "report", report, NULL);
    return program;
}
