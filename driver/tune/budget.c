#include "driver/tune/budget.h"

#include <math.h>

/* So many times as long as it is expected a run or a visit may be: with a setting that was tried, and with one that was
 * not. */
#define KNOWN   1.1
#define UNKNOWN 2

static double spent(const struct budget *b, double now)
{
    return b->searched + (b->since > 0 ? now - b->since : 0);
}

static double past(const struct budget *b, double now)
{
    return b->total + (b->entered > 0 ? now - b->entered : 0);
}

void budget_enter(struct budget *b, double now, bool searches)
{
    b->entered = now;
    b->since = searches ? now : 0;
}

void budget_rest(struct budget *b, double now)
{
    b->searched = spent(b, now);
    b->since = 0;
}

void budget_leave(struct budget *b, double now)
{
    budget_rest(b, now);
    b->total = past(b, now);
    b->visit = now - b->entered;
    b->entered = 0;
}

void budget_note(struct budget *b, double share, double seconds)
{
    if (share > 0 && (b->least == 0 || seconds / share < b->least))
        b->least = seconds / share;
}

double budget_left(const struct budget *b, double now, double share)
{
    if (share < 0 || !(b->least > 0))
        return INFINITY;
    return b->within * (past(b, now) + (1 - share) * b->least) - spent(b, now);
}

bool budget_has_run(const struct budget *b, double now, double share, double seconds, double usual)
{
    return budget_left(b, now, share) > (seconds > 0 ? KNOWN * seconds : UNKNOWN * usual);
}

bool budget_has_visit(const struct budget *b, double now, double seconds)
{
    double usual = b->visit > 0 ? b->visit : past(b, now), most = seconds > 0 ? KNOWN * seconds : UNKNOWN * usual;
    return most > 0 && spent(b, now) + most <= b->within * (past(b, now) + most);
}

double budget_share(const struct budget *b)
{
    return b->total > 0 ? b->searched / b->total : -1;
}
