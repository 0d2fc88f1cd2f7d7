/* All of a trace: see merge.h. */
#include "driver/trace/merge.h"

#include <cjson/cJSON.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "driver/trace/clock.h"
#include "driver/trace/events.h"
#include "driver/trace/lanes.h"
#include "runtime/base/json.h"

/* Bytes that a record takes in the file, rather more than less. */
static const int64_t event_bytes[TRACE_LANES] = {[TRACE_STRUCTURE] = 180,
                                                 [TRACE_ELEMENTS] = 180,
                                                 [TRACE_ITERATIONS] = 190,
                                                 [TRACE_CALLS] = 130,
                                                 [TRACE_SAMPLES] = 100};
#define TRACK_BYTES 1200 /* a process's metadata */

/* ---- Fitting into the limit -------------------------------------------------------------- */

static int64_t bytes_of(const struct trace_buffers *all, int lane)
{
    int64_t records = 0;
    for (int i = 0; i < all->count; i++)
        records += all->buffers[i]->lanes[lane].used;
    return records * event_bytes[lane];
}

/* Thins what takes most, in all processes alike, until it fits. The structure goes last. */
static void fit(const struct trace_buffers *all, int64_t limit)
{
    for (int round = 0; round < 32 * TRACE_LANES; round++) {
        int64_t bytes[TRACE_LANES], total = (int64_t)all->count * TRACK_BYTES;
        int most = TRACE_ELEMENTS;
        for (int lane = 0; lane < TRACE_LANES; lane++) {
            total += bytes[lane] = bytes_of(all, lane);
            if (lane != TRACE_STRUCTURE && bytes[lane] > bytes[most])
                most = lane;
        }
        if (total <= limit)
            return;
        if (bytes[TRACE_STRUCTURE] > bytes[most])
            most = TRACE_STRUCTURE;
        for (int i = 0; i < all->count; i++)
            lane_thin(all->buffers[i], (enum trace_lane_name)most);
    }
}

/* Arrows need both ends: what one process kept of an adaptation the others keep too, or none does. */
static void level_structure(const struct trace_buffers *all)
{
    uint32_t coarsest = 1;
    for (int i = 0; i < all->count; i++)
        if (all->buffers[i]->lanes[TRACE_STRUCTURE].stride > coarsest)
            coarsest = all->buffers[i]->lanes[TRACE_STRUCTURE].stride;
    for (int i = 0; i < all->count; i++)
        while (all->buffers[i]->lanes[TRACE_STRUCTURE].stride < coarsest)
            lane_thin(all->buffers[i], TRACE_STRUCTURE);
}

/* ---- About the trace ------------------------------------------------------------------------ */

static void add_readings(cJSON *json, const struct trace_header *p)
{
    cJSON *list = cJSON_AddArrayToObject(json, "clock");
    for (int i = 0; i < p->clocks; i++) {
        cJSON *reading = cJSON_CreateObject();
        cJSON_AddNumberToObject(reading, "offset_us", (double)p->clock[i].offset / 1e3);
        cJSON_AddNumberToObject(reading, "uncertainty_us", (double)p->clock[i].uncertainty / 1e3);
        cJSON_AddItemToArray(list, reading);
    }
}

static cJSON *about_lane(const struct trace_lane *lane)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "seen", (double)lane->seen);
    cJSON_AddNumberToObject(json, "kept", lane->used);
    cJSON_AddNumberToObject(json, "one_in", lane->stride);
    return json;
}

static cJSON *about_process(const struct trace_header *p)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "process", p->process);
    cJSON_AddStringToObject(json, "host", p->host);
    cJSON_AddNumberToObject(json, "pid", p->pid);
    cJSON_AddBoolToObject(json, "finished", p->finished);
    if (p->failure)
        cJSON_AddNumberToObject(json, "failure", p->failure);
    cJSON_AddBoolToObject(json, "same_clock", p->same_clock);
    add_readings(json, p);
    cJSON_AddNumberToObject(json, "iterations", (double)p->iterations);
    cJSON_AddNumberToObject(json, "mpi_calls", (double)p->calls);
    cJSON_AddNumberToObject(json, "mpi_time_us", (double)p->call_total / 1e3);
    static const char *const names[TRACE_LANES] = {"adaptations", "elements", "iterations", "mpi", "samples"};
    cJSON *kept = cJSON_AddObjectToObject(json, "kept");
    for (int lane = 0; lane < TRACE_LANES; lane++)
        cJSON_AddItemToObject(kept, names[lane], about_lane(&p->lanes[lane]));
    return json;
}

static cJSON *about_trace(const struct trace_buffers *all, const cJSON *job, const struct trace_out *out)
{
    cJSON *json = cJSON_CreateObject();
    const char *end = json_text(job, "end"), *reason = json_text(job, "reason");
    cJSON_AddNumberToObject(json, "version", 2);
    cJSON_AddStringToObject(json, "program", all->count ? all->buffers[0]->program : "");
    cJSON_AddBoolToObject(json, "partial", !end || strcmp(end, "ended"));
    if (!end)
        reason = "the job was ended from outside";
    if (reason)
        cJSON_AddStringToObject(json, "reason", reason);
    cJSON_AddNumberToObject(json, "mpi_threshold_us", all->count ? (double)all->buffers[0]->least_call / 1e3 : 0);
    cJSON_AddNumberToObject(json, "limit", (double)out->limit);
    cJSON_AddNumberToObject(json, "dropped", (double)out->dropped);
    const cJSON *recoveries = cJSON_GetObjectItemCaseSensitive(job, "recoveries");
    if (recoveries)
        cJSON_AddItemToObject(json, "recoveries", cJSON_Duplicate(recoveries, true));
    cJSON *processes = cJSON_AddArrayToObject(json, "processes");
    for (int i = 0; i < all->count; i++)
        cJSON_AddItemToArray(processes, about_process(all->buffers[i]));
    return json;
}

/* "; of 120000 iterations one in 64", where not all were kept. */
static void sampled(const struct trace_buffers *all, enum trace_lane_name lane, const char *what, char *text,
                    size_t size)
{
    uint64_t seen = 0;
    uint32_t stride = 1;
    for (int i = 0; i < all->count; i++) {
        const struct trace_header *p = all->buffers[i];
        seen += lane == TRACE_ITERATIONS ? p->iterations : lane == TRACE_ELEMENTS ? p->visits : p->lanes[lane].seen;
        if (p->lanes[lane].stride > stride)
            stride = p->lanes[lane].stride;
    }
    size_t length = strlen(text);
    if (stride > 1)
        snprintf(text + length, size - length, "; of %llu %s one in %u", (unsigned long long)seen, what, stride);
}

static void summarize(const struct trace_buffers *all, const struct trace_out *out, const cJSON *about,
                      char text[TRACE_SUMMARY_MAX])
{
    char parts[400] = "";
    const char *reason = json_text(about, "reason");
    sampled(all, TRACE_STRUCTURE, "records of adaptations", parts, sizeof parts);
    sampled(all, TRACE_ELEMENTS, "elements", parts, sizeof parts);
    sampled(all, TRACE_ITERATIONS, "iterations", parts, sizeof parts);
    sampled(all, TRACE_CALLS, "MPI calls the longest, and of the others", parts, sizeof parts);
    size_t length = strlen(parts);
    if (out->dropped)
        snprintf(parts + length, sizeof parts - length, "; %lld events had no room", (long long)out->dropped);
    bool partial = json_true(about, "partial");
    snprintf(text, TRACE_SUMMARY_MAX, "trace: %s: %.1f MB, %d process%s%s%s%s%s", out->path, (double)out->written / 1e6,
             all->count, all->count == 1 ? "" : "es", parts, partial ? "; partial: " : "",
             partial && reason ? reason : "", partial && !reason ? "the job did not come to its end" : "");
}

/* ---- Writing ------------------------------------------------------------------------------------ */

static cJSON *read_job(const char *directory)
{
    char path[4400];
    snprintf(path, sizeof path, "%s/%s", directory, TRACE_JOB_NAME);
    FILE *file = fopen(path, "r");
    if (!file)
        return NULL;
    char *text = NULL;
    size_t size = 0;
    ssize_t length = getdelim(&text, &size, 0, file);
    cJSON *job = length > 0 ? cJSON_ParseWithLength(text, (size_t)length) : NULL;
    free(text);
    fclose(file);
    return job;
}

/* Also a request may be the first, before any process has begun. */
static int64_t first_time(const struct trace_buffers *all, const cJSON *job)
{
    const cJSON *instant;
    int64_t first = INT64_MAX;
    cJSON_ArrayForEach(instant, cJSON_GetObjectItemCaseSensitive(job, "instants"))
    {
        int64_t at = json_int64(instant, "at", first);
        if (at < first)
            first = at;
    }
    for (int i = 0; i < all->count; i++) {
        int64_t started = clock_common(all->buffers[i], all->buffers[i]->started);
        if (started < first)
            first = started;
    }
    return first;
}

static int write_all(const struct trace_buffers *all, const cJSON *job, struct trace_out *out, char *summary,
                     struct error *error)
{
    out->base = first_time(all, job);
    events_of_job(out, all);
    events_of_requests(out, job);
    for (int i = 0; i < all->count; i++)
        events_of_process(out, all->buffers[i]);
    events_of_flows(out, all);
    cJSON *about = about_trace(all, job, out);
    int result = out_close(out, about, error);
    if (!result)
        summarize(all, out, about, summary);
    cJSON_Delete(about);
    return result;
}

int merge_trace(const char *directory, const char *path, int64_t limit, char summary[TRACE_SUMMARY_MAX],
                struct error *error)
{
    struct trace_buffers all;
    struct trace_out out;
    if (out_open(&out, path, limit, error))
        return -1;
    cJSON *job = read_job(directory);
    buffers_open(&all, directory);
    level_structure(&all);
    fit(&all, limit - limit / 16);
    int result = write_all(&all, job, &out, summary, error);
    buffers_close(&all);
    cJSON_Delete(job);
    return result;
}
