/* A list of deadlines. There are a dozen at most, so the list has no order. */
#include "runtime/base/timers.h"

#include <stddef.h>

#define TOO_LATE 0.5 /* seconds */
#define TO_LOOK  0.5 /* seconds to take what has come meanwhile */

void timers_init(struct timers *timers, double (*clock)(void))
{
    *timers = (struct timers){.clock = clock};
}

void timer_init(struct timer *timer, void (*ring)(void *context), void *context, struct timer_group *group)
{
    *timer = (struct timer){.ring = ring, .context = context, .group = group};
}

static bool stands_still(const struct timer *timer)
{
    return timer->group && timer->group->stops;
}

/* Where its time is measured from: a group that stands still does so since then. */
static double now_of(const struct timers *timers, const struct timer *timer)
{
    return stands_still(timer) ? timer->group->since : timers->clock();
}

void timers_set(struct timers *timers, struct timer *timer, double seconds)
{
    if (!timer->set) {
        timer->next = timers->first;
        timers->first = timer;
    }
    timer->set = true;
    timer->due = now_of(timers, timer) + seconds;
    timer->round = timers->round;
}

void timers_cancel(struct timers *timers, struct timer *timer)
{
    struct timer **link = &timers->first;
    if (!timer->set)
        return;
    while (*link != timer)
        link = &(*link)->next;
    *link = timer->next;
    timer->set = false;
}

double timers_left(const struct timers *timers, const struct timer *timer)
{
    return timer->set ? timer->due - now_of(timers, timer) : 0;
}

void timers_stop(struct timers *timers, struct timer_group *group)
{
    if (group->stops++ == 0)
        group->since = timers->clock();
}

void timers_go_on(struct timers *timers, struct timer_group *group)
{
    if (--group->stops)
        return;
    double stood = timers->clock() - group->since;
    for (struct timer *t = timers->first; t; t = t->next)
        if (t->group == group)
            t->due += stood;
}

/* The earliest of those that run, and that were set before this round; NULL: there is none. */
static struct timer *earliest(const struct timers *timers, int before)
{
    struct timer *found = NULL;
    for (struct timer *t = timers->first; t; t = t->next)
        if (!stands_still(t) && t->round < before && (!found || t->due < found->due))
            found = t;
    return found;
}

/* What others did meanwhile has not been taken yet. */
static void make_up_for(struct timers *timers, double late)
{
    for (struct timer *t = timers->first; t; t = t->next)
        if (t->group && !stands_still(t))
            t->due += late + TO_LOOK;
}

void timers_run(struct timers *timers)
{
    double now = timers->clock();
    if (timers->wakes && now > timers->wakes + TOO_LATE)
        make_up_for(timers, now - timers->wakes);
    timers->wakes = 0;
    int round = ++timers->round;
    for (struct timer *t; (t = earliest(timers, round)) && t->due <= now;) {
        timers_cancel(timers, t);
        if (t->ring)
            t->ring(t->context);
    }
}

double timers_next(struct timers *timers, double longest)
{
    const struct timer *t = earliest(timers, timers->round + 1);
    double now = timers->clock(), left = t ? t->due - now : longest;
    left = left > longest ? longest : left > 0 ? left : 0;
    timers->wakes = now + left;
    return left;
}
