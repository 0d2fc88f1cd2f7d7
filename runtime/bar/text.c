/* The progress bar's text: see text.h. */
#include "runtime/bar/text.h"

#include <stdio.h>
#include <string.h>

#define SHORTEST_BAR 10

static void time_left(const struct bar_state *state, char text[40])
{
    long seconds = (long)(state->left + 0.5);
    if (!state->running)
        snprintf(text, 40, "%.30s", state->state);
    else if (state->left < 0)
        snprintf(text, 40, "? left");
    else if (seconds < 60)
        snprintf(text, 40, "%ld s left", seconds);
    else if (seconds < 3600)
        snprintf(text, 40, "%ld min %ld s left", seconds / 60, seconds % 60);
    else
        snprintf(text, 40, "%ld h %ld min left", seconds / 3600, seconds % 3600 / 60);
}

/* "[=====>    ]", as many columns as there are between the two texts. */
static void add_bar(char *text, int columns, double share)
{
    int inside = columns - 2, done = (int)(share * inside);
    memset(text, ' ', (size_t)columns);
    text[0] = '[';
    memset(text + 1, '=', (size_t)done);
    if (done < inside)
        text[1 + done] = '>';
    text[columns - 1] = ']';
    text[columns] = 0;
}

void bar_text(const struct bar_state *state, int width, char *text, size_t size)
{
    char before[120], after[120], left[40], bar[512] = "";
    double share = (double)state->iteration / (double)state->bound;
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    time_left(state, left);
    snprintf(before, sizeof before, "%.60s  %d rank%s ", state->program, state->size, state->size == 1 ? "" : "s");
    snprintf(after, sizeof after, " %3d %%  %lld/%lld  %s", (int)(100 * share), (long long)state->iteration,
             (long long)state->bound, left);
    int columns = width - (int)strlen(before) - (int)strlen(after);
    if (columns >= SHORTEST_BAR)
        add_bar(bar, columns < (int)sizeof bar ? columns : (int)sizeof bar - 1, share);
    snprintf(text, size, "%s%s%s", columns >= 0 ? before : "", bar, after + (columns < 0));
    if (width >= 0 && strlen(text) > (size_t)width)
        text[width] = 0;
}
