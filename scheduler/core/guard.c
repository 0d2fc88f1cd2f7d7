/* A host's protection against its policies: see guard.h. */
#include "scheduler/core/guard.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define STACK_BYTES 65536 /* the policy may have used up its own */

static struct {
    bool installed;
    struct itimerval busy, alone;
    volatile sig_atomic_t inside, rung;
    char who[256], doing[128]; /* written before `inside` is set */
} guard;

static void put(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return; /* nobody reads it */
}

/* Safe in a signal handler. */
static void end(const char *did, const char *detail)
{
    const char *const parts[] = {
        program_invocation_short_name, ": policy ", guard.who, " ", did, detail, " ", guard.doing, "\n"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        put(parts[i]);
    _exit(1);
}

static const struct {
    int number;
    const char *name;
} crashes[] = {
    {SIGSEGV, "(SIGSEGV)"}, {SIGBUS, "(SIGBUS)"}, {SIGFPE, "(SIGFPE)"}, {SIGILL, "(SIGILL)"}, {SIGABRT, "(SIGABRT)"}};
#define CRASHES (sizeof crashes / sizeof *crashes)

/* Not the policy's: it comes again when this returns, with its usual effect. */
static void pass_on(int number)
{
    signal(number, SIG_DFL);
    raise(number);
}

static void on_crash(int number)
{
    if (!guard.inside) {
        pass_on(number);
        return;
    }
    for (size_t i = 0; i < CRASHES; i++) {
        if (crashes[i].number == number)
            end("crashed ", crashes[i].name);
    }
}

static void on_busy(int number)
{
    (void)number;
    if (guard.inside)
        end("does not return", ",");
}

/* At half of the time, and at all of it: a host that was stopped meanwhile hears one ring when it goes on. */
static void on_alone(int number)
{
    (void)number;
    if (guard.inside && guard.rung++)
        end("does nothing, and does not return", ",");
}

static void on_exit_of_host(void)
{
    if (guard.inside)
        end("called exit()", "");
}

static void handle(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK | SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

static struct itimerval every(double seconds)
{
    struct timeval time = {.tv_sec = (time_t)seconds};
    time.tv_usec = (suseconds_t)((seconds - (double)time.tv_sec) * 1e6);
    return (struct itimerval){time, time};
}

void guard_install(double busy, double alone)
{
    static char stack[STACK_BYTES];
    guard.busy = every(busy);
    guard.alone = every(alone / 2);
    if (guard.installed)
        return;
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    for (size_t i = 0; i < CRASHES; i++)
        handle(crashes[i].number, on_crash);
    handle(SIGPROF, on_busy);
    handle(SIGALRM, on_alone);
    atexit(on_exit_of_host);
    guard.installed = true;
}

void guard_enter(const char *policy, const char *doing, ...)
{
    va_list arguments;
    if (!guard.installed)
        return;
    snprintf(guard.who, sizeof guard.who, "%s", policy);
    va_start(arguments, doing);
    vsnprintf(guard.doing, sizeof guard.doing, doing, arguments);
    va_end(arguments);
    guard.rung = 0;
    guard.inside = 1;
    setitimer(ITIMER_PROF, &guard.busy, NULL);
    setitimer(ITIMER_REAL, &guard.alone, NULL);
}

void guard_leave(void)
{
    static const struct itimerval never;
    if (!guard.installed)
        return;
    setitimer(ITIMER_PROF, &never, NULL);
    setitimer(ITIMER_REAL, &never, NULL);
    guard.inside = 0;
}
