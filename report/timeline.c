/* Picks the events of a trace that matter, in one pass, and samples what each process did at so many moments. */
#include "report/timeline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What matters in a trace -------------------------------------------------------------------- */

#define VERSION     2
#define MICROSECOND 1e-6

static int refuse_trace(char *error, size_t error_size, const char *text)
{
    snprintf(error, error_size, "%s", text);
    return -1;
}

static int get_number(const cJSON *object, const char *key, double *value)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!cJSON_IsNumber(item))
        return -1;
    *value = item->valuedouble;
    return 0;
}

static const char *get_text(const cJSON *object, const char *key)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
    return text != NULL ? text : "";
}

static int check_trace_kind(const cJSON *json, char *error, size_t error_size)
{
    const cJSON *about = cJSON_GetObjectItemCaseSensitive(json, "otherData");
    double version;
    if (strcmp(get_text(json, "schema"), "epop.profile") == 0)
        return refuse_trace(error, error_size, "is a profile; the second file is a trace");
    if (!cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(json, "traceEvents")) || !cJSON_IsObject(about))
        return refuse_trace(error, error_size, "is not a trace (epop --driver trace writes one)");
    if (get_number(about, "version", &version) != 0 || version != VERSION) {
        snprintf(error, error_size, "is not a trace of version %d, which this epop-report reads", VERSION);
        return -1;
    }
    if (!cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(about, "processes"))) {
        snprintf(error, error_size, "has no events: %.100s", get_text(about, "reason"));
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
        if (get_number(entry, "process", &value) == 0 && value == process && get_number(entry, "pid", &pid) == 0)
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
    const char *category = get_text(event, "cat");
    if (strcmp(category, "element") == 0)
        *kind = SLICE_ELEMENT;
    else if (strcmp(category, "rank") == 0)
        *kind = SLICE_RANK;
    else if (strcmp(category, "adaptation") == 0 && strcmp(get_text(event, "name"), "adaptation") == 0)
        *kind = SLICE_ADAPTATION;
    else
        return 0;
    return 1;
}

static int pick_slice(struct trace *trace, const cJSON *event)
{
    struct trace_slice slice = {.name = get_text(event, "name")};
    double process, begin, duration;
    if (!slice_kind(event, &slice.kind))
        return 0;
    if (get_number(event, "pid", &process) != 0 || get_number(event, "ts", &begin) != 0 ||
        get_number(event, "dur", &duration) != 0 || duration < 0)
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
    if (strcmp(get_text(event, "name"), "MPI") != 0)
        return 0;
    if (get_number(event, "pid", &process) != 0 || get_number(event, "ts", &time) != 0 ||
        get_number(cJSON_GetObjectItemCaseSensitive(event, "args"), "share", &share) != 0)
        return -1;
    trace->shares[trace->share_count++] = (struct trace_share){(int)process, time * MICROSECOND, share};
    return 0;
}

static int pick_event(struct trace *trace, const cJSON *event)
{
    const char *phase = get_text(event, "ph");
    if (strcmp(phase, "X") == 0)
        return pick_slice(trace, event);
    if (strcmp(phase, "C") == 0)
        return pick_share(trace, event);
    return *phase != '\0' ? 0 : -1;
}

static int compare_places(int process, double time, int other_process, double other_time)
{
    if (process != other_process)
        return process < other_process ? -1 : 1;
    return time < other_time ? -1 : time > other_time;
}

static int slice_by_begin(const void *left, const void *right)
{
    const struct trace_slice *a = left, *b = right;
    return compare_places(a->process, a->begin, b->process, b->begin);
}

static int share_by_time(const void *left, const void *right)
{
    const struct trace_share *a = left, *b = right;
    return compare_places(a->process, a->time, b->process, b->time);
}

int timeline_read_trace(struct trace *trace, const cJSON *json, const cJSON *profile, char *error, size_t error_size)
{
    *trace = (struct trace){0};
    if (check_trace_kind(json, error, error_size) != 0 || check_run(json, profile, error, error_size) != 0)
        return -1;
    const cJSON *events = cJSON_GetObjectItemCaseSensitive(json, "traceEvents"), *event;
    size_t count = (size_t)cJSON_GetArraySize(events), done = 0;
    trace->slices = calloc(count + 1, sizeof *trace->slices);
    trace->shares = calloc(count + 1, sizeof *trace->shares);
    if (trace->slices == NULL || trace->shares == NULL) {
        timeline_free_trace(trace);
        return refuse_trace(error, error_size, "does not fit into memory");
    }
    cJSON_ArrayForEach(event, events)
    {
        if (pick_event(trace, event) != 0) {
            timeline_free_trace(trace);
            snprintf(error, error_size, "has an event that is not whole, /traceEvents/%zu", done);
            return -1;
        }
        done++;
    }
    qsort(trace->slices, trace->slice_count, sizeof *trace->slices, slice_by_begin);
    qsort(trace->shares, trace->share_count, sizeof *trace->shares, share_by_time);
    return 0;
}

void timeline_free_trace(struct trace *trace)
{
    free(trace->slices);
    free(trace->shares);
    *trace = (struct trace){0};
}

/* ---- What each process did at each moment ------------------------------------------------------- */

/* One process, and its part of the trace. */
struct row {
    int process;
    const struct trace_slice *slices;
    const struct trace_share *shares;
    size_t slice_count, share_count;
    double shift, step;              /* from the trace's clock to the profile's; between two moments */
    double ratios[TIMELINE_MOMENTS]; /* NAN: it was no rank, or nothing is known */
};

static double number_or(const cJSON *object, const char *key, double otherwise)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(item) ? item->valuedouble : otherwise;
}

/* The process's first slice of that kind at that time, NULL if there is none. */
static const struct trace_slice *slice_at(const struct row *row, enum slice_kind kind, double time)
{
    const struct trace_slice *found = NULL;
    for (size_t i = 0; i < row->slice_count && row->slices[i].begin <= time; i++)
        if (row->slices[i].kind == kind && row->slices[i].end > time)
            found = &row->slices[i];
    return found;
}

/* A moment on the trace's clock: the middle of its step. */
static double moment(const struct row *row, int index)
{
    return (index + 0.5) * row->step - row->shift;
}

/* The mean of the process's ratios from `begin` to `end`; NAN where none is known. */
static double mean_share(const struct row *row, double begin, double end)
{
    double sum = 0, known = 0;
    for (size_t i = 0; i + 1 < row->share_count && row->shares[i].time < end; i++) {
        double from = fmax(begin, row->shares[i].time), to = fmin(end, row->shares[i + 1].time);
        if (to > from) {
            sum += (to - from) * row->shares[i].share;
            known += to - from;
        }
    }
    return known > 0 ? sum / known : NAN;
}

static void fill_ratios(struct row *row)
{
    for (int i = 0; i < TIMELINE_MOMENTS; i++) {
        double time = moment(row, i);
        row->ratios[i] =
            slice_at(row, SLICE_RANK, time) != NULL ? mean_share(row, time - row->step / 2, time + row->step / 2) : NAN;
    }
}

static cJSON *number_or_null(double value)
{
    return isnan(value) ? cJSON_CreateNull() : cJSON_CreateNumber(round(value * 1e4) / 1e4);
}

static int add_item(cJSON *object, const char *key, cJSON *item)
{
    if (item != NULL && cJSON_AddItemToObject(object, key, item))
        return 0;
    cJSON_Delete(item);
    return -1;
}

static int append_item(cJSON *list, cJSON *item)
{
    if (item != NULL && cJSON_AddItemToArray(list, item))
        return 0;
    cJSON_Delete(item);
    return -1;
}

static int add_span(cJSON *spans, const struct row *row, double begin, double end, const char *kind, const char *name)
{
    cJSON *span = cJSON_CreateObject();
    if (cJSON_AddNumberToObject(span, "process", row->process) &&
        cJSON_AddNumberToObject(span, "begin", fmax(0, begin + row->shift)) &&
        cJSON_AddNumberToObject(span, "end", end + row->shift) && cJSON_AddStringToObject(span, "kind", kind) &&
        cJSON_AddStringToObject(span, "name", name) &&
        add_item(span, "mpi", number_or_null(mean_share(row, begin, end))) == 0)
        return append_item(spans, span);
    cJSON_Delete(span);
    return -1;
}

/* The element at each moment; equal neighbours are one span. An adaptation is not the element that it happens in. */
static int add_elements(cJSON *spans, const struct row *row)
{
    const struct trace_slice *first = NULL, *last = NULL;
    int begun = 0;
    for (int i = 0; i <= TIMELINE_MOMENTS; i++) {
        double time = moment(row, i);
        const struct trace_slice *now = i < TIMELINE_MOMENTS ? slice_at(row, SLICE_ELEMENT, time) : NULL;
        if (now != NULL && slice_at(row, SLICE_ADAPTATION, time) != NULL)
            now = NULL;
        if (last != NULL && (now == NULL || strcmp(now->name, last->name) != 0)) {
            double begin = fmax(first->begin, moment(row, begun) - row->step / 2);
            if (add_span(spans, row, begin, fmin(last->end, time - row->step / 2), "phase", last->name) != 0)
                return -1;
            last = NULL;
        }
        if (now != NULL && last == NULL) {
            first = now;
            begun = i;
        }
        last = now;
    }
    return 0;
}

static int add_adaptations(cJSON *spans, const struct row *row)
{
    for (size_t i = 0; i < row->slice_count; i++)
        if (row->slices[i].kind == SLICE_ADAPTATION &&
            add_span(spans, row, row->slices[i].begin, row->slices[i].end, "resize", "resize") != 0)
            return -1;
    return 0;
}

static int add_shares(cJSON *shares, const struct row *row)
{
    cJSON *entry = cJSON_CreateObject(), *ratios = cJSON_CreateArray();
    for (int i = 0; i < TIMELINE_MOMENTS; i++)
        if (append_item(ratios, number_or_null(row->ratios[i])) != 0)
            goto fail;
    if (!cJSON_AddNumberToObject(entry, "process", row->process) || !cJSON_AddItemToObject(entry, "ratios", ratios))
        goto fail;
    return append_item(shares, entry);
fail:
    cJSON_Delete(ratios);
    cJSON_Delete(entry);
    return -1;
}

/* Points the row at its part of the trace. */
static void find_part(struct row *row, const struct trace *trace)
{
    size_t slice = 0, share = 0;
    while (slice < trace->slice_count && trace->slices[slice].process < row->process)
        slice++;
    while (share < trace->share_count && trace->shares[share].process < row->process)
        share++;
    row->slices = trace->slices + slice;
    row->shares = trace->shares + share;
    for (row->slice_count = 0; slice + row->slice_count < trace->slice_count; row->slice_count++)
        if (row->slices[row->slice_count].process != row->process)
            break;
    for (row->share_count = 0; share + row->share_count < trace->share_count; row->share_count++)
        if (row->shares[row->share_count].process != row->process)
            break;
}

/* Both files know when process 0 became a rank first: the profile counts from the job's start, the trace from its own.
 */
static double shift_of(const struct trace *trace, const cJSON *profile)
{
    const cJSON *process = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(profile, "processes"), 0);
    const cJSON *rank = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(process, "ranks"), 0);
    for (size_t i = 0; i < trace->slice_count && rank != NULL; i++)
        if (trace->slices[i].kind == SLICE_RANK && trace->slices[i].process == (int)number_or(process, "process", 0))
            return number_or(rank, "begin", 0) - trace->slices[i].begin;
    return 0;
}

/* What was sampled, and what is missing. */
static void write_note(char *text, size_t text_size, double step, const cJSON *about)
{
    double one_in = 1;
    const cJSON *process, *reason = cJSON_GetObjectItemCaseSensitive(about, "reason");
    cJSON_ArrayForEach(process, cJSON_GetObjectItemCaseSensitive(about, "processes"))
    {
        const cJSON *kept = cJSON_GetObjectItemCaseSensitive(process, "kept");
        one_in = fmax(one_in, number_or(cJSON_GetObjectItemCaseSensitive(kept, "elements"), "one_in", 1));
    }
    int length = snprintf(text, text_size, "The trace was looked at every %.3g ms.", step * 1e3);
    if (one_in > 1)
        length +=
            snprintf(text + length, text_size - (size_t)length, " Of visits to elements it has one in %.0f.", one_in);
    if (cJSON_IsString(reason))
        snprintf(text + length, text_size - (size_t)length, " It is partial: %.200s.", reason->valuestring);
}

static int add_rows(cJSON *spans, cJSON *shares, const struct trace *trace, const cJSON *profile, double step)
{
    double shift = shift_of(trace, profile);
    int count = 0;
    const cJSON *process;
    cJSON_ArrayForEach(process, cJSON_GetObjectItemCaseSensitive(profile, "processes"))
    {
        struct row row = {.process = (int)number_or(process, "process", 0), .shift = shift, .step = step};
        if (count++ == TIMELINE_PROCESSES)
            break;
        find_part(&row, trace);
        fill_ratios(&row);
        if (add_elements(spans, &row) != 0 || add_adaptations(spans, &row) != 0 || add_shares(shares, &row) != 0)
            return -1;
    }
    return 0;
}

cJSON *timeline_of(const struct trace *trace, const cJSON *about, const cJSON *profile)
{
    double step = number_or(profile, "duration", 0) / TIMELINE_MOMENTS;
    char note[400];
    write_note(note, sizeof note, step, about);
    cJSON *timeline = cJSON_CreateObject();
    cJSON *spans = cJSON_AddArrayToObject(timeline, "spans");
    cJSON *shares = cJSON_AddArrayToObject(timeline, "shares");
    if (shares != NULL && spans != NULL && cJSON_AddNumberToObject(timeline, "step", step) &&
        cJSON_AddStringToObject(timeline, "note", note) && add_rows(spans, shares, trace, profile, step) == 0)
        return timeline;
    cJSON_Delete(timeline);
    return NULL;
}
