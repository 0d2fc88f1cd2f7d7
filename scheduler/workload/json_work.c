/* Jobs and applications: see json_work.h. */
#include "scheduler/workload/json_work.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/workload/fill.h"
#include "scheduler/workload/json_phase.h"
#include "scheduler/workload/json_range.h"

#define MOST_NODES   1000000
#define MOST_SECONDS 1e12
#define MOST_BYTES   1e18

static const char *const kinds[] = {[EPOP_RIGID] = "rigid",
                                    [EPOP_MOLDABLE] = "moldable",
                                    [EPOP_MALLEABLE] = "malleable",
                                    [EPOP_EVOLVING] = "evolving",
                                    NULL};

void draft_begin(struct draft *draft, struct work *work, int nodes)
{
    *draft = (struct draft){.work = work, .nodes = nodes, .kind = EPOP_RIGID, .progress = 1, .scale = 1};
    work->limit = -1;
}

static int read_progress(struct draft *draft, const struct place *place, struct error *error)
{
    struct place progress = place_in(place, "progress");
    if (progress.item && !cJSON_IsBool(progress.item))
        return place_error(&progress, error, "is neither true nor false");
    if (progress.item)
        draft->progress = cJSON_IsTrue(progress.item);
    return 0;
}

/* The place as it is now: what it is in lives on. */
static void take_place(struct place *taken, const struct place *in, const char *key)
{
    struct place place = place_in(in, key);
    if (place.item)
        *taken = place;
}

static bool is_drawn(const struct draft *draft, const struct place *place, const char *key)
{
    return draft->drawn && cJSON_IsArray(place_in(place, key).item);
}

int draft_read(struct draft *draft, const struct place *place, struct error *error)
{
    struct work *work = draft->work;
    const double tiny = 1e-9;
    if (place_text(place, "name", false, &draft->name, error) ||
        place_word(place, "kind", false, kinds, &draft->kind, error) ||
        place_int(place, "min", false, 1, MOST_NODES, &draft->min, error) ||
        place_int(place, "max", false, 1, MOST_NODES, &draft->max, error) ||
        place_int(place, "user", false, 0, INT_MAX, &work->user, error) ||
        place_number(place, "limit", false, tiny, MOST_SECONDS, &work->limit, error) ||
        place_number(place, "bytes", false, 0, MOST_BYTES, &work->bytes, error) || read_progress(draft, place, error))
        return -1;
    if (!is_drawn(draft, place, "nodes") && place_int(place, "nodes", false, 1, MOST_NODES, &work->wanted, error))
        return -1;
    if (!is_drawn(draft, place, "scale") && place_number(place, "scale", false, tiny, 1e9, &draft->scale, error))
        return -1;
    take_place(&draft->sizes, place, "sizes");
    take_place(&draft->phases, place, "phases");
    return 0;
}

static int check_wanted(const struct draft *draft, const struct place *place, struct error *error)
{
    int wanted = draft->work->wanted;
    struct place nodes = place_in(place, "nodes");
    if (wanted < 1)
        return place_error(&nodes, error, "is missing: how many nodes does the job want?");
    if (wanted > draft->nodes)
        return place_error(&nodes, error, "is %d, and the machine has %d", wanted, draft->nodes);
    return 0;
}

static int finish_range(struct draft *draft, const struct place *place, struct error *error)
{
    struct work *work = draft->work;
    epop_policy_range_t *range = &work->range;
    struct place nodes = place_in(place, "nodes"), max = place_in(place, "max");
    *range = (epop_policy_range_t){.min = work->wanted, .max = work->wanted};
    if (work->kind == EPOP_RIGID)
        return 0;
    range->min = draft->min ? draft->min : 1;
    range->max = draft->max ? draft->max : draft->nodes;
    if (range->max > draft->nodes)
        return place_error(&max, error, "is %d, and the machine has %d", range->max, draft->nodes);
    if (range->min > range->max)
        return place_error(&max, error, "is %d, below the job's min, %d", range->max, range->min);
    if (json_range(&draft->sizes, range, error))
        return -1;
    if (!epop_policy_accepts(range, work->wanted))
        return place_error(&nodes, error, "is %d, a size that the job does not accept (min, max, sizes)", work->wanted);
    return 0;
}

int draft_finish(struct draft *draft, const struct place *place, struct error *error)
{
    struct work *work = draft->work;
    work->kind = (epop_policy_kind_t)draft->kind;
    work->progress = draft->progress;
    if (check_wanted(draft, place, error) || finish_range(draft, place, error))
        return -1;
    if (!draft->phases.item)
        return place_error(place, error, "has no phases: name an application, or give phases");
    if (json_phases(&draft->phases, work, draft->nodes, draft->scale, error))
        return -1;
    work->name = strdup(draft->name ? draft->name : "job");
    if (!work->name)
        return error_memory(error);
    if (work->limit < 0)
        work->limit = work_seconds(work, work->wanted);
    return 0;
}
