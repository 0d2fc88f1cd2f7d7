/* Applications and listed jobs: see json_jobs.h. */
#include "scheduler/workload/json_jobs.h"

#include <math.h>

#include "scheduler/workload/fill.h"

#define MOST_SECONDS 1e12

/* Looked at once: an error in one that no job uses is one, too. */
int json_applications(struct json_reader *reader)
{
    static const char *const keys[] = {DRAFT_KEYS, NULL};
    struct place place = place_in(&reader->document, "applications");
    reader->applications = place;
    if (!place.item)
        return 0;
    if (!cJSON_IsObject(place.item))
        return place_error(&place, reader->error, "is no object {...}");
    for (const cJSON *item = place.item->child; item; item = item->next) {
        struct place at = place_in(&place, item->string);
        struct work work = {0};
        struct draft draft;
        draft_begin(&draft, &work, reader->workload->nodes);
        if (place_object(&at, keys, reader->error) || draft_read(&draft, &at, reader->error))
            return -1;
    }
    return 0;
}

static int read_application(struct json_reader *reader, const struct place *job, struct draft *draft)
{
    struct place place = place_in(job, "application");
    if (place_text(job, "application", false, &draft->name, reader->error))
        return -1;
    if (!place.item)
        return 0;
    draft->application = place_in(&reader->applications, draft->name);
    if (!draft->application.item)
        return place_error(&place, reader->error, "there is no application \"%.60s\"", draft->name);
    return draft_read(draft, &draft->application, reader->error);
}

int json_read_job(struct json_reader *reader, const struct place *place, struct draft *draft)
{
    return read_application(reader, place, draft) || draft_read(draft, place, reader->error) ? -1 : 0;
}

static int read_job(struct json_reader *reader, const struct place *place)
{
    static const char *const keys[] = {"id", "submit", "application", DRAFT_KEYS, NULL};
    double id = place->index + 1;
    struct draft draft;
    struct work *work = workload_add(reader->workload);
    if (!work)
        return error_memory(reader->error);
    draft_begin(&draft, work, reader->workload->nodes);
    if (place_object(place, keys, reader->error) || place_number(place, "id", false, 0, 1e15, &id, reader->error) ||
        place_number(place, "submit", false, 0, MOST_SECONDS, &work->submit, reader->error))
        return -1;
    work->id = (int64_t)id;
    if (id != floor(id))
        return place_error(place, reader->error, "id is %g: it must be a whole number", id);
    return json_read_job(reader, place, &draft) || draft_finish(&draft, place, reader->error) ? -1 : 0;
}

int json_jobs(struct json_reader *reader)
{
    struct place jobs = place_in(&reader->document, "jobs");
    int index = 0;
    if (!jobs.item)
        return 0;
    if (place_array(&jobs, reader->error))
        return -1;
    for (const cJSON *item = jobs.item->child; item; item = item->next, index++) {
        struct place at = {.in = &jobs, .index = index, .item = item};
        if (read_job(reader, &at))
            return -1;
    }
    return 0;
}
