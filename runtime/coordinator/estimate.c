/* Estimating the time left: see estimate.h. */
#include "runtime/coordinator/estimate.h"

#define PRIOR_ITERATIONS 2.0

static void begin(struct estimate *e, double now, int64_t iteration, double prior)
{
    e->begun = true;
    e->begin = e->last = now;
    e->begin_iteration = e->iteration = iteration;
    e->prior = prior;
}

void estimate_add(struct estimate *e, double now, int64_t iteration, int64_t bound, int size)
{
    if (!e->begun || bound != e->bound || iteration < e->iteration)
        begin(e, now, iteration, 0);
    else if (size != e->size)
        begin(e, now, iteration, estimate_rate(e) * size / e->size);
    if (iteration != e->iteration) {
        e->iteration = iteration;
        e->last = now;
    }
    e->bound = bound;
    e->size = size;
}

void estimate_skip(struct estimate *e, double seconds)
{
    e->begin += seconds;
    e->last += seconds;
}

/* Up to the last iteration that came to its end: one that is under way says nothing yet. */
double estimate_rate(const struct estimate *e)
{
    double done = (double)(e->iteration - e->begin_iteration), time = e->last - e->begin;
    if (e->prior > 0) {
        done += PRIOR_ITERATIONS;
        time += PRIOR_ITERATIONS / e->prior;
    }
    return done > 0 && time > 0 ? done / time : 0;
}

double estimate_left(const struct estimate *e, double now)
{
    double rate = estimate_rate(e);
    if (e->bound <= 0 || rate <= 0)
        return -1;
    double left = (double)(e->bound - e->iteration) / rate - (now - e->last);
    return left > 0 ? left : 0;
}
