/*
 * epop-report: a page, drawings or tables of a profile. Files are read and checked, and the fits computed, here; what
 * is shown and how is said in web/src.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/engine.h"
#include "report/fits.h"
#include "report/input.h"
#include "report/options.h"
#include "report/output.h"
#include "report/profile.h"
#include "report/timeline.h"

enum { DONE, FAILED, REFUSED };

#define ERROR_SIZE 400

static int complain(const char *what, const char *why)
{
    fprintf(stderr, "epop-report: %s: %s\n", what, why);
    return FAILED;
}

static int refuse(const char *path, const char *why)
{
    fprintf(stderr, "epop-report: %s %s\n", strcmp(path, "-") == 0 ? "the standard input" : path, why);
    return REFUSED;
}

static int add(cJSON *report, const char *key, cJSON *item)
{
    if (item != NULL && cJSON_AddItemToObject(report, key, item))
        return 0;
    cJSON_Delete(item);
    return -1;
}

/* {"profile": ..., "fits": ..., "timeline": ...} as text; NULL: no memory. Takes the profile and the timeline. */
static char *report_text(cJSON *profile, cJSON *timeline)
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

static int write_text(const char *path, const char *text)
{
    int failed = output_write(path, text);
    return failed ? complain(strcmp(path, "-") == 0 ? "the standard output" : path, strerror(failed)) : DONE;
}

/* One drawing or table; into the folder if there is one. */
static int write_chart(struct engine *engine, const struct options *options, const char *json, const char *chart,
                       const char *folder)
{
    const char *kind = options->format == FORMAT_SVG ? "svg" : "csv";
    char error[ERROR_SIZE], *path = NULL;
    char *text = engine_call(engine, kind, json, chart, options->width, error, sizeof error);
    if (text == NULL)
        return complain(chart, error);
    int status = DONE;
    if (*text == '\0' && folder == NULL)
        status = complain(chart, "there is nothing to draw (--format csv gives its figures)");
    else if (*text != '\0' && folder != NULL && asprintf(&path, "%s/%s.%s", folder, chart, kind) < 0)
        status = complain(folder, "no memory");
    else if (*text != '\0')
        status = write_text(folder != NULL ? path : options->output, text);
    free(path);
    free(text);
    return status;
}

/* `names` has one a line. */
static int has_name(const char *names, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = names; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (length > 0 && strncmp(line, name, length) == 0 && (line[length] == '\n' || line[length] == '\0'))
            return 1;
    }
    return 0;
}

static int write_charts(struct engine *engine, const struct options *options, const char *json)
{
    char error[ERROR_SIZE], *rest = NULL;
    char *names = engine_call(engine, "charts", "", "", 0, error, sizeof error);
    int status = DONE;
    if (names == NULL)
        return complain("charts", error);
    if (options->chart != NULL) {
        status = has_name(names, options->chart)
                     ? write_chart(engine, options, json, options->chart, NULL)
                     : refuse(options->chart, "is none of the charts (see epop-report --help)");
    } else {
        int failed = output_folder(options->output);
        if (failed)
            status = complain(options->output, strerror(failed));
        for (char *name = strtok_r(names, "\n", &rest); name && status == DONE; name = strtok_r(NULL, "\n", &rest))
            status = write_chart(engine, options, json, name, options->output);
    }
    free(names);
    return status;
}

static int write_page(struct engine *engine, const struct options *options, const char *json)
{
    char error[ERROR_SIZE];
    char *text = engine_call(engine, "page", json, "", 0, error, sizeof error);
    if (text == NULL)
        return complain("the page", error);
    int status = write_text(options->output, text);
    free(text);
    return status;
}

/* The file's JSON if it is a profile, else NULL and the reason in error. */
static cJSON *read_profile(struct engine *engine, const char *path, char *error, size_t error_size)
{
    cJSON *profile = input_read(path, error, error_size);
    if (profile != NULL && profile_check(profile, engine, error, error_size) != 0) {
        cJSON_Delete(profile);
        return NULL;
    }
    return profile;
}

/* A null without a trace; NULL and the reason in error if the file is not one of the profile's run. */
static cJSON *read_timeline(const char *path, const cJSON *profile, char *error, size_t error_size)
{
    struct trace trace;
    if (path == NULL)
        return cJSON_CreateNull();
    cJSON *json = input_read(path, error, error_size), *timeline = NULL;
    if (json != NULL && trace_read(&trace, json, profile, error, error_size) == 0) {
        timeline = timeline_of(&trace, cJSON_GetObjectItemCaseSensitive(json, "otherData"), profile);
        if (timeline == NULL)
            snprintf(error, error_size, "does not fit into memory");
        trace_free(&trace);
    }
    cJSON_Delete(json);
    return timeline;
}

static int make(struct engine *engine, const struct options *options)
{
    char error[ERROR_SIZE];
    cJSON *profile = read_profile(engine, options->profile, error, sizeof error);
    if (profile == NULL)
        return refuse(options->profile, error);
    cJSON *timeline = read_timeline(options->trace, profile, error, sizeof error);
    if (timeline == NULL) {
        cJSON_Delete(profile);
        return refuse(options->trace, error);
    }
    char *json = report_text(profile, timeline);
    if (json == NULL)
        return complain(options->profile, "no memory");
    int status =
        options->format == FORMAT_HTML ? write_page(engine, options, json) : write_charts(engine, options, json);
    free(json);
    return status;
}

int main(int argc, char **argv)
{
    struct options options;
    char error[ERROR_SIZE];
    enum options_result result = options_parse(&options, argc, argv);
    if (result == OPTIONS_DONE)
        return fflush(stdout) == 0 ? DONE : complain("the standard output", "cannot write");
    if (result == OPTIONS_WRONG)
        return REFUSED;
    struct engine *engine = engine_start(error, sizeof error);
    if (engine == NULL)
        return complain("the charts' program", error);
    int status = make(engine, &options);
    engine_stop(engine);
    return status;
}
