/*
 * A program without elastic calls that is only looked at: with EPOP_WATCH set, libepop_mpi preloaded makes a job of it
 * when it initializes MPI. It stays at its size, is measured as others are, and its loops are found.
 */
#include <mpi.h>
#include <stdlib.h>

#include "interpose/interpose.h"
#include "runtime/adapt/part.h"
#include "runtime/job/follow.h"
#include "runtime/job/sampler.h"

const char *part_watch(void)
{
    return getenv("EPOP_WATCH");
}

static int begin(int error)
{
    if (error == MPI_SUCCESS)
        error = part_begin(NULL, NULL, PART_OF_WATCHED, NULL);
    if (error == MPI_SUCCESS) {
        follow_start(FOLLOW_ALL);
        sampler_measure_now(); /* all ranks from the same call on */
    }
    return error;
}

static int watched_init(int *argc, char ***argv)
{
    return begin(MPI_Init(argc, argv));
}

static int watched_init_thread(int *argc, char ***argv, int required, int *provided)
{
    return begin(MPI_Init_thread(argc, argv, required, provided));
}

__attribute__((constructor)) static void watch(void)
{
    if (!part_watch())
        return;
    interpose_life.init = watched_init;
    interpose_life.init_thread = watched_init_thread;
}
