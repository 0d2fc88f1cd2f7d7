/* The job's own track: see events.h. */
#include <stdlib.h>
#include <string.h>

#include "driver/trace/clock.h"
#include "driver/trace/events.h"
#include "driver/trace/lanes.h"
#include "runtime/base/json.h"

struct world_size {
    int64_t time, adaptation;
    int size;
};

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int by_time(const void *left, const void *right)
{
    const struct world_size *a = left, *b = right;
    return compare(a->time, b->time);
}

static int by_adaptation(const void *left, const void *right)
{
    const struct world_size *a = left, *b = right;
    return a->adaptation != b->adaptation ? compare(a->adaptation, b->adaptation) : by_time(a, b);
}

static size_t most_sizes(const struct trace_buffers *all)
{
    size_t most = 1;
    for (int i = 0; i < all->count; i++)
        most += all->buffers[i]->lanes[TRACE_STRUCTURE].used + 1;
    return most;
}

/* Of every rank that was, in which world it was and when that began for it. */
static size_t collect_ranks(struct world_size *sizes, const struct trace_buffers *all)
{
    size_t count = 0;
    for (int i = 0; i < all->count; i++) {
        const struct trace_header *p = all->buffers[i];
        const struct trace_record *r = lane_records(p, TRACE_STRUCTURE);
        const struct trace_open *open = &p->open[OPEN_RANK];
        for (uint32_t k = 0; k < p->lanes[TRACE_STRUCTURE].used; k++)
            if (r[k].kind == TRACE_RANK)
                sizes[count++] = (struct world_size){clock_common(p, r[k].begin), r[k].a, r[k].c};
        if (open->begin)
            sizes[count++] = (struct world_size){clock_common(p, open->begin), open->a, open->c};
    }
    return count;
}

/* A world begins when its first rank is in it. */
static size_t keep_first(struct world_size *sizes, size_t count)
{
    size_t kept = 0;
    qsort(sizes, count, sizeof *sizes, by_adaptation);
    for (size_t i = 0; i < count; i++)
        if (!i || sizes[i].adaptation != sizes[i - 1].adaptation)
            sizes[kept++] = sizes[i];
    qsort(sizes, kept, sizeof *sizes, by_time);
    return kept;
}

static void write_name(struct trace_out *out, const char *kind, const char *more)
{
    out_event(out, &(struct trace_event){'M', TRACE_JOB_PID, TRACE_JOB_PID, -1, -1, kind, NULL, more});
}

void events_of_job(struct trace_out *out, const struct trace_buffers *all)
{
    struct world_size *sizes = malloc(most_sizes(all) * sizeof *sizes);
    size_t count = sizes ? keep_first(sizes, collect_ranks(sizes, all)) : 0;
    write_name(out, "process_name", "\"args\":{\"name\":\"job\"}");
    write_name(out, "process_sort_index", "\"args\":{\"sort_index\":0}");
    write_name(out, "thread_name", "\"args\":{\"name\":\"requests\"}");
    for (size_t i = 0; i < count; i++) {
        char more[80];
        snprintf(more, sizeof more, "\"args\":{\"ranks\":%d}", sizes[i].size);
        out_event(
            out, &(struct trace_event){'C', TRACE_JOB_PID, TRACE_JOB_PID, sizes[i].time, -1, "world size", NULL, more});
    }
    free(sizes);
}

void events_of_requests(struct trace_out *out, const cJSON *job)
{
    const cJSON *instant;
    cJSON_ArrayForEach(instant, cJSON_GetObjectItemCaseSensitive(job, "instants"))
    {
        char more[1000];
        const char *name = json_text(instant, "name");
        char *arguments = cJSON_PrintUnformatted(cJSON_GetObjectItemCaseSensitive(instant, "args"));
        int64_t duration = json_int64(instant, "duration", -1); /* a slice has one */
        snprintf(more, sizeof more, "%s\"args\":%s", duration < 0 ? "\"s\":\"p\"," : "", arguments ? arguments : "{}");
        if (name && (!arguments || strlen(arguments) < sizeof more - 20))
            out_event(out, &(struct trace_event){duration < 0 ? 'i' : 'X', TRACE_JOB_PID, TRACE_JOB_PID,
                                                 json_int64(instant, "at", 0), duration, name,
                                                 duration < 0 ? "request" : "checkpoint", more});
        free(arguments);
    }
}
