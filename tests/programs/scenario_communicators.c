/*
 * Counts how many communicators can still be made: MPICH has some 2,000, and one that nobody frees is missing for good.
 *
 * count=PATH  once for each time that the file is there; it is removed
 */
#include "scenario.h"

#define MOST 4096

struct counting {
    const char *count;
};

static int init(int *argc, char ***argv, void **data)
{
    static struct counting counting;
    arguments_t arguments = {*argc, *argv};
    counting.count = text_argument(arguments, "count", 0);
    *data = &counting;
    say_init();
    return 0;
}

/* All ranks fail at the same one. */
static int count_communicators(void)
{
    static MPI_Comm made[MOST];
    int count = 0;
    MPI_Comm_set_errhandler(epop_world(), MPI_ERRORS_RETURN);
    while (count < MOST && MPI_Comm_dup(epop_world(), &made[count]) == MPI_SUCCESS)
        count++;
    MPI_Comm_set_errhandler(epop_world(), MPI_ERRORS_ARE_FATAL);
    for (int i = 0; i < count; i++)
        MPI_Comm_free(&made[i]);
    return count;
}

static int work(void *data)
{
    const struct counting *counting = data;
    int asked = rank_in(epop_world()) == 0 && exists(counting->count);
    nap(2000);
    MPI_Bcast(&asked, 1, MPI_INT, 0, epop_world());
    if (!asked)
        return 0;
    int count = count_communicators();
    if (rank_in(epop_world()) == 0) {
        unlink(counting->count);
        printf("free communicators: %d\n", count);
        fflush(stdout);
    }
    return 0;
}

static int on(void *data)
{
    (void)data;
    return 1;
}

static int adapt(void *data)
{
    epop_window_t window;
    (void)data;
    int error = epop_adapt_begin(&window);
    return error ? error : epop_adapt_commit();
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("scenario");
    epop_add_init(program, "init", init);
    epop_add_elastic(program, "work", work, adapt, on);
    return program;
}
