/* What a joining process's first probe is: see verdict.h. */
#include "runtime/coordinator/verdict.h"

#include <math.h>

#define FAR_SHORTER 4 /* times */

/* ---- Does everything fit together? --------------------------------------------------------- */

static bool fits(const struct evidence *e, const struct stretch *joining)
{
    uint64_t sum = 0;
    bool meet = true;
    for (int i = 0; i < e->stayed; i++) {
        sum += e->staying[i].balance;
        meet &= e->staying[i].world == e->staying[0].world;
    }
    for (int i = 0; i < e->joined; i++) {
        sum += joining[i].balance;
        meet &= joining[i].world == e->staying[0].world;
    }
    return meet && sum == 0;
}

static bool is_silent(const struct stretch *s, int count)
{
    for (int i = 0; i < count; i++)
        if (s[i].world || s[i].sent || s[i].received || s[i].parts)
            return false;
    return true;
}

/* ---- Which one is nearer? -------------------------------------------------------------------- */

struct mean {
    double world, sent, received, parts, seconds;
};

static struct mean mean_of(const struct stretch *s, int count)
{
    struct mean mean = {0};
    for (int i = 0; i < count; i++) {
        mean.world += (double)s[i].world / count;
        mean.sent += (double)s[i].sent / count;
        mean.received += (double)s[i].received / count;
        mean.parts += (double)s[i].parts / count;
        mean.seconds += s[i].seconds / count;
    }
    return mean;
}

static double unmet(const struct evidence *e, const struct stretch *joining)
{
    return fabs(mean_of(joining, e->joined).world - mean_of(e->staying, e->stayed).world);
}

static double unreceived(const struct evidence *e, const struct stretch *joining)
{
    struct mean one = mean_of(e->staying, e->stayed), other = mean_of(joining, e->joined);
    return fabs((one.sent - one.received) * e->stayed + (other.sent - other.received) * e->joined);
}

/* A program does much the same on all processes. */
static double unlike(const struct evidence *e, const struct stretch *joining)
{
    struct mean mean = mean_of(e->staying, e->stayed);
    double all = 0;
    for (int i = 0; i < e->joined; i++)
        all += fabs((double)joining[i].world - mean.world) + fabs((double)joining[i].sent - mean.sent) +
               fabs((double)joining[i].received - mean.received) + fabs((double)joining[i].parts - mean.parts);
    return all;
}

static enum first_probe by_time(const struct evidence *e)
{
    double one = mean_of(e->first, e->joined).seconds, all = mean_of(e->staying, e->stayed).seconds;
    return one * FAR_SHORTER < all ? FIRST_PROBE_REPEATS : FIRST_PROBE_COUNTS;
}

/* FIND: none is. */
static enum first_probe nearer(const struct evidence *e)
{
    static double (*const apart[])(const struct evidence *, const struct stretch *) = {unmet, unlike, unreceived};
    static const double rounding = 1e-6;
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++) {
        double more = apart[i](e, e->first) - apart[i](e, e->second);
        if (fabs(more) > rounding)
            return more > 0 ? FIRST_PROBE_REPEATS : FIRST_PROBE_COUNTS;
    }
    return FIRST_PROBE_FIND;
}

struct verdict verdict_of(const struct evidence *e)
{
    bool counts = fits(e, e->first), repeats = fits(e, e->second);
    if (counts != repeats)
        return (struct verdict){.what = counts ? FIRST_PROBE_COUNTS : FIRST_PROBE_REPEATS, .sure = true};
    bool silent = is_silent(e->staying, e->stayed) || is_silent(e->second, e->joined);
    enum first_probe what = silent ? FIRST_PROBE_FIND : nearer(e);
    bool open = counts || what == FIRST_PROBE_FIND;
    return (struct verdict){.what = what == FIRST_PROBE_FIND ? by_time(e) : what, .open = open};
}
