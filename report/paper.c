/* Checks what is shown: that every claim can be told, and every point drawn. */
#include "report/paper.h"

#include <math.h>
#include <string.h>

#define SCHEMA  "epop.paper"
#define VERSION 1

static const cJSON *member(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

bool paper_is(const cJSON *json)
{
    const cJSON *schema = member(json, "schema");
    return cJSON_IsString(schema) && !strcmp(schema->valuestring, SCHEMA);
}

static bool are_texts(const cJSON *object, const char *const *names)
{
    for (; *names; names++)
        if (!cJSON_IsString(member(object, *names)))
            return false;
    return true;
}

/* Are all of an array's items such? */
static bool are_all(const cJSON *array, bool (*is)(const cJSON *item))
{
    const cJSON *item;
    cJSON_ArrayForEach(item, array)
    {
        if (!is(item))
            return false;
    }
    return cJSON_IsArray(array);
}

static bool is_finding(const cJSON *finding)
{
    return cJSON_IsBool(member(finding, "holds")) && cJSON_IsString(member(finding, "text"));
}

static bool is_claim(const cJSON *claim)
{
    const cJSON *here = member(claim, "here"), *agrees = member(claim, "agrees");
    return cJSON_IsString(member(claim, "claim")) && is_finding(member(claim, "paper")) &&
           (cJSON_IsNull(here) || is_finding(here)) && (cJSON_IsNull(agrees) || cJSON_IsBool(agrees));
}

/* ---- Charts ---- */

static bool is_number(const cJSON *item)
{
    return cJSON_IsNumber(item) && isfinite(item->valuedouble);
}

/* x, which is a number or a name, and y. */
static bool is_point(const cJSON *point)
{
    const cJSON *x = cJSON_GetArrayItem(point, 0);
    return cJSON_GetArraySize(point) == 2 && is_number(cJSON_GetArrayItem(point, 1)) &&
           (is_number(x) || cJSON_IsString(x));
}

static bool is_word(const cJSON *item)
{
    return cJSON_IsString(item);
}

/* x, y, and what stands there. */
static bool is_cell(const cJSON *cell)
{
    return cJSON_GetArraySize(cell) == 3 && are_all(cell, is_word);
}

static bool is_series(const cJSON *series)
{
    return cJSON_IsString(member(series, "name")) && cJSON_GetArraySize(member(series, "points")) > 0;
}

static bool is_panel(const cJSON *panel)
{
    const cJSON *series = member(panel, "series");
    return cJSON_IsString(member(panel, "title")) && cJSON_GetArraySize(series) > 0 && are_all(series, is_series);
}

static bool have_points(const cJSON *panels, bool (*is)(const cJSON *point))
{
    const cJSON *panel, *series;
    cJSON_ArrayForEach(panel, panels)
    {
        cJSON_ArrayForEach(series, member(panel, "series"))
        {
            if (!are_all(member(series, "points"), is))
                return false;
        }
    }
    return true;
}

static bool is_chart(const cJSON *chart)
{
    static const char *const texts[] = {"draw", "x", "y", "x_unit", "unit", "log", NULL};
    const cJSON *panels = member(chart, "panels");
    if (!are_texts(chart, texts) || cJSON_GetArraySize(panels) == 0 || !are_all(panels, is_panel))
        return false;
    const char *draw = member(chart, "draw")->valuestring;
    bool is_grid = !strcmp(draw, "grid");
    return (is_grid || !strcmp(draw, "lines") || !strcmp(draw, "steps") || !strcmp(draw, "dots")) &&
           have_points(panels, is_grid ? is_cell : is_point);
}

/* ---- All ---- */

/* Files and parts of the page are called so. */
static bool is_name(const char *text)
{
    return *text >= 'a' && *text <= 'z' && text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0';
}

static bool is_item(const cJSON *item)
{
    static const char *const texts[] = {"name", "of", "title", "text", NULL};
    return are_texts(item, texts) && is_name(member(item, "name")->valuestring) &&
           cJSON_IsArray(member(item, "claims")) && cJSON_IsArray(member(item, "charts"));
}

static bool is_place(const cJSON *place)
{
    static const char *const texts[] = {"machine", "mpi", "date", NULL};
    return are_texts(place, texts);
}

/* What is wrong; NULL: nothing. */
const char *paper_problem(const cJSON *json)
{
    static const char *const texts[] = {"name", "title", "by", "machine", NULL};
    const cJSON *version = member(json, "version"), *item;
    if (!cJSON_IsNumber(version) || version->valuedouble != VERSION)
        return "is no version of a paper's evaluation that this epop-report reads";
    if (!are_texts(json, texts) || !are_all(member(json, "measured"), is_place) ||
        !are_all(member(json, "items"), is_item))
        return "is no valid evaluation of a paper";
    cJSON_ArrayForEach(item, member(json, "items"))
    {
        if (!are_all(member(item, "claims"), is_claim))
            return "has a claim that is none";
        if (!are_all(member(item, "charts"), is_chart))
            return "has a chart that cannot be drawn";
    }
    return NULL;
}
