/*
 * A program that crashes: SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT, in any thread, become one report that says where
 * in the program it happened and through which functions, and are handed to the job, which prints the first one and
 * ends all processes. A process that cannot hand it over prints it itself.
 */
#ifndef EPOP_CRASH_CRASH_H
#define EPOP_CRASH_CRASH_H

#include <stdbool.h>
#include <stdint.h>

#include "epop/visibility.h"
#include "runtime/member/member.h"

/* What becomes of a report, on a thread of its own, the crashed one being stopped. 0: somebody will print it, and end
 * this process. -1, or no return within a second: this process does both. core: it wants to dump its memory first, and
 * waits for crash_dump. */
typedef int (*crash_deliver_fn)(const char *text, bool core);

/*
 * From here on; `live` is the position of the thread that calls, `process` this process's number in the job. Signals
 * for which something is installed already are left alone, and so are those for which the program installs a handler of
 * its own later. deliver NULL: the process prints its report itself, and ends with the signal.
 */
void crash_install(const struct live_position *live, int process, crash_deliver_fn deliver);

/* From here on also where the runtime library of Fortran has handlers, which end the process by the signal. Local. */
void crash_insist(void);

/*
 * The program is being loaded from now on: a report says so, with what is `doing` just now ("in get_program of") and
 * the file, which stays the caller's. first: this process speaks for its launch; another one that crashes gives that
 * the time to do so, since it will most probably have crashed, too, and the launcher ends all then. Local.
 */
EPOP_API void epop__crash_loading(const char *doing, const char *path, bool first);

/* It is loaded, or is not going to be. Local. */
EPOP_API void epop__crash_loaded(void);

/* A program is at these addresses, and is about to be unloaded: a report says so of whatever goes on there then. The
 * second: it was not unloaded. Local. */
EPOP_API void epop__crash_unloading(uintptr_t begin, uintptr_t end, const char *path);
EPOP_API void epop__crash_still_loaded(uintptr_t begin);

/* The report that asked for it has been printed: the process may dump its memory now. Any thread. */
void crash_dump(void);

/* A stack for signal handlers of the calling thread, so that an overflow of its own can be reported; unless it has one.
 * Ends with the thread. */
EPOP_API void epop__crash_stack(void);

#endif
