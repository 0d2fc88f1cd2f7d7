/* Waiting by testing. */
#include "runtime/redist/wait.h"

#include <sched.h>

/* So many tests before the processor goes to another; some microseconds. */
enum { PATIENCE = 20 };

static void pause_between(int *tests)
{
    if (++*tests >= PATIENCE) {
        sched_yield();
        *tests = 0;
    }
}

int redist_wait_any(int count, MPI_Request *requests, int *index)
{
    int tests = 0, done = 0;
    for (;;) {
        int error = MPI_Testany(count, requests, index, &done, MPI_STATUS_IGNORE);
        if (error != MPI_SUCCESS || done)
            return error;
        pause_between(&tests);
    }
}

int redist_wait(MPI_Request *request)
{
    int tests = 0, done = 0;
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
