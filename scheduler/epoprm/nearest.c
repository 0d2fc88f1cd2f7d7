/* The nearest word: see nearest.h. */
#include "scheduler/epoprm/nearest.h"

#include <stddef.h>
#include <string.h>

enum { LONGEST = 40, FARTHEST = 2 };

static int least(int a, int b, int c)
{
    int two = a < b ? a : b;
    return two < c ? two : c;
}

/* Letters put in, left out, or changed. */
static int distance(const char *from, const char *to)
{
    int row[LONGEST + 1], length = (int)strlen(to);
    for (int j = 0; j <= length; j++)
        row[j] = j;
    for (int i = 1; from[i - 1]; i++) {
        int corner = row[0];
        row[0] = i;
        for (int j = 1; j <= length; j++) {
            int above = row[j];
            row[j] = least(row[j - 1] + 1, above + 1, corner + (from[i - 1] != to[j - 1]));
            corner = above;
        }
    }
    return row[length];
}

const char *nearest(const char *word, const char *const *names, int count)
{
    const char *best = NULL;
    int least_far = FARTHEST + 1;
    for (int i = 0; i < count && strlen(word) <= LONGEST; i++) {
        int far = distance(word, names[i]);
        if (far < least_far && far < (int)strlen(names[i]) / 2) {
            best = names[i];
            least_far = far;
        }
    }
    return best;
}
