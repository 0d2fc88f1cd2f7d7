/* Parsing: see speedup_rule.h. */
#include "scheduler/workload/speedup_rule.h"
#include "runtime/base/duration.h"

#include <stdlib.h>
#include <string.h>

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

static unsigned needed(const struct model *model)
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
    return seen == needed(model) ? 0 : -1;
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
