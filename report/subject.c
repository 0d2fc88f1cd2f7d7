/* A file says itself what it is; what is no schedule should be a profile. */
#include "report/subject.h"

#include <cjson/cJSON.h>
#include <stdio.h>

#include "report/fits.h"
#include "report/input.h"
#include "report/profile.h"
#include "report/schedule.h"
#include "report/timeline.h"
#include "report/view.h"

static int add(cJSON *report, const char *key, cJSON *item)
{
    if (item && cJSON_AddItemToObject(report, key, item))
        return 0;
    cJSON_Delete(item);
    return -1;
}

/* {"profile": ..., "fits": ..., "timeline": ...} as text; NULL: no memory. Takes the profile and the timeline. */
static char *profile_text(cJSON *profile, cJSON *timeline)
{
    cJSON *report = cJSON_CreateObject();
    cJSON *fits = fits_of(profile);
    int failed = add(report, "profile", profile);
    failed |= add(report, "fits", fits);
    failed |= add(report, "timeline", timeline);
    char *text = failed ? NULL : cJSON_PrintUnformatted(report);
    cJSON_Delete(report);
    return text;
}

/* A null without a trace; NULL and the reason in error if the file is not one of the profile's run. */
static cJSON *read_timeline(const char *path, const cJSON *profile, char *error, size_t error_size)
{
    struct trace trace;
    if (!path)
        return cJSON_CreateNull();
    cJSON *json = input_read(path, error, error_size), *timeline = NULL;
    if (json && trace_read(&trace, json, profile, error, error_size) == 0) {
        timeline = timeline_of(&trace, cJSON_GetObjectItemCaseSensitive(json, "otherData"), profile);
        if (!timeline)
            snprintf(error, error_size, "does not fit into memory");
        trace_free(&trace);
    }
    cJSON_Delete(json);
    return timeline;
}

/* Takes the profile. */
static char *read_profile(cJSON *profile, struct engine *engine, const char *trace, const char **file, char *error,
                          size_t error_size)
{
    if (profile_check(profile, engine, error, error_size) != 0) {
        cJSON_Delete(profile);
        return NULL;
    }
    cJSON *timeline = read_timeline(trace, profile, error, error_size);
    if (!timeline) {
        *file = trace ? trace : *file;
        cJSON_Delete(profile);
        return NULL;
    }
    return profile_text(profile, timeline);
}

/* Takes the JSON. Tables have all that there is; pages and drawings are bounded. */
static char *read_schedule(cJSON *json, const struct options *options, const char **file, char *error,
                           size_t error_size)
{
    struct schedule schedule;
    char *text = NULL;
    if (options->trace) {
        *file = options->trace;
        snprintf(error, error_size, "is one file too many: a schedule has no trace");
    } else if (schedule_read(&schedule, json, error, error_size) == 0) {
        cJSON *view = view_of(&schedule, options->format == FORMAT_CSV ? &view_all : &view_page);
        text = view ? cJSON_PrintUnformatted(view) : NULL;
        cJSON_Delete(view);
        schedule_free(&schedule);
    }
    cJSON_Delete(json);
    return text;
}

int subject_read(struct subject *subject, struct engine *engine, const struct options *options, const char **file,
                 char *error, size_t error_size)
{
    *file = options->file;
    cJSON *json = input_read(options->file, error, error_size);
    if (!json)
        return -1;
    snprintf(error, error_size, "does not fit into memory");
    if (schedule_is(json))
        *subject = (struct subject){"schedule", read_schedule(json, options, file, error, error_size)};
    else
        *subject = (struct subject){"profile", read_profile(json, engine, options->trace, file, error, error_size)};
    return subject->json ? 0 : -1;
}
