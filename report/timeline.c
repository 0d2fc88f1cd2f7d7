/* For each process: the MPI share around each moment, the element at each moment, and its adaptations. */
#include "report/timeline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* One process, and its part of the trace. */
struct row {
    int process;
    const struct trace_slice *slices;
    const struct trace_share *shares;
    size_t slice_count, share_count;
    double shift, step;              /* from the trace's clock to the profile's; between two moments */
    double ratios[TIMELINE_MOMENTS]; /* NAN: it was no rank, or nothing is known */
};

static double number(const cJSON *object, const char *key, double otherwise)
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

static int append(cJSON *list, cJSON *item)
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
        return append(spans, span);
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
        if (append(ratios, number_or_null(row->ratios[i])) != 0)
            goto fail;
    if (!cJSON_AddNumberToObject(entry, "process", row->process) || !cJSON_AddItemToObject(entry, "ratios", ratios))
        goto fail;
    return append(shares, entry);
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
        if (trace->slices[i].kind == SLICE_RANK && trace->slices[i].process == (int)number(process, "process", 0))
            return number(rank, "begin", 0) - trace->slices[i].begin;
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
        one_in = fmax(one_in, number(cJSON_GetObjectItemCaseSensitive(kept, "elements"), "one_in", 1));
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
        struct row row = {.process = (int)number(process, "process", 0), .shift = shift, .step = step};
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
    double step = number(profile, "duration", 0) / TIMELINE_MOMENTS;
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
