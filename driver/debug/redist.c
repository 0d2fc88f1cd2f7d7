/* Redistributions: the same call on every rank, and nothing lost on the way. */
#include "driver/debug/debug.h"
#include "runtime/redist/audit.h"

static const struct debug *debug;

static void called(const char *words)
{
    rolls_window(debug, words);
}

static void wrong(const char *text)
{
    breach(&debug->place.position, "%s", text);
}

static const struct redist_watch watch = {.called = called, .wrong = wrong};

void redist_start(const struct debug *state)
{
    debug = state;
    epop__watch_redist(&watch);
}

void redist_stop(void)
{
    epop__watch_redist(NULL);
}
