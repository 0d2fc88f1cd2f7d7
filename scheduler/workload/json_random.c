/* Drawing jobs from a mix of applications: see json_random.h. */
#include "scheduler/workload/json_random.h"

#include <limits.h>
#include <math.h>

#include "scheduler/workload/fill.h"

#define MOST_JOBS    1000000
#define MOST_SECONDS 1e12
#define MOST_NODES   1000000

struct draw {
    struct json_reader *reader;
    struct place place, mix;
    uint64_t seed;
    int count, users, fixed;
    double interarrival, weights; /* of the whole mix */
};

/* ---- What may be drawn --------------------------------------------------------------------- */

static int check_list(const struct place *in, const char *key, double most, int count, struct error *error)
{
    struct place place = place_in(in, key);
    int index = 0;
    if (!cJSON_IsArray(place.item))
        return 0;
    if (place_array(&place, error))
        return -1;
    if (count > 0 && cJSON_GetArraySize(place.item) != count)
        return place_error(&place, error, "must be a number, or the least and the most");
    for (const cJSON *item = place.item->child; item; item = item->next, index++) {
        struct place at = {.in = &place, .index = index, .item = item};
        if (!cJSON_IsNumber(item) || !(item->valuedouble > 0 && item->valuedouble <= most))
            return place_error(&at, error, "is no number above 0 and at most %g", most);
        if (count == 0 && item->valuedouble != floor(item->valuedouble))
            return place_error(&at, error, "must be a whole number");
    }
    return 0;
}

static int weight_of(const struct place *place, double *weight, struct error *error)
{
    *weight = 1;
    return place_number(place, "weight", false, 0, 1e9, weight, error);
}

static int check_entry(struct draw *draw, const struct place *place)
{
    static const char *const keys[] = {"application", "weight", DRAFT_KEYS, NULL};
    struct error *error = draw->reader->error;
    double weight;
    if (place_object(place, keys, error) || weight_of(place, &weight, error) ||
        check_list(place, "nodes", MOST_NODES, 0, error) || check_list(place, "scale", 1e9, 2, error))
        return -1;
    draw->weights += weight;
    return 0;
}

static int check_mix(struct draw *draw)
{
    if (place_array(&draw->mix, draw->reader->error))
        return -1;
    int index = 0;
    for (const cJSON *item = draw->mix.item->child; item; item = item->next, index++) {
        struct place at = {.in = &draw->mix, .index = index, .item = item};
        if (check_entry(draw, &at))
            return -1;
    }
    if (draw->weights <= 0)
        return place_error(&draw->mix, draw->reader->error, "all weights are 0: nothing can be drawn");
    return 0;
}

static int read_draw(struct draw *draw)
{
    static const char *const keys[] = {"count", "seed", "interarrival", "arrival", "users", "mix", NULL};
    static const char *const arrivals[] = {"poisson", "fixed", NULL};
    const struct place *place = &draw->place;
    struct error *error = draw->reader->error;
    double seed = 1;
    if (place_object(place, keys, error) || place_int(place, "count", true, 1, MOST_JOBS, &draw->count, error) ||
        place_number(place, "seed", false, 0, 1e15, &seed, error) ||
        place_number(place, "interarrival", true, 0, MOST_SECONDS, &draw->interarrival, error) ||
        place_word(place, "arrival", false, arrivals, &draw->fixed, error) ||
        place_int(place, "users", false, 1, INT_MAX, &draw->users, error))
        return -1;
    draw->seed = (uint64_t)seed;
    draw->mix = place_in(place, "mix");
    return check_mix(draw);
}

/* ---- Drawing ------------------------------------------------------------------------------- */

static struct place drawn_entry(const struct draw *draw, int64_t id)
{
    struct place at = {.in = &draw->mix};
    double mark = drawn(draw->seed, id, "mix") * draw->weights, weight;
    struct error ignored; /* checked before */
    for (const cJSON *item = draw->mix.item->child; item; item = item->next, at.index++) {
        at.item = item;
        weight_of(&at, &weight, &ignored);
        mark -= weight;
        if (mark < 0 || !item->next)
            break;
    }
    return at;
}

static void draw_lists(const struct draw *draw, const struct place *entry, struct draft *draft)
{
    const cJSON *nodes = place_in(entry, "nodes").item, *scale = place_in(entry, "scale").item;
    int64_t id = draft->work->id;
    if (cJSON_IsArray(nodes)) {
        int at = (int)(drawn(draw->seed, id, "nodes") * cJSON_GetArraySize(nodes));
        draft->work->wanted = (int)cJSON_GetArrayItem(nodes, at)->valuedouble;
    }
    if (cJSON_IsArray(scale)) {
        double least = scale->child->valuedouble, most = scale->child->next->valuedouble;
        draft->scale = least + (most - least) * drawn(draw->seed, id, "scale");
    }
}

/* The first comes at 0. */
static double next_submission(const struct draw *draw, double last, int index, int64_t id)
{
    if (index == 0)
        return 0;
    return last + draw->interarrival * (draw->fixed ? 1 : -log1p(-drawn(draw->seed, id, "arrival")));
}

static int draw_job(struct draw *draw, int index, int64_t id, double *submit)
{
    struct draft draft;
    struct place entry = drawn_entry(draw, id);
    struct work *work = workload_add(draw->reader->workload);
    if (!work)
        return error_memory(draw->reader->error);
    draft_begin(&draft, work, draw->reader->workload->nodes);
    work->id = id;
    *submit = work->submit = next_submission(draw, *submit, index, id);
    work->user = (int)(drawn(draw->seed, id, "user") * draw->users);
    draft.drawn = true;
    if (json_read_job(draw->reader, &entry, &draft))
        return -1;
    draw_lists(draw, &entry, &draft);
    return draft_finish(&draft, &entry, draw->reader->error);
}

int json_random(struct json_reader *reader, const uint64_t *seed)
{
    struct draw draw = {.reader = reader, .place = place_in(&reader->document, "random"), .users = 1};
    int64_t id = 0;
    double submit = 0;
    if (!draw.place.item)
        return 0;
    if (read_draw(&draw))
        return -1;
    draw.seed = seed ? *seed : draw.seed;
    for (size_t i = 0; i < reader->workload->count; i++)
        id = reader->workload->works[i].id > id ? reader->workload->works[i].id : id;
    for (int index = 0; index < draw.count; index++)
        if (draw_job(&draw, index, ++id, &submit))
            return -1;
    return 0;
}
