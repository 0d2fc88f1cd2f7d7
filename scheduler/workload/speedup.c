/* Speedups: see speedup.h. */
#include "scheduler/workload/speedup.h"

static double amdahl(double serial, double n)
{
    return 1 / (serial + (1 - serial) / n);
}

/* sigma <= 1: the parallelism is A, but for sigma of the time: it is 1 in one half of that, 2A - 1 in the other. */
static double downey_low(double a, double sigma, double n)
{
    if (n <= a)
        return a * n / (a + sigma * (n - 1) / 2);
    if (n < 2 * a - 1)
        return a * n / (sigma * (a - 0.5) + n * (1 - sigma / 2));
    return a;
}

/* sigma >= 1: it is 1 in sigma of sigma + 1 parts of the time, A + A sigma - sigma in the other. */
static double downey_high(double a, double sigma, double n)
{
    if (n < a + a * sigma - sigma)
        return n * a * (sigma + 1) / (sigma * (n + a - 1) + a);
    return a;
}

static double downey(double a, double sigma, double n)
{
    return sigma <= 1 ? downey_low(a, sigma, n) : downey_high(a, sigma, n);
}

/* How far n lies between the two points around it: 0 at `below`, 1 at `above`. Outside of all it is the last one. */
struct place {
    struct speedup_point below, above;
    double part;
};

static struct place find(const struct speedup *speedup, int nodes)
{
    struct place place = {{1, 1, 0}, {1, 1, 0}, 0};
    for (int i = 0; i < speedup->count; i++) {
        place.below = place.above;
        place.above = speedup->points[i];
        if (place.above.nodes >= nodes)
            break;
    }
    if (place.above.nodes <= nodes || place.above.nodes == place.below.nodes)
        place.below = place.above;
    else
        place.part = (double)(nodes - place.below.nodes) / (place.above.nodes - place.below.nodes);
    return place;
}

static double between(double below, double above, double part)
{
    return below + (above - below) * part;
}

double speedup_at(const struct speedup *speedup, int nodes)
{
    struct place place;
    switch (speedup->model) {
    case SPEEDUP_AMDAHL:
        return amdahl(speedup->serial, nodes);
    case SPEEDUP_DOWNEY:
        return downey(speedup->parallelism, speedup->sigma, nodes);
    case SPEEDUP_TABLE:
        place = find(speedup, nodes);
        return between(place.below.speedup, place.above.speedup, place.part);
    case SPEEDUP_LINEAR:
        break;
    }
    return nodes;
}

double speedup_mtct(const struct speedup *speedup, int nodes)
{
    double speed = speedup_at(speedup, nodes), mtct = nodes / speed - 1;
    if (speedup->model == SPEEDUP_TABLE) {
        struct place place = find(speedup, nodes);
        if (place.below.mtct >= 0 && place.above.mtct >= 0)
            return between(place.below.mtct, place.above.mtct, place.part);
    }
    return mtct > 0 ? mtct : 0;
}
