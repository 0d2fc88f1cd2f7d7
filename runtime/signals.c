/* SIGTERM: see signals.h. */
#include "runtime/signals.h"

#include <signal.h>
#include <stddef.h>

#include "runtime/coordinator/coordinator.h"

static struct coordinator *volatile present;
static volatile sig_atomic_t received;

static void on_terminate(int number)
{
    if (++received > 2) {
        signal(number, SIG_DFL);
        raise(number);
    } else if (present) {
        coordinator_signal(present);
    }
}

void signals_install(struct coordinator *coordinator)
{
    present = coordinator;
    struct sigaction action = {.sa_handler = on_terminate, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
}
