/* Leaving an executable's job: when, and what may not end the others then. */
#include "runtime/adapt/leaving.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interpose/interpose.h"
#include "runtime/base/clock.h"
#include "runtime/base/ending.h"
#include "runtime/base/thread.h"
#include "runtime/crash/crash.h"
#include "runtime/job/job.h"
#include "runtime/launch/engine.h"

#define SECONDS     10 /* if nobody says otherwise */
#define SECONDS_MAX 86400

/* ---- What is wanted ---------------------------------------------------------------------- */

static const char *const words[] = {[EPOP_MPI_LEAVE_RETURN] = "return", [EPOP_MPI_LEAVE_COMMIT] = "commit"};
#define WORD_COUNT ((int)(sizeof words / sizeof *words))

static int wanted = EPOP_MPI_LEAVE_RETURN;
static double seconds = SECONDS;

static char wrong[160];

static const char *read_way(const char *text)
{
    for (int i = 0; i < WORD_COUNT; i++)
        if (!strcmp(text, words[i])) {
            wanted = i;
            return NULL;
        }
    snprintf(wrong, sizeof wrong, "EPOP_LEAVE is '%.60s'; set it to 'return' or 'commit', or leave it out", text);
    return wrong;
}

static const char *read_seconds(const char *text)
{
    char *end;
    double value = decimal_read(text, &end);
    if (end != text && !*end && value >= 0 && value <= SECONDS_MAX) {
        seconds = value;
        return NULL;
    }
    snprintf(wrong, sizeof wrong, "EPOP_LEAVE_SECONDS is '%.60s'; set it to seconds from 0 to %d", text, SECONDS_MAX);
    return wrong;
}

const char *leaving_read(void)
{
    const char *way = getenv("EPOP_LEAVE"), *limit = getenv("EPOP_LEAVE_SECONDS");
    const char *text = way ? read_way(way) : NULL;
    return text || !limit ? text : read_seconds(limit);
}

int leaving_choose(epop_mpi_leave_t how)
{
    if ((int)how < 0 || (int)how >= WORD_COUNT)
        return -1;
    wanted = (int)how;
    return 0;
}

bool leaving_in_commit(void)
{
    return wanted == EPOP_MPI_LEAVE_COMMIT;
}

double leaving_seconds(void)
{
    return seconds;
}

/* ---- Whatever ends it --------------------------------------------------------------------- */

static pid_t self; /* this process, once it is alone; a child that it forks is none of ours */

static bool is_alone(void)
{
    return self && getpid() == self;
}

/* Registered before all others, it is called behind them: behind the handlers, static objects and libraries of the
 * program, any of which may call exit() with another status. */
static void on_last(int status, void *unused)
{
    (void)unused;
    if (!is_alone())
        return;
    engine_done();
    if (!status)
        return;
    fflush(NULL);
    ending_quit(EXIT_SUCCESS);
}

static void on_last_quick(void)
{
    if (!is_alone())
        return;
    engine_done();
    ending_quit(EXIT_SUCCESS);
}

static void __attribute__((constructor)) be_last(void)
{
    on_exit(on_last, NULL);
    at_quick_exit(on_last_quick);
}

/* By _exit. */
static int on_quit(int status)
{
    if (!is_alone())
        return status;
    engine_done();
    return EXIT_SUCCESS;
}

static void on_signal(int number)
{
    if (is_alone())
        ending_quit(EXIT_SUCCESS);
    signal(number, SIG_DFL);
    raise(number);
}

/* What would end it, and with it all of its launch; what the program has a handler for is its own. */
static void take_signals(void)
{
    static const int signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGALRM,   SIGUSR1, SIGUSR2,
                                  SIGXCPU, SIGXFSZ, SIGSYS,  SIGTRAP, SIGVTALRM, SIGPROF, SIGPOLL};
    struct sigaction now, ours = {.sa_handler = on_signal};
    sigemptyset(&ours.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (!sigaction(signals[i], NULL, &now) && now.sa_handler == SIG_DFL)
            sigaction(signals[i], &ours, NULL);
    crash_insist();
}

/* Not written out where another thread may be stuck in printf. */
static void end_with(const char *what, bool flush) __attribute__((noreturn));
static void end_with(const char *what, bool flush)
{
    char text[400];
    snprintf(text, sizeof text, "note: a process that left the job (pid %ld) %s", (long)getpid(), what);
    if (flush)
        ending_flush();
    ending_write(text);
    engine_done();
    ending_quit(EXIT_SUCCESS);
}

static int on_abort(MPI_Comm comm, int code)
{
    char what[100];
    (void)comm;
    snprintf(what, sizeof what, "called MPI_Abort with code %d; it ends, and the job goes on", code);
    end_with(what, true);
}

/* ---- Errors of MPI -------------------------------------------------------------------------- */

static MPI_Errhandler before = MPI_ERRHANDLER_NULL;

/* Outside of the window. Errors that belong to no communicator, as those of MPI_COMM_NULL there, and of MPI_COMM_WORLD
 * later, go to MPI_COMM_WORLD's handler up to MPICH 4.1, and to MPI_COMM_SELF's since, which few programs set. */
static MPI_Errhandler outside = MPI_ERRHANDLER_NULL, of_self = MPI_ERRHANDLER_NULL;

static void let_return(MPI_Comm comm, MPI_Errhandler *outside_of)
{
    MPI_Comm_get_errhandler(comm, outside_of);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
}

static void put_back(MPI_Comm comm, MPI_Errhandler *outside_of)
{
    if (*outside_of == MPI_ERRHANDLER_NULL)
        return;
    MPI_Comm_set_errhandler(comm, *outside_of);
    MPI_Errhandler_free(outside_of);
}

void leaving_opens(void)
{
    if (!leaving_in_commit())
        return;
    let_return(MPI_COMM_WORLD, &outside);
    let_return(MPI_COMM_SELF, &of_self);
}

void leaving_commits(void)
{
    put_back(MPI_COMM_WORLD, &outside);
    put_back(MPI_COMM_SELF, &of_self);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
}

/* Instead of the one that ends all: most of all for what is done with MPI_COMM_WORLD, which is none now. */
static void on_error(MPI_Comm *comm, int *code, ...)
{
    char what[MPI_MAX_ERROR_STRING + 100], text[MPI_MAX_ERROR_STRING];
    int length, class;
    (void)comm;
    MPI_Error_class(*code, &class);
    MPI_Error_string(class, text, &length);
    snprintf(what, sizeof what, "%s: %.100s; it ends, and the job goes on",
             class == MPI_ERR_COMM ? "used MPI_COMM_WORLD, which it has none of" : "met an error of MPI", text);
    end_with(what, true);
}

static void take_errors(MPI_Comm comm, MPI_Errhandler present)
{
    MPI_Errhandler ours;
    if (present != MPI_ERRORS_ARE_FATAL) {
        MPI_Comm_set_errhandler(comm, present);
        return;
    }
    MPI_Comm_create_errhandler(on_error, &ours);
    MPI_Comm_set_errhandler(comm, ours);
    MPI_Errhandler_free(&ours);
}

static void take_all_errors(void)
{
    MPI_Errhandler present;
    MPI_Comm_get_errhandler(MPI_COMM_SELF, &present);
    take_errors(MPI_COMM_SELF, present == MPI_ERRORS_ARE_FATAL ? before : present);
    take_errors(MPI_COMM_WORLD, before);
}

/* ---- What does not end ------------------------------------------------------------------------ */

/* The process manager waits for all processes that it started. */
static void *outlive(void *unused)
{
    char what[120];
    epop__job_await_end();
    usleep((useconds_t)(1e6 * (seconds - (double)(long)seconds)));
    sleep((unsigned)seconds);
    snprintf(what, sizeof what, "still runs %g s after the job's end (EPOP_LEAVE_SECONDS); it is ended", seconds);
    end_with(what, false);
    return unused;
}

void leaving_begin(void)
{
    self = getpid();
    epop__job_alone();
    interpose_life.abort = on_abort;
    interpose_life.exit = on_quit;
    take_signals();
    take_all_errors();
    thread_start(NULL, outlive, NULL);
}
