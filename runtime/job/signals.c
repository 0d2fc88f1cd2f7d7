/* SIGTERM and SIGINT: their handlers, and threads for what a handler cannot do. */
#include "runtime/job/signals.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

#include "runtime/base/clock.h"
#include "runtime/base/ending.h"
#include "runtime/base/thread.h"
#include "runtime/coordinator/coordinator.h"

#define ONE_NS INT64_C(1000000000)

static struct coordinator *volatile present;
static struct asked terminated, interrupted;

/* ---- A joined process ------------------------------------------------------------ */

static struct {
    sem_t told;
    pthread_mutex_t lock;
    void (*tell)(void);
} leaving = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* However often: the job goes on without this process, which ends when it has left. */
static void on_leave(int number)
{
    (void)number;
    int before = errno;
    sem_post(&leaving.told);
    errno = before;
}

static void *pass_on(void *unused)
{
    for (;;) {
        while (sem_wait(&leaving.told))
            ;
        pthread_mutex_lock(&leaving.lock);
        if (leaving.tell)
            leaving.tell();
        pthread_mutex_unlock(&leaving.lock);
    }
    return unused;
}

void signals_leave_by(void (*tell)(void))
{
    static bool runs;
    pthread_mutex_lock(&leaving.lock);
    leaving.tell = tell;
    if (tell && !runs)
        runs = !thread_start(NULL, pass_on, NULL);
    pthread_mutex_unlock(&leaving.lock);
}

/* ---- The process with the coordinator, and the others of its launch --------------- */

bool signals_ask(struct asked *asked)
{
    int64_t now = monotonic_ns(), last = atomic_load(&asked->last);
    if ((last && now - last < ONE_NS) || !atomic_compare_exchange_strong(&asked->last, &last, now))
        return false;
    asked->count++;
    return true;
}

/* The job is to end at once, and the coordinator may wait for a function of the program's, such as a size rule, that
 * does not return. */
static sem_t at_once;

static void *insist(void *unused)
{
    static const struct timespec moment = {.tv_sec = 1};
    while (sem_wait(&at_once))
        ;
    clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
    if (present)
        ending_abort(interrupted.count ? "interrupted (SIGINT); its coordinator does not answer"
                                       : "told to end for a second time (SIGTERM); its coordinator does not answer");
    return unused;
}

static void end_here(int number)
{
    signal(number, SIG_DFL);
    raise(number);
}

static void pass(void (*tell)(struct coordinator *), bool insists)
{
    if (present)
        tell(present);
    if (present && insists)
        sem_post(&at_once);
}

static void on_terminate(int number)
{
    bool another = signals_ask(&terminated);
    if (another && terminated.count > 2)
        end_here(number);
    else if (another)
        pass(coordinator_terminate, terminated.count > 1);
}

static void on_interrupt(int number)
{
    bool another = signals_ask(&interrupted);
    if (another && interrupted.count > 1)
        end_here(number);
    else if (another)
        pass(coordinator_interrupt, true);
}

/* A program that has a handler of its own, or is to ignore the signal, keeps that. */
static void handle(int number, void (*handler)(int))
{
    struct sigaction old, action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
        sigaction(number, &action, NULL);
}

/* They are not for children that the program forks. */
static void watch_children(void)
{
    pthread_atfork(NULL, NULL, signals_remove);
}

static void only_here(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_children);
}

void signals_install_joining(void)
{
    only_here();
    sem_init(&leaving.told, 0, 0);
    handle(SIGTERM, on_leave);
}

void signals_install(struct coordinator *coordinator)
{
    present = coordinator;
    if (coordinator && !sem_init(&at_once, 0, 0))
        thread_start(NULL, insist, NULL); /* without it one more signal does that */
    only_here();
    handle(SIGTERM, on_terminate);
    handle(SIGINT, on_interrupt);
}

static void restore(int number, void (*handler)(int))
{
    struct sigaction now;
    if (sigaction(number, NULL, &now) == 0 && now.sa_handler == handler)
        signal(number, SIG_DFL);
}

void signals_remove(void)
{
    present = NULL;
    restore(SIGTERM, on_terminate);
    restore(SIGTERM, on_leave);
    restore(SIGINT, on_interrupt);
}
