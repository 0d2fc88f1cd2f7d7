/* Which columns of a table there is room for: see fit.h. */
#include "epopctl/fit.h"

static int needed(const int *widths, int columns, const bool *shown)
{
    int width = -CTL_GAP;
    for (int column = 0; column < columns; column++)
        width += shown[column] ? widths[column] + CTL_GAP : 0;
    return width;
}

void ctl_fit(const int *widths, int columns, const int *drop, int drops, int room, bool *shown)
{
    for (int column = 0; column < columns; column++)
        shown[column] = true;
    for (int i = 0; i < drops && needed(widths, columns, shown) > room; i++)
        shown[drop[i]] = false;
}
