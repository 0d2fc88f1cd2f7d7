/* Where the processes are, in a line: see whereabouts.h. */
#include "runtime/coordinator/whereabouts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/json.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/state.h"
#include "runtime/coordinator/survey.h"

#define PLACES 4 /* that are told one by one */
#define SPANS  6 /* of ranks at a place */

struct whereabouts {
    const cJSON **processes; /* not told yet; NULL: told */
    int count, places, untold;
    char *text;
    size_t size, length;
};

static void add(struct whereabouts *w, const char *text)
{
    if (w->length < w->size)
        w->length += (size_t)snprintf(w->text + w->length, w->size - w->length, "%s", text);
}

/* Without the times, which differ. */
static bool same_place(const cJSON *a, const cJSON *b)
{
    static const char *const names[] = {"activity", "mpi", "element"};
    bool same = strcmp(json_text(a, "activity"), "no answer") && json_int(a, "rank", -1) >= 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const cJSON *x = cJSON_GetObjectItemCaseSensitive(a, names[i]);
        const cJSON *y = cJSON_GetObjectItemCaseSensitive(b, names[i]);
        same = same && (x == y || cJSON_Compare(x, y, true));
    }
    return same;
}

static void describe_element(const cJSON *process, char text[120])
{
    const cJSON *element = cJSON_GetObjectItemCaseSensitive(process, "element");
    snprintf(text, 120, "no element");
    if (cJSON_IsObject(element))
        snprintf(text, 120, "'%.60s', iteration %lld", json_text(element, "name"),
                 (long long)json_int64(element, "iteration", 0));
}

static void describe_place(const cJSON *process, char text[240])
{
    const char *activity = json_text(process, "activity"), *mpi = json_text(process, "mpi");
    char element[120];
    describe_element(process, element);
    if (!strcmp(activity, "no answer"))
        snprintf(text, 240, "gives no answer (pid %d on %.60s)", json_int(process, "pid", 0),
                 json_text(process, "host"));
    else if (mpi)
        snprintf(text, 240, "in %.60s for %.0f s (%s)", mpi, json_number(process, "mpi_seconds", 0), element);
    else if (!strcmp(activity, "holding"))
        snprintf(text, 240, "at a probe for %.0f s (%s)", json_number(process, "seconds", 0), element);
    else if (!strcmp(activity, "ended"))
        snprintf(text, 240, "at the program's end");
    else
        snprintf(text, 240, "in %s for %.0f s", element, json_number(process, "seconds", 0));
}

/* "2-4": from this one on, ranks that follow each other at the same place, which are then told. The last of them. */
static int take_span(struct whereabouts *w, int first, const cJSON *place)
{
    int last = first;
    w->processes[first] = NULL;
    while (last + 1 < w->count && w->processes[last + 1] && same_place(w->processes[last + 1], place) &&
           json_int(w->processes[last + 1], "rank", -1) == json_int(place, "rank", -1) + (last + 1 - first))
        w->processes[++last] = NULL;
    return last;
}

static void add_span(struct whereabouts *w, int from, int to, const char *before)
{
    char text[48];
    if (from == to)
        snprintf(text, sizeof text, "%s %d", before, from);
    else
        snprintf(text, sizeof text, "%s %d%s%d", before, from, to == from + 1 ? ", " : "-", to);
    add(w, text);
}

static bool is_alone(const struct whereabouts *w, int first)
{
    for (int i = first + 1; i < w->count; i++)
        if (w->processes[i] && same_place(w->processes[i], w->processes[first]))
            return false;
    return true;
}

/* All that are where this one is. */
static void tell_place(struct whereabouts *w, int first)
{
    const cJSON *place = w->processes[first];
    char where[240];
    bool alone = is_alone(w, first);
    int spans = 0;
    add(w, w->places++ ? "; " : "");
    if (json_int(place, "rank", -1) < 0)
        add(w, strcmp(json_text(place, "state"), "leaving") ? "a joining process" : "a leaving process");
    for (int i = first; i < w->count; i++) {
        if (i != first && !(w->processes[i] && same_place(w->processes[i], place)))
            continue;
        const cJSON *from = w->processes[i];
        int rank = json_int(from, "rank", -1), last = take_span(w, i, from);
        if (rank >= 0 && spans++ < SPANS)
            add_span(w, rank, rank + last - i, spans > 1 ? "," : alone ? "rank" : "ranks");
        else if (rank >= 0 && spans == SPANS + 1)
            add(w, ", ...");
        i = last;
    }
    describe_place(place, where);
    add(w, " ");
    add(w, where);
}

static void tell(struct whereabouts *w)
{
    char rest[64];
    for (int i = 0; i < w->count; i++) {
        if (w->processes[i] && w->places < PLACES)
            tell_place(w, i);
        else if (w->processes[i])
            w->untold++;
    }
    snprintf(rest, sizeof rest, "; and %d more elsewhere", w->untold);
    add(w, w->untold ? rest : "");
}

void whereabouts_describe(struct coordinator *c, bool (*wanted)(const struct coordinator *c, const struct process *p),
                          char *text, size_t size)
{
    cJSON *json = survey_json(c), *process, *list = cJSON_GetObjectItemCaseSensitive(json, "processes");
    const cJSON **processes = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *processes);
    struct whereabouts w = {.processes = processes, .text = text, .size = size};
    text[0] = 0;
    cJSON_ArrayForEach(process, list)
    {
        if (processes && (!wanted || wanted(c, process_at(c, json_int(process, "process", 0)))))
            processes[w.count++] = process;
    }
    tell(&w);
    free(processes);
    cJSON_Delete(json);
}
