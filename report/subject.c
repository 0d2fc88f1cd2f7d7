/*
 * Reads and checks the files, finds out whether they are a profile, loops, a schedule or a paper's evaluation, and
 * makes the JSON that the charts show.
 */
#include "report/subject.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <iconv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/fits.h"
#include "report/loops.h"
#include "report/paper.h"
#include "report/schedule.h"
#include "report/timeline.h"
#include "report/view.h"

/* ---- A JSON file -------------------------------------------------------------------------------- */

/* Read whole into memory; UTF-8 is checked here, as neither cJSON nor Duktape does it. */

/* More than any profile or trace that epop writes. */
#define MOST_BYTES ((size_t)1 << 30)
#define CHUNK      ((size_t)1 << 16)

struct text {
    char *bytes;
    size_t size;
};

static cJSON *refuse_input(char *error, size_t error_size, const char *reason)
{
    snprintf(error, error_size, "%s", reason);
    return NULL;
}

static cJSON *refuse_unreadable(char *error, size_t error_size, int reason)
{
    snprintf(error, error_size, "cannot be read: %s", strerror(reason));
    return NULL;
}

/* Reads to the end, with a 0 behind it; 0 or an errno. */
static int read_whole(FILE *file, struct text *text)
{
    size_t room = 0;
    for (;;) {
        if (text->size + CHUNK + 1 > room) {
            room = 2 * room + CHUNK + 1;
            char *bytes = room > MOST_BYTES ? NULL : realloc(text->bytes, room);
            if (bytes == NULL)
                return room > MOST_BYTES ? EFBIG : ENOMEM;
            text->bytes = bytes;
        }
        size_t got = fread(text->bytes + text->size, 1, CHUNK, file);
        text->size += got;
        text->bytes[text->size] = '\0';
        if (got == 0)
            return ferror(file) ? errno : 0;
    }
}

static int line_at(const struct text *text, size_t place)
{
    int line = 1;
    for (size_t i = 0; i < place && i < text->size; i++)
        line += text->bytes[i] == '\n';
    return line;
}

/* Where the text stops being UTF-8; its size if it does not. */
static size_t end_of_utf8(const struct text *text)
{
    char scratch[4096];
    char *in = text->bytes;
    size_t left = text->size;
    iconv_t converter = iconv_open("UTF-8", "UTF-8");
    if (converter == (iconv_t)-1)
        return text->size;
    while (left > 0) {
        char *out = scratch;
        size_t room = sizeof scratch;
        if (iconv(converter, &in, &left, &out, &room) == (size_t)-1 && errno != E2BIG)
            break;
    }
    iconv_close(converter);
    return text->size - left;
}

/* Whether what cannot be parsed begins like one of our files, and does not end like one. */
static int is_cut(const struct text *text, size_t place)
{
    size_t size = text->size;
    while (size > 0 && strchr(" \t\r\n", text->bytes[size - 1]) != NULL)
        size--;
    return text->bytes[0] == '{' && (place >= size || strchr("}]", text->bytes[size - 1]) == NULL);
}

static cJSON *parse_json(const struct text *text, char *error, size_t error_size)
{
    size_t valid = end_of_utf8(text);
    if (text->size == 0)
        return refuse_input(error, error_size, "is empty");
    if (valid < text->size) {
        snprintf(error, error_size, "is not JSON: line %d is not UTF-8", line_at(text, valid));
        return NULL;
    }
    const char *end = text->bytes;
    cJSON *json = cJSON_ParseWithLengthOpts(text->bytes, text->size + 1, &end, 1);
    size_t place = (size_t)(end - text->bytes);
    if (json == NULL && is_cut(text, place))
        snprintf(error, error_size, "is not whole: it ends in the middle, in line %d", line_at(text, text->size));
    else if (json == NULL)
        snprintf(error, error_size, "is not JSON: line %d", line_at(text, place));
    return json;
}

static cJSON *input_read(const char *path, char *error, size_t error_size)
{
    int is_stdin = strcmp(path, "-") == 0;
    FILE *file = is_stdin ? stdin : fopen(path, "re");
    if (file == NULL)
        return refuse_unreadable(error, error_size, errno);
    struct text text = {0};
    int failed = read_whole(file, &text);
    if (!is_stdin)
        fclose(file);
    cJSON *json = failed ? refuse_unreadable(error, error_size, failed) : parse_json(&text, error, error_size);
    free(text.bytes);
    return json;
}

/* ---- Is it a profile? --------------------------------------------------------------------------- */

/* What is commonly mistaken for a profile is told by name; the rest is for the schema. */

#define SCHEMA  "epop.profile"
#define VERSION 2

static int check_profile_kind(const cJSON *json, char *error, size_t error_size)
{
    const cJSON *schema = cJSON_GetObjectItemCaseSensitive(json, "schema");
    const cJSON *version = cJSON_GetObjectItemCaseSensitive(json, "version");
    if (cJSON_IsArray(json) || cJSON_HasObjectItem(json, "traceEvents"))
        snprintf(error, error_size, "looks like a trace, not a profile; a trace comes after the profile");
    else if (!cJSON_IsString(schema))
        snprintf(error, error_size,
                 "is not a profile (epop --driver profile --output FILE writes one), nor a schedule");
    else if (strcmp(schema->valuestring, SCHEMA) != 0)
        snprintf(error, error_size, "is not a profile, but %.60s", schema->valuestring);
    else if (!cJSON_IsNumber(version))
        snprintf(error, error_size, "is a profile without a version");
    else if (version->valuedouble != VERSION)
        snprintf(error, error_size, "is a profile of version %g; this epop-report reads version %d",
                 version->valuedouble, VERSION);
    else
        return 0;
    return -1;
}

/* 0 when the value is a profile that this version understands; else what is wrong stands in error. */
static int profile_check(const cJSON *json, struct engine *engine, char *error, size_t error_size)
{
    if (check_profile_kind(json, error, error_size) != 0)
        return -1;
    char *text = cJSON_PrintUnformatted(json);
    char *problem = text != NULL ? engine_call(engine, "problem", text, "", 0, error, error_size) : NULL;
    int failed = problem == NULL || *problem != '\0';
    if (problem != NULL && failed)
        snprintf(error, error_size, "is not a valid profile: %s", problem);
    free(problem);
    free(text);
    return failed ? -1 : 0;
}

/* ---- The subject -------------------------------------------------------------------------------- */

static int add_member(cJSON *report, const char *key, cJSON *item)
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
    int failed = add_member(report, "profile", profile);
    failed |= add_member(report, "fits", fits);
    failed |= add_member(report, "timeline", timeline);
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
    if (json && timeline_read_trace(&trace, json, profile, error, error_size) == 0) {
        timeline = timeline_of(&trace, cJSON_GetObjectItemCaseSensitive(json, "otherData"), profile);
        if (!timeline)
            snprintf(error, error_size, "does not fit into memory");
        timeline_free_trace(&trace);
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
    loops_name_in_phases(profile);
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

/* What comes alone, as {kind: ...}; NULL, with the problem in error if there is one. Takes the JSON. */
static char *text_alone(const char *kind, cJSON *json, const char *problem, char *error, size_t error_size)
{
    cJSON *report = problem ? NULL : cJSON_CreateObject();
    char *text = NULL;
    if (problem)
        snprintf(error, error_size, "%s", problem);
    if (report && cJSON_AddItemReferenceToObject(report, kind, json))
        text = cJSON_PrintUnformatted(report);
    cJSON_Delete(report);
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
    bool has_no_trace = loops_is(json) || paper_is(json);
    if (has_no_trace && options->trace) {
        *file = options->trace;
        snprintf(error, error_size, "is one file too many: %s no trace", loops_is(json) ? "loops have" : "a paper has");
        cJSON_Delete(json);
        return -1;
    }
    if (loops_is(json))
        *subject = (struct subject){"loops", text_alone("loops", json, loops_prepare(json), error, error_size)};
    else if (paper_is(json))
        *subject = (struct subject){"paper", text_alone("paper", json, paper_problem(json), error, error_size)};
    else if (schedule_is(json))
        *subject = (struct subject){"schedule", read_schedule(json, options, file, error, error_size)};
    else
        *subject = (struct subject){"profile", read_profile(json, engine, options->trace, file, error, error_size)};
    return subject->json ? 0 : -1;
}
