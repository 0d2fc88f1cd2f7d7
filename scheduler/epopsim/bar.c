/* Drawing, ten times a second at most: see bar.h. */
#include "scheduler/epopsim/bar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/clock.h"

#define PERIOD    0.1
#define BAR_WIDTH 30

static bool can_move_cursor(void)
{
    const char *kind = getenv("TERM");
    return isatty(STDERR_FILENO) && kind && kind[0] && strcmp(kind, "dumb");
}

static void draw(const struct bar *bar, size_t ended, size_t jobs, double now)
{
    char line[BAR_WIDTH + 1];
    size_t done = jobs > 0 ? ended * BAR_WIDTH / jobs : 0;
    memset(line, ' ', BAR_WIDTH);
    memset(line, '=', done);
    line[BAR_WIDTH] = 0;
    if (done < BAR_WIDTH)
        line[done] = '>';
    fprintf(stderr, "%.24s [%s] %3zu %%  %zu/%zu jobs  day %.1f\033[K\r", bar->label, line,
            jobs > 0 ? 100 * ended / jobs : 0, ended, jobs, now / 86400);
    fflush(stderr);
}

void bar_show(void *context, size_t ended, size_t jobs, double now)
{
    struct bar *bar = context;
    if (!bar->shown || monotonic_seconds() < bar->next)
        return;
    bar->shown = can_move_cursor();
    bar->next = monotonic_seconds() + PERIOD;
    if (!bar->shown)
        return;
    draw(bar, ended, jobs, now);
    bar->drawn = true;
}

void bar_clear(struct bar *bar)
{
    if (bar->drawn)
        fputs("\033[K", stderr);
    bar->drawn = false;
}
