/*
 * Nodes over time: how many there are from each moment on, as those who hold them begin and end. First all changes are
 * noted, then they are summed up; from then on a change moves what is behind it, and the line stays in order.
 */
#ifndef SCHEDULER_POLICIES_GAIN_LINE_H
#define SCHEDULER_POLICIES_GAIN_LINE_H

#include <stdbool.h>

/* What there is from then on: of three kinds, as the caller counts them. */
struct gain_point {
    double time;           /* seconds from now */
    int idle, nodes, room; /* up to the sum: how much more */
    int changes;           /* at that time; without any there is no point */
};

struct gain_line {
    struct gain_point *points; /* by time, the first one now; NULL: nothing was begun */
    int count;
    bool summed;
};

/* Of nothing, with room for so many changes. -1: no memory. */
int gain_line_begin(struct gain_line *line, int changes);
void gain_line_free(struct gain_line *line);

/* So much more from `begin` to `end`: two changes; an infinite end is none. `times`: 1, or -1 to take back what was
 * added by the same numbers. Nothing happens to a line that was not begun. */
void gain_line_add(struct gain_line *line, double begin, double end, struct gain_point more, int times);

void gain_line_sum(struct gain_line *line);

/* Of the last point up to that time, or of the first one: where it stands. */
int gain_line_at(const struct gain_line *line, double time);

#endif
