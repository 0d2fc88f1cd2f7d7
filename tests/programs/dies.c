/*
 * Adds up numbers in a loop, and ends in one way or another: rank `rank` (1) does what how=... says in iteration `at`
 * (5; -1: in the last block): error, exit, _exit, abort, segv, kill; once: only when the file of that name is not there
 * yet. Each iteration takes a few milliseconds. iterations=N (100). The last line is the sum, which anybody can check.
 */
#include <fcntl.h>
#include <signal.h>

#include "scenario.h"

static long iterations, at, done, sum, rank;
static char how[16], once[512];
static int *volatile nowhere;

static int init(int *argc, char ***argv, void **data)
{
    arguments_t arguments = {*argc, *argv};
    const char *what = text_argument(arguments, "how", 0), *file = text_argument(arguments, "once", 0);
    (void)data;
    iterations = argument(arguments, "iterations", 100);
    at = argument(arguments, "at", 5);
    rank = argument(arguments, "rank", 1);
    snprintf(how, sizeof how, "%s", what ? what : "");
    snprintf(once, sizeof once, "%s", file ? file : "");
    say_init();
    return 0;
}

static int is_the_time(void)
{
    if (done != at || rank_in(epop_world()) != rank)
        return 0;
    return !once[0] || open(once, O_CREAT | O_EXCL, 0600) >= 0;
}

static int die(void)
{
    if (!strcmp(how, "error"))
        return 43;
    if (!strcmp(how, "exit"))
        exit(3);
    if (!strcmp(how, "_exit"))
        _exit(4);
    if (!strcmp(how, "abort"))
        MPI_Abort(epop_world(), 5);
    if (!strcmp(how, "segv"))
        return *nowhere;
    if (!strcmp(how, "kill"))
        raise(SIGKILL);
    return 0;
}

static int work(void *data)
{
    long all, own = rank_in(epop_world()) == 0 ? done : 0;
    (void)data;
    done++;
    usleep(3000);
    int result = is_the_time() ? die() : 0;
    MPI_Allreduce(&own, &all, 1, MPI_LONG, MPI_SUM, epop_world());
    sum += all;
    return result;
}

static int more(void *data)
{
    (void)data;
    return done < iterations;
}

static int adapt(void *data)
{
    long values[] = {done, sum};
    int error = adapt_copies(values, 2, MPI_LONG);
    (void)data;
    done = values[0];
    sum = values[1];
    return error;
}

static int report(void *data)
{
    (void)data;
    if (at < 0 && rank_in(epop_world()) == rank)
        return die();
    if (rank_in(epop_world()) == 0)
        printf("%ld iterations, sum %ld\n", done, sum);
    return 0;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("dies");
    epop_add_init(program, "start", init);
    epop_add_elastic(program, "work", work, adapt, more);
    program->finalizer = epop_add_rigid(program, "report", report, NULL);
    return program;
}
