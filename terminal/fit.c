/* Which columns of a table there is room for: see fit.h. */
#include "terminal/fit.h"

static int needed(const int *widths, int columns, const bool *shown)
{
    int width = -TERM_GAP;
    for (int column = 0; column < columns; column++)
        width += shown[column] ? widths[column] + TERM_GAP : 0;
    return width;
}

void term_fit(const int *widths, int columns, const int *drop, int drops, int room, bool *shown)
{
    for (int column = 0; column < columns; column++)
        shown[column] = true;
    for (int i = 0; i < drops && needed(widths, columns, shown) > room; i++)
        shown[drop[i]] = false;
}
