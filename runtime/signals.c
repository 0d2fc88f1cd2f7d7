/* SIGTERM and SIGINT: see signals.h. */
#include "runtime/signals.h"

#include <signal.h>
#include <stddef.h>

#include "runtime/coordinator/coordinator.h"

static struct coordinator *volatile present;
static volatile sig_atomic_t terminated, interrupted;

static void end_here(int number)
{
    signal(number, SIG_DFL);
    raise(number);
}

static void on_terminate(int number)
{
    if (++terminated > 2)
        end_here(number);
    else if (present)
        coordinator_terminate(present);
}

static void on_interrupt(int number)
{
    if (++interrupted > 1)
        end_here(number);
    else if (present)
        coordinator_interrupt(present);
}

/* A program that has a handler of its own, or is to ignore the signal, keeps that. */
static void handle(int number, void (*handler)(int))
{
    struct sigaction old, action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
        sigaction(number, &action, NULL);
}

void signals_install_joining(void)
{
    handle(SIGTERM, on_terminate);
}

void signals_install(struct coordinator *coordinator)
{
    present = coordinator;
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
    restore(SIGINT, on_interrupt);
}
