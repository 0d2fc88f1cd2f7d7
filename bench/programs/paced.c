/*
 * Iterations of a given length, as those of a solver that scales: the benchmarks of Martin-Alvarez et al. (2023).
 *     paced strong|weak SECONDS STEPS FILE
 * An iteration takes SECONDS, in strong scaling divided by the number of ranks, in which a rank sleeps; STEPS are
 * computed besides, divided likewise. Rank 0 appends pairs of doubles to FILE, one for each iteration: when it began
 * (seconds since 1970), and how long it took. The ranks do not talk to each other.
 */
#include <epop/epop.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct paced {
    int64_t iteration;
    bool strong;
    double seconds, steps, x;
    int file;
} paced_t;

static double wall(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void pause_for(double seconds)
{
    struct timespec left = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (nanosleep(&left, &left) && errno == EINTR)
        ;
}

static int start(int *argc, char ***argv, void **data)
{
    paced_t *p = calloc(1, sizeof *p);
    if (!p || *argc < 5)
        return EPOP_ERR_ARGUMENT;
    *data = p;
    p->strong = !strcmp((*argv)[1], "strong");
    p->seconds = atof((*argv)[2]);
    p->steps = atof((*argv)[3]);
    p->file = open((*argv)[4], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    return p->file < 0 ? EPOP_ERR_ARGUMENT : 0;
}

static int iterate(void *data)
{
    paced_t *p = data;
    int rank, size;
    MPI_Comm_rank(epop_world(), &rank);
    MPI_Comm_size(epop_world(), &size);
    double begin = wall(), part = p->strong ? size : 1, times[2] = {begin};
    for (double i = 0; i < p->steps / part; i++)
        p->x = p->x * 0.999999 + 1e-6;
    pause_for(p->seconds / part);
    times[1] = wall() - begin;
    p->iteration++;
    return rank == 0 && write(p->file, times, sizeof times) != (ssize_t)sizeof times;
}

static int on(void *data)
{
    (void)data;
    return 1;
}

static void describe(void *data, epop_description_t *list)
{
    paced_t *p = data;
    epop_describe_values(list, "iteration", &p->iteration, sizeof p->iteration);
}

static void release(void *data)
{
    paced_t *p = data;
    close(p->file);
    free(p);
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("paced");
    epop_add_init(program, "start", start);
    epop_add_elastic(program, "iterate", iterate, epop_adapt_described, on);
    epop_describe(program, describe);
    epop_release(program, release);
    return program;
}
