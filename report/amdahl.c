/* Fits the line by its normal equations in x = 1 / n, and says in words how well it fits. */
#include "report/amdahl.h"

#include <math.h>
#include <stdio.h>

/* From here on the law is said not to hold. */
#define POOR 0.2
/* Up to here a difference may be chance. */
#define NOISE 0.05

struct sums {
    double x, y, xx, xy;
};

static struct sums sums_of(const struct amdahl_point *points, size_t count)
{
    struct sums sums = {0};
    for (size_t i = 0; i < count; i++) {
        double x = 1.0 / points[i].size;
        sums.x += x;
        sums.y += points[i].time;
        sums.xx += x * x;
        sums.xy += x * points[i].time;
    }
    return sums;
}

double amdahl_time(const struct amdahl *fit, int size)
{
    return fit->serial + fit->parallel / size;
}

static double largest_deviation(const struct amdahl *fit, const struct amdahl_point *points, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(amdahl_time(fit, points[i].size) - points[i].time) / points[i].time);
    return largest;
}

void amdahl_fit(const struct amdahl_point *points, size_t count, struct amdahl *fit)
{
    *fit = (struct amdahl){.kind = AMDAHL_NONE};
    if (count < 2)
        return;
    struct sums sums = sums_of(points, count);
    double n = (double)count;
    fit->kind = count == 2 ? AMDAHL_EXACT : AMDAHL_FITTED;
    fit->parallel = (n * sums.xy - sums.x * sums.y) / (n * sums.xx - sums.x * sums.x);
    fit->serial = (sums.y - fit->parallel * sums.x) / n;
    /* Less than rounding makes of 0 is 0. */
    double tiny = 1e-12 * sums.y / n;
    if (fit->serial < -tiny) {
        fit->kind = AMDAHL_SUPERLINEAR;
        fit->parallel = sums.xy / sums.xx;
    } else if (fit->parallel < -tiny) {
        fit->kind = AMDAHL_FLAT;
        fit->serial = sums.y / n;
    }
    fit->serial = fit->kind == AMDAHL_SUPERLINEAR ? 0 : fmax(fit->serial, 0);
    fit->parallel = fit->kind == AMDAHL_FLAT ? 0 : fmax(fit->parallel, 0);
    fit->fraction = fit->serial / (fit->serial + fit->parallel);
    /* Through two points the line goes exactly, but for rounding. */
    fit->deviation = fit->kind == AMDAHL_EXACT ? 0 : largest_deviation(fit, points, count);
}

/* A share in percent: two digits are enough, and no run is more exact than 0.1 %. */
static void write_percent(double share, char *text, size_t text_size)
{
    share = fmax(share, 0.001);
    snprintf(text, text_size, share >= 0.1 ? "%.0f %%" : "%.2g %%", 100 * share);
}

void amdahl_verdict(const struct amdahl *fit, size_t count, char *text, size_t text_size)
{
    char share[32];
    write_percent(fit->deviation, share, sizeof share);
    switch (fit->kind) {
    case AMDAHL_NONE:
        snprintf(text, text_size, "%s", count == 1 ? "one world size only, so there is no fit" : "nothing to fit");
        return;
    case AMDAHL_EXACT:
        snprintf(text, text_size, "the line goes through both world sizes; two say nothing of how well the law holds");
        return;
    case AMDAHL_SUPERLINEAR:
        snprintf(
            text, text_size,
            fit->deviation > NOISE
                ? "faster than in proportion to the ranks (or its work changes meanwhile); s = 0 is off by up to %s"
                : "no serial part is seen; s = 0 is within %s",
            share);
        return;
    case AMDAHL_FLAT:
        snprintf(text, text_size, "no faster with more ranks; p = 0 is off by up to %s", share);
        return;
    case AMDAHL_FITTED:
        snprintf(text, text_size, "%s %s of what was measured at %zu world sizes%s",
                 fit->deviation > POOR ? "the law does not hold, the fit is off by up to" : "the fit is within", share,
                 count, count == 3 ? ", which are few" : "");
    }
}
