/*
 * A program that crashes where, how and on which rank its arguments say, the other ranks waiting for it.
 *
 * where=init|exec|loop|adapt|branch|thread|joining   joining: in INIT of a joining process
 * where=left        does not crash, but leaves something running when it leaves: how=thread|timer
 * how=segv|bus|fpe|ill|abort|overflow|null|nested     null: calls a function at address 0
 * rank=R            -1 (the default): all ranks
 * at=N              in that iteration (3); iterations=N in all (1000000)
 * handler=1         the program handles SIGSEGV and SIGFPE itself: prints "handled", and ends with status 7
 */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>

#include "scenario.h"

static struct {
    const char *where, *how;
    long rank, at, iterations;
    int64_t iteration;
} crash;

static volatile int zero;
static int *volatile nowhere;
static void (*volatile no_function)(void);

static __attribute__((noinline)) int recurse(int depth)
{
    volatile char frame[4096];
    frame[0] = (char)depth;
    return depth < 0 ? 0 : recurse(depth + 1) + frame[0];
}

/* A page of a file that ends before it. */
static __attribute__((noinline)) int read_beyond(void)
{
    FILE *file = tmpfile();
    const volatile char *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(file), 0);
    return page[0];
}

static __attribute__((noinline)) int fault(void)
{
    if (!strcmp(crash.how, "fpe"))
        return 100 / zero;
    if (!strcmp(crash.how, "abort"))
        abort();
    if (!strcmp(crash.how, "ill"))
        __builtin_trap();
    if (!strcmp(crash.how, "overflow"))
        return recurse(0);
    if (!strcmp(crash.how, "bus"))
        return read_beyond();
    if (!strcmp(crash.how, "null"))
        no_function();
    return *nowhere;
}

static void *thread_main(void *unused)
{
    zero = fault();
    return unused;
}

static void fault_in_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, thread_main, NULL);
    pthread_join(thread, NULL);
}

static void *run_on(void *unused)
{
    for (;;)
        nap(1000);
    return unused;
}

static void tick(int number)
{
    zero = 0 * number;
}

/* Nobody ends it. */
static void leave_running(void)
{
    const struct itimerval soon = {{0, 10000}, {0, 10000}};
    pthread_t thread;
    if (!strcmp(crash.how, "thread"))
        pthread_create(&thread, NULL, run_on, NULL);
    else if (signal(SIGALRM, tick) != SIG_ERR)
        setitimer(ITIMER_REAL, &soon, NULL);
}

static bool mine(const char *where)
{
    return !strcmp(crash.where, where) && crash.iteration >= crash.at &&
           (crash.rank < 0 || crash.rank == rank_in(epop_world()));
}

static void on_signal(int number)
{
    static const char text[] = "handled\n";
    if (write(STDOUT_FILENO, text, sizeof text - 1) > 0)
        _exit(number ? 7 : 8);
}

static int init(int *argc, char ***argv, void **data)
{
    arguments_t arguments = {*argc, *argv};
    (void)data;
    crash.where = text_argument(arguments, "where", 0) ? text_argument(arguments, "where", 0) : "nowhere";
    crash.how = text_argument(arguments, "how", 0) ? text_argument(arguments, "how", 0) : "segv";
    crash.rank = argument(arguments, "rank", -1);
    crash.at = argument(arguments, "at", 3);
    crash.iterations = argument(arguments, "iterations", 1000000);
    if (argument(arguments, "handler", 0)) {
        signal(SIGSEGV, on_signal);
        signal(SIGFPE, on_signal);
    }
    say_init();
    crash.iteration = crash.at; /* for mine() */
    if (mine("init") || (epop_status() == EPOP_JOINING && mine("joining")))
        zero = fault();
    crash.iteration = 0;
    return 0;
}

static int work(void *data)
{
    (void)data;
    if (mine("exec"))
        zero = fault();
    if (mine("thread"))
        fault_in_thread();
    MPI_Barrier(epop_world());
    nap(1000);
    crash.iteration++;
    return 0;
}

static int more(void *data)
{
    (void)data;
    if (mine("loop"))
        zero = fault();
    return crash.iteration < crash.iterations;
}

static int adapt(void *data)
{
    epop_window_t window;
    int error = epop_adapt_begin(&window);
    (void)data;
    if (!error)
        error = epop_redist_replicated(&window, &crash.iteration, 1, MPI_INT64_T);
    if (mine("adapt"))
        zero = fault();
    if (!error)
        error = epop_adapt_commit();
    if (!strcmp(crash.where, "left") && window.status == EPOP_LEAVING)
        leave_running();
    return error;
}

static int turn(int pc, void *data)
{
    (void)data;
    if (mine("branch"))
        zero = fault();
    return pc + 1;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("scenario");
    epop_add_init(program, "prepare", init);
    epop_add_elastic(program, "work", work, adapt, more);
    epop_add_branch(program, "turn", turn);
    return program;
}
