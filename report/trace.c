/* A trace has many events and few that matter here; they are picked in one pass and sorted. */
#include "report/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION     2
#define MICROSECOND 1e-6

static int fail(char *error, size_t error_size, const char *text)
{
    snprintf(error, error_size, "%s", text);
    return -1;
}

static int number(const cJSON *object, const char *key, double *value)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!cJSON_IsNumber(item))
        return -1;
    *value = item->valuedouble;
    return 0;
}

static const char *string(const cJSON *object, const char *key)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
    return text != NULL ? text : "";
}

static int check_kind(const cJSON *json, char *error, size_t error_size)
{
    const cJSON *about = cJSON_GetObjectItemCaseSensitive(json, "otherData");
    double version;
    if (strcmp(string(json, "schema"), "epop.profile") == 0)
        return fail(error, error_size, "is a profile; the second file is a trace");
    if (!cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(json, "traceEvents")) || !cJSON_IsObject(about))
        return fail(error, error_size, "is not a trace (epop --driver trace writes one)");
    if (number(about, "version", &version) != 0 || version != VERSION) {
        snprintf(error, error_size, "is not a trace of version %d, which this epop-report reads", VERSION);
        return -1;
    }
    if (!cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(about, "processes"))) {
        snprintf(error, error_size, "has no events: %.100s", string(about, "reason"));
        return -1;
    }
    return 0;
}

/* The pid of a process in one of the two lists, -1 if it is not there. */
static double pid_of(const cJSON *list, double process)
{
    const cJSON *entry;
    double value, pid;
    cJSON_ArrayForEach(entry, list)
    {
        if (number(entry, "process", &value) == 0 && value == process && number(entry, "pid", &pid) == 0)
            return pid;
    }
    return -1;
}

static int check_run(const cJSON *json, const cJSON *profile, char *error, size_t error_size)
{
    const cJSON *about = cJSON_GetObjectItemCaseSensitive(json, "otherData");
    double traced = pid_of(cJSON_GetObjectItemCaseSensitive(about, "processes"), 0);
    double profiled = pid_of(cJSON_GetObjectItemCaseSensitive(profile, "processes"), 0);
    if (traced == profiled)
        return 0;
    snprintf(error, error_size,
             "is of another run: process 0 has pid %.0f there, and %.0f in the profile (--driver profile,trace)",
             traced, profiled);
    return -1;
}

/* Whether the event is a slice that matters; its kind. */
static int slice_kind(const cJSON *event, enum slice_kind *kind)
{
    const char *category = string(event, "cat");
    if (strcmp(category, "element") == 0)
        *kind = SLICE_ELEMENT;
    else if (strcmp(category, "rank") == 0)
        *kind = SLICE_RANK;
    else if (strcmp(category, "adaptation") == 0 && strcmp(string(event, "name"), "adaptation") == 0)
        *kind = SLICE_ADAPTATION;
    else
        return 0;
    return 1;
}

static int pick_slice(struct trace *trace, const cJSON *event)
{
    struct trace_slice slice = {.name = string(event, "name")};
    double process, begin, duration;
    if (!slice_kind(event, &slice.kind))
        return 0;
    if (number(event, "pid", &process) != 0 || number(event, "ts", &begin) != 0 ||
        number(event, "dur", &duration) != 0 || duration < 0)
        return -1;
    slice.process = (int)process;
    slice.begin = begin * MICROSECOND;
    slice.end = (begin + duration) * MICROSECOND;
    trace->slices[trace->slice_count++] = slice;
    return 0;
}

static int pick_share(struct trace *trace, const cJSON *event)
{
    double process, time, share;
    if (strcmp(string(event, "name"), "MPI") != 0)
        return 0;
    if (number(event, "pid", &process) != 0 || number(event, "ts", &time) != 0 ||
        number(cJSON_GetObjectItemCaseSensitive(event, "args"), "share", &share) != 0)
        return -1;
    trace->shares[trace->share_count++] = (struct trace_share){(int)process, time * MICROSECOND, share};
    return 0;
}

static int pick(struct trace *trace, const cJSON *event)
{
    const char *phase = string(event, "ph");
    if (strcmp(phase, "X") == 0)
        return pick_slice(trace, event);
    if (strcmp(phase, "C") == 0)
        return pick_share(trace, event);
    return *phase != '\0' ? 0 : -1;
}

static int compare(int process, double time, int other_process, double other_time)
{
    if (process != other_process)
        return process < other_process ? -1 : 1;
    return time < other_time ? -1 : time > other_time;
}

static int by_begin(const void *left, const void *right)
{
    const struct trace_slice *a = left, *b = right;
    return compare(a->process, a->begin, b->process, b->begin);
}

static int by_time(const void *left, const void *right)
{
    const struct trace_share *a = left, *b = right;
    return compare(a->process, a->time, b->process, b->time);
}

int trace_read(struct trace *trace, const cJSON *json, const cJSON *profile, char *error, size_t error_size)
{
    *trace = (struct trace){0};
    if (check_kind(json, error, error_size) != 0 || check_run(json, profile, error, error_size) != 0)
        return -1;
    const cJSON *events = cJSON_GetObjectItemCaseSensitive(json, "traceEvents"), *event;
    size_t count = (size_t)cJSON_GetArraySize(events), done = 0;
    trace->slices = calloc(count + 1, sizeof *trace->slices);
    trace->shares = calloc(count + 1, sizeof *trace->shares);
    if (trace->slices == NULL || trace->shares == NULL) {
        trace_free(trace);
        return fail(error, error_size, "does not fit into memory");
    }
    cJSON_ArrayForEach(event, events)
    {
        if (pick(trace, event) != 0) {
            trace_free(trace);
            snprintf(error, error_size, "has an event that is not whole, /traceEvents/%zu", done);
            return -1;
        }
        done++;
    }
    qsort(trace->slices, trace->slice_count, sizeof *trace->slices, by_begin);
    qsort(trace->shares, trace->share_count, sizeof *trace->shares, by_time);
    return 0;
}

void trace_free(struct trace *trace)
{
    free(trace->slices);
    free(trace->shares);
    *trace = (struct trace){0};
}
