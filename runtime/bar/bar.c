/* The progress bar: see bar.h. */
#include "runtime/bar/bar.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/child.h"
#include "runtime/hydra/hydra.h"

#define LEAST_ROWS 4

static int terminal = -1, alive = -1; /* of the pipe at whose other end the guard waits */
static int rows;                      /* for which the region is set; 0: it is not */
static pid_t guard;

/* Standard output and error lead to the same terminal; its path. */
static bool own_terminal(char path[PATH_MAX])
{
    return isatty(STDOUT_FILENO) && isatty(STDERR_FILENO) && ttyname_r(STDERR_FILENO, path, PATH_MAX) == 0;
}

static bool can_move_cursor(void)
{
    const char *kind = getenv("TERM");
    return kind && kind[0] && strcmp(kind, "dumb");
}

static struct winsize window(void)
{
    struct winsize size = {0};
    ioctl(terminal, TIOCGWINSZ, &size);
    return size;
}

static void put(const char *text)
{
    if (write(terminal, text, strlen(text)) < 0)
        return; /* the terminal is gone: there is nobody to show it to */
}

/* Keeps where the cursor is, all lines scroll again, and the last one is empty. */
static void give_back(void)
{
    char text[64];
    struct winsize size = window();
    snprintf(text, sizeof text, "\0337\033[r\033[%d;1H\033[2K\0338", size.ws_row);
    put(text);
}

/* ---- The guard --------------------------------------------------------------------------- */

/* However this process ends, the terminal is usable then: a child waits for that, and does nothing else. */
static void watch_over(int in)
{
    char byte;
    setsid(); /* Ctrl-C is for the others */
    for (int number = 1; number < 32; number++)
        signal(number, SIG_IGN);
    for (int fd = 0; fd < 1024; fd++)
        if (fd != in && fd != terminal)
            close(fd);
    while (read(in, &byte, 1) > 0)
        ;
    give_back();
    _exit(0);
}

static bool start_guard(void)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    guard = _Fork();
    if (guard == 0) {
        close(ends[1]);
        watch_over(ends[0]);
    }
    close(ends[0]);
    alive = ends[1];
    child_without(&alive);
    return guard > 0;
}

/* ---- The bar -------------------------------------------------------------------------------- */

bool bar_open(void)
{
    char path[PATH_MAX];
    if (!can_move_cursor() || !(own_terminal(path) || hydra_terminal(path, sizeof path)))
        return false;
    terminal = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    return terminal >= 0;
}

/* The line feed makes room where the cursor is on the last line. */
static void set_region(int last)
{
    char text[64];
    snprintf(text, sizeof text, "\n\0337\033[1;%dr\0338\033[1A", last - 1);
    put(text);
    rows = last;
}

void bar_draw(const struct bar_state *state)
{
    char text[600], all[700];
    struct winsize size = window();
    if (terminal < 0 || size.ws_row < LEAST_ROWS || (!guard && !start_guard()))
        return;
    if (size.ws_row != rows)
        set_region(size.ws_row);
    bar_text(state, size.ws_col - 1, text, sizeof text);
    snprintf(all, sizeof all, "\0337\033[%d;1H\033[2K%s\0338", size.ws_row, text);
    put(all);
}

void bar_close(void)
{
    if (alive >= 0)
        close(alive);
    if (guard > 0)
        waitpid(guard, NULL, 0);
    if (terminal >= 0)
        close(terminal);
    alive = terminal = -1;
    guard = 0;
}
