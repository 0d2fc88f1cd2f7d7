/* Waiting by testing again and again, with pauses in between. */
#include "runtime/redist/wait.h"

#include <sched.h>
#include <time.h>

#include "runtime/backends/device.h"

/*
 * A rank that waits takes the processor from one that packs or unpacks, where there are more ranks than processors.
 * So it gives way after some microseconds, and sleeps when nothing has come for far longer than a message takes.
 */
enum { PATIENCE = 20, LONG_PATIENCE = 400, LONGER_PATIENCE = 10000 };

/* Has each rank a processor, so that nobody waits for this one's? On several nodes that is not known, and taken for no.
 * A nap is some 100 us, as much as a whole redistribution of little data. */
static int long_patience(void)
{
    static int patience;
    cpu_set_t processors;
    int ranks;
    if (!patience && MPI_Comm_size(MPI_COMM_WORLD, &ranks) == MPI_SUCCESS)
        patience = !sched_getaffinity(0, sizeof processors, &processors) && ranks <= CPU_COUNT(&processors)
                       ? LONGER_PATIENCE
                       : LONG_PATIENCE;
    return patience;
}

/* Where MPI_Wait spins. */
static void pause_between(int *tests)
{
    static const struct timespec nap = {.tv_nsec = 50 * 1000};
    if (++*tests > long_patience())
        nanosleep(&nap, NULL);
    else if (*tests % PATIENCE == 0)
        sched_yield();
}

/* MPI_Waitany spins with all devices. */
static int sleep_for(MPI_Request *requests, int first, int *index)
{
    *index = first;
    return first == MPI_UNDEFINED ? MPI_SUCCESS : MPI_Wait(&requests[first], MPI_STATUS_IGNORE);
}

int redist_wait_any(int count, MPI_Request *requests, int first, int *index)
{
    int tests = 0, done = 0;
    for (;;) {
        int error = MPI_Testany(count, requests, index, &done, MPI_STATUS_IGNORE);
        if (error != MPI_SUCCESS || done)
            return error;
        if (device_sleeps())
            return sleep_for(requests, first, index);
        pause_between(&tests);
    }
}

int redist_wait(MPI_Request *request)
{
    int tests = 0, done = 0;
    if (device_sleeps())
        return MPI_Wait(request, MPI_STATUS_IGNORE);
    for (;;) {
        int error = MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (error != MPI_SUCCESS || done)
            return error;
        pause_between(&tests);
    }
}

int redist_wait_all(int count, MPI_Request *requests)
{
    int first_error = MPI_SUCCESS;
    for (int i = 0; i < count; i++) {
        int error = redist_wait(&requests[i]);
        first_error = first_error == MPI_SUCCESS ? error : first_error;
    }
    return first_error;
}
