/*
 * Ranks that wait give way to others on their processor. MPICH over UCX (ch4:ucx) waits by calling ucp_worker_progress,
 * a public function of UCX, in a loop that never yields: with more ranks than processors, one that is waited for gets
 * its turn only when the waiting one has used up its time slice, for each message anew. This function stands before
 * UCX's. Other devices do not call it: ch3:sock sleeps, ch3:nemesis can yield by itself.
 */
#include <dlfcn.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define CALL __attribute__((visibility("default")))
#define NAME "ucp_worker_progress"

/* Calls that found nothing, after which each yields: some 100 us of them, as where nobody else wants the processor a
 * yield is back at once; 2 us where ranks share processors. */
enum { PATIENCE = 1000, PATIENCE_IN_A_CROWD = 20 };

typedef unsigned progress_call(void *worker);
CALL progress_call ucp_worker_progress; /* as ucp/api/ucp.h has it, which is not there to build with */

/* The next one in order; or, where the MPI library was loaded for one module alone (Python), that of its own libraries.
 */
static progress_call *find(const void *caller)
{
    Dl_info library;
    void *handle, *found = dlsym(RTLD_NEXT, NAME);
    if (!found && dladdr(caller, &library) && (handle = dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD))) {
        found = dlsym(handle, NAME);
        dlclose(handle);
    }
    if (!found) {
        fputs("epop: " NAME " was called, and no library has it\n", stderr);
        abort();
    }
    progress_call *progress;
    *(void **)&progress = found;
    return progress;
}

/* More ranks of this launch are on this host than processors are there for this one? Hydra says how many those are. */
static bool is_crowd(void)
{
    const char *ranks = getenv("MPI_LOCALNRANKS");
    cpu_set_t processors;
    return ranks && !sched_getaffinity(0, sizeof processors, &processors) && atoi(ranks) > CPU_COUNT(&processors);
}

CALL unsigned ucp_worker_progress(void *worker)
{
    static progress_call *_Atomic next;
    static _Atomic int patience;
    static _Thread_local int idle;
    progress_call *progress = atomic_load_explicit(&next, memory_order_acquire);
    if (!progress) {
        progress = find(__builtin_return_address(0));
        atomic_store_explicit(&patience, is_crowd() ? PATIENCE_IN_A_CROWD : PATIENCE, memory_order_relaxed);
        atomic_store_explicit(&next, progress, memory_order_release);
    }
    unsigned count = progress(worker);
    if (count)
        idle = 0;
    else if (idle < atomic_load_explicit(&patience, memory_order_relaxed))
        idle++;
    else
        sched_yield();
    return count;
}
