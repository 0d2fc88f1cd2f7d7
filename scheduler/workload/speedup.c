/* Models of speedup, and how options name them. */
#include "scheduler/workload/speedup.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"

/* ---- Models ------------------------------------------------------------------------------------- */

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
struct span {
    struct speedup_point below, above;
    double part;
};

static struct span points_around(const struct speedup *speedup, int nodes)
{
    struct span span = {{1, 1, 0}, {1, 1, 0}, 0};
    for (int i = 0; i < speedup->count; i++) {
        span.below = span.above;
        span.above = speedup->points[i];
        if (span.above.nodes >= nodes)
            break;
    }
    if (span.above.nodes <= nodes || span.above.nodes == span.below.nodes)
        span.below = span.above;
    else
        span.part = (double)(nodes - span.below.nodes) / (span.above.nodes - span.below.nodes);
    return span;
}

static double between(double below, double above, double part)
{
    return below + (above - below) * part;
}

double speedup_at(const struct speedup *speedup, int nodes)
{
    struct span span;
    switch (speedup->model) {
    case SPEEDUP_AMDAHL:
        return amdahl(speedup->serial, nodes);
    case SPEEDUP_DOWNEY:
        return downey(speedup->parallelism, speedup->sigma, nodes);
    case SPEEDUP_TABLE:
        span = points_around(speedup, nodes);
        return between(span.below.speedup, span.above.speedup, span.part);
    case SPEEDUP_LINEAR:
        break;
    }
    return nodes;
}

double speedup_mtct(const struct speedup *speedup, int nodes)
{
    double speed = speedup_at(speedup, nodes), mtct = nodes / speed - 1;
    if (speedup->model == SPEEDUP_TABLE) {
        struct span span = points_around(speedup, nodes);
        if (span.below.mtct >= 0 && span.above.mtct >= 0)
            return between(span.below.mtct, span.above.mtct, span.part);
    }
    return mtct > 0 ? mtct : 0;
}

int speedup_copy(struct speedup *copy, const struct speedup *speedup)
{
    *copy = *speedup;
    if (speedup->count == 0)
        return 0;
    size_t bytes = (size_t)speedup->count * sizeof *speedup->points;
    copy->points = malloc(bytes);
    if (!copy->points) {
        copy->count = 0;
        return -1;
    }
    memcpy(copy->points, speedup->points, bytes);
    return 0;
}

/* ---- Models by their names ---------------------------------------------------------------------- */

/* What each model needs, and the least of it. */
static const struct figure {
    const char *model, *name;
    double least, most;
    enum { SERIAL, PARALLELISM, SIGMA } member;
    bool relative; /* may end with w */
} figures[] = {
    {"amdahl", "serial", 0, 1, SERIAL, false},
    {"downey", "A", 0, 1e9, PARALLELISM, true},
    {"downey", "sigma", 0, 1e9, SIGMA, false},
};

#define FIGURES (sizeof figures / sizeof *figures)

static const struct model {
    const char *name;
    enum speedup_model model;
    const char *form;
} models[] = {
    {"linear", SPEEDUP_LINEAR, "linear"},
    {"amdahl", SPEEDUP_AMDAHL, "amdahl:serial=0.05"},
    {"downey", SPEEDUP_DOWNEY, "downey:A=2w,sigma=0.5"},
};

static const struct model *find_model(const char *text, size_t length)
{
    for (const struct model *model = models; model < models + sizeof models / sizeof *models; model++)
        if (strlen(model->name) == length && !strncmp(text, model->name, length))
            return model;
    return NULL;
}

static double *member_of(struct speedup *speedup, const struct figure *figure)
{
    if (figure->member == SERIAL)
        return &speedup->serial;
    return figure->member == SIGMA ? &speedup->sigma : &speedup->parallelism;
}

/* NAME=VALUE up to a comma or the end; the figure's number, or -1. */
static int take_figure(struct speedup_rule *rule, const struct model *model, const char *text)
{
    char *end;
    for (size_t i = 0; i < FIGURES; i++) {
        const struct figure *figure = &figures[i];
        size_t length = strlen(figure->name);
        if (strcmp(figure->model, model->name) || strncmp(text, figure->name, length) || text[length] != '=')
            continue;
        double value = decimal_read(text + length + 1, &end);
        bool relative = figure->relative && *end == 'w';
        bool right = end > text + length + 1 && value >= figure->least && value <= figure->most;
        if (!right || (figure->relative && value <= 0) || (figure->relative && !relative && value < 1))
            return -1;
        *member_of(&rule->speedup, figure) = value;
        rule->relative |= relative;
        end += relative;
        return *end && *end != ',' ? -1 : (int)i;
    }
    return -1;
}

static unsigned figures_needed(const struct model *model)
{
    unsigned all = 0;
    for (size_t i = 0; i < FIGURES; i++)
        all |= strcmp(figures[i].model, model->name) ? 0 : 1u << i;
    return all;
}

static int take_figures(struct speedup_rule *rule, const struct model *model, const char *text)
{
    unsigned seen = 0;
    while (*text) {
        int figure = take_figure(rule, model, text + 1); /* behind ':' or ',' */
        if (figure < 0 || seen & 1u << figure)
            return -1;
        seen |= 1u << figure;
        text += 1 + strcspn(text + 1, ",");
    }
    return seen == figures_needed(model) ? 0 : -1;
}

int speedup_rule_parse(struct speedup_rule *rule, const char *text, struct error *error)
{
    size_t length = strcspn(text, ":");
    const struct model *model = find_model(text, length);
    *rule = (struct speedup_rule){.set = true};
    if (!model)
        return error_set(error, ERROR_REFUSED,
                         "\"%s\" is no model of speedup: linear, amdahl:serial=S or downey:A=N[w],sigma=S", text);
    rule->speedup.model = model->model;
    if (take_figures(rule, model, text + length))
        return error_set(error, ERROR_REFUSED, "\"%s\": its figures make no sense; as in %s", text, model->form);
    return 0;
}
