/*
 * Packs a trace buffer into text for the way to process 0, unpacks it there into a file, and writes down what the job
 * knows of itself.
 */
#include "driver/trace/handover.h"

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/common/output.h"
#include "runtime/base/clock.h"

/* ---- Base64 ------------------------------------------------------------------------------------- */

static const char base64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static char *encode_base64(const unsigned char *bytes, size_t size)
{
    char *text = malloc((size + 2) / 3 * 4 + 1), *to = text;
    for (size_t i = 0; text && i < size; i += 3) {
        unsigned group = (unsigned)bytes[i] << 16;
        group |= (i + 1 < size ? (unsigned)bytes[i + 1] << 8 : 0) | (i + 2 < size ? bytes[i + 2] : 0);
        for (int shift = 18; shift >= 0; shift -= 6)
            *to++ = base64_digits[group >> shift & 63];
    }
    if (text)
        *to = 0;
    return text;
}

/* The length is a multiple of 4, as encode makes it; what is filled up with zeros does no harm. */
static unsigned char *decode_base64(const char *text, size_t *size)
{
    signed char values[256];
    unsigned char *bytes = malloc(strlen(text) / 4 * 3 + 1);
    memset(values, -1, sizeof values);
    for (int i = 0; i < 64; i++)
        values[(unsigned char)base64_digits[i]] = (signed char)i;
    *size = 0;
    for (; bytes && text[0] && text[1] && text[2] && text[3]; text += 4) {
        unsigned group = 0;
        for (int i = 0; i < 4; i++) {
            if (values[(unsigned char)text[i]] < 0)
                return bytes;
            group = group << 6 | (unsigned)values[(unsigned char)text[i]];
        }
        for (int shift = 16; shift >= 0; shift -= 8)
            bytes[(*size)++] = (unsigned char)(group >> shift);
    }
    return bytes;
}

/* ---- One buffer --------------------------------------------------------------------------------- */

static size_t bytes_used(const struct trace_header *buffer)
{
    size_t bytes = sizeof *buffer;
    for (int i = 0; i < TRACE_LANES; i++)
        bytes += buffer->lanes[i].used * sizeof(struct trace_record);
    return bytes;
}

/* Without room for more in the lanes. */
static struct trace_header *compact_copy(const struct trace_header *buffer)
{
    struct trace_header *copy = malloc(bytes_used(buffer) + TRACE_LANES * 64 * sizeof(struct trace_record));
    if (!copy)
        return NULL;
    uint32_t room[TRACE_LANES];
    uint64_t at = sizeof *copy;
    for (int i = 0; i < TRACE_LANES; i++)
        room[i] = buffer->lanes[i].used;
    *copy = *buffer;
    for (int i = 0; i < TRACE_LANES; i++) {
        struct trace_lane *lane = &copy->lanes[i];
        lane->offset = at;
        lane->capacity = lane->used = room[i] < buffer->lanes[i].used ? room[i] : buffer->lanes[i].used;
        memcpy((char *)copy + at, buffer_records(buffer, (enum trace_lane_name)i),
               lane->used * sizeof(struct trace_record));
        at += lane->used * sizeof(struct trace_record);
    }
    copy->size = at;
    return copy;
}

static enum trace_lane_name fullest_lane(const struct trace_header *buffer)
{
    enum trace_lane_name most = TRACE_STRUCTURE;
    for (int i = 0; i < TRACE_LANES; i++)
        if (buffer->lanes[i].used > buffer->lanes[most].used)
            most = (enum trace_lane_name)i;
    return most;
}

char *handover_pack(const struct trace_header *buffer)
{
    struct trace_header *all = compact_copy(buffer), *thinned = NULL;
    if (all) {
        for (int i = 0; i < 160 && bytes_used(all) > TRACE_HANDOVER_BYTES; i++)
            buffer_thin(all, fullest_lane(all));
        thinned = compact_copy(all);
    }
    char *text = thinned ? encode_base64((const unsigned char *)thinned, thinned->size) : NULL;
    free(thinned);
    free(all);
    return text;
}

struct trace_header *handover_read(const char *text)
{
    size_t size;
    struct trace_header *buffer = (struct trace_header *)decode_base64(text, &size);
    if (buffer && size >= sizeof *buffer && buffer->size <= size && buffer_is_valid(buffer, buffer->size))
        return buffer;
    free(buffer);
    return NULL;
}

/* ---- Files -------------------------------------------------------------------------------------- */

static void put_file(const char *directory, const char *name, const void *content, size_t size)
{
    char path[4500];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0)
        return;
    for (const char *at = content, *end = at + size; at < end;) {
        ssize_t written = write(file, at, (size_t)(end - at));
        if (written < 0)
            break; /* a buffer that is too short is left out */
        at += written;
    }
    close(file);
}

void handover_unpack(const char *directory, const epop_job_t *job)
{
    for (int i = 0; i < job->record_count; i++) {
        char name[64];
        struct trace_header *buffer = handover_read(job->records[i].text);
        if (!buffer)
            continue;
        snprintf(name, sizeof name, TRACE_BUFFER_NAME "%d.%d", job->records[i].process, i);
        put_file(directory, name, buffer, buffer->size);
        free(buffer);
    }
}

/* ---- The job: instants of its adaptations and refusals, slices of its checkpoints, and its end ---- */

struct instants {
    cJSON *list;
    double wall, now; /* the same moment: seconds since 1970, and ns on the monotonic clock */
};

static cJSON *add_instant(const struct instants *instants, double time, const char *name)
{
    if (time <= 0)
        return NULL;
    cJSON *instant = cJSON_CreateObject();
    cJSON_AddStringToObject(instant, "name", name);
    cJSON_AddNumberToObject(instant, "at", floor(instants->now - (instants->wall - time) * 1e9));
    cJSON_AddItemToArray(instants->list, instant);
    return cJSON_AddObjectToObject(instant, "args");
}

static void add_change(const struct instants *instants, double time, const char *what, const epop_adaptation_t *a)
{
    char name[80];
    snprintf(name, sizeof name, "%s%s %d -> %d", what, a->balance ? " balance" : "", a->from, a->to);
    cJSON *arguments = add_instant(instants, time, name);
    if (!arguments)
        return;
    cJSON_AddNumberToObject(arguments, "adaptation", a->id);
    cJSON_AddStringToObject(arguments, "by", a->by);
    if (a->imbalance > 0)
        cJSON_AddNumberToObject(arguments, "imbalance", a->imbalance);
    if (a->reason[0])
        cJSON_AddStringToObject(arguments, "reason", a->reason);
}

static void add_adaptation(const struct instants *instants, const epop_adaptation_t *a)
{
    add_change(instants, a->requested, "requested", a);
    add_change(instants, a->prepared, "prepared", a);
    add_change(instants, a->agreed, "agreed", a);
    add_change(instants, a->committed, "committed", a);
}

/* That this start goes on from the one that died; those before are in the list alone, as their time is far before it.
 */
static void add_recovery(const struct instants *instants, const epop_recovery_t *r)
{
    char name[80] = "recovered from the beginning";
    if (r->number)
        snprintf(name, sizeof name, "recovered from %.20s %d", r->from, r->number);
    cJSON *arguments = add_instant(instants, r->time + r->seconds, name);
    if (!arguments)
        return;
    cJSON_AddNumberToObject(arguments, "iterations", (double)r->iterations);
    cJSON_AddNumberToObject(arguments, "lost", r->lost);
    cJSON_AddNumberToObject(arguments, "seconds", r->seconds);
    cJSON_AddStringToObject(arguments, "reason", r->reason);
}

static void add_checkpoint(const struct instants *instants, const epop_checkpoint_t *checkpoint)
{
    char name[40];
    snprintf(name, sizeof name, "checkpoint %d", checkpoint->number);
    cJSON *arguments = add_instant(instants, checkpoint->time - checkpoint->seconds, name);
    if (!arguments)
        return;
    cJSON_AddNumberToObject(cJSON_GetArrayItem(instants->list, cJSON_GetArraySize(instants->list) - 1), "duration",
                            floor(checkpoint->seconds * 1e9));
    cJSON_AddStringToObject(arguments, "level", checkpoint->level);
    cJSON_AddNumberToObject(arguments, "iteration", (double)checkpoint->iteration);
    cJSON_AddNumberToObject(arguments, "bytes", (double)checkpoint->bytes);
    cJSON_AddNumberToObject(arguments, "stall", checkpoint->stall);
}

static const char *end_text(epop_job_end_t end)
{
    static const char *const texts[] = {
        [EPOP_JOB_ENDED] = "ended", [EPOP_JOB_STOPPED] = "stopped", [EPOP_JOB_FAILED] = "failed"};
    return end == EPOP_JOB_RUNNING ? "running" : texts[end];
}

void handover_job(const char *directory, const epop_job_t *job)
{
    cJSON *json = cJSON_CreateObject();
    struct instants instants = {
        .list = cJSON_AddArrayToObject(json, "instants"), .wall = wall_seconds(), .now = (double)monotonic_ns()};
    cJSON_AddStringToObject(json, "end", end_text(job->end));
    if (job->reason)
        cJSON_AddStringToObject(json, "reason", job->reason);
    for (int i = 0; i < job->adaptation_count; i++)
        add_adaptation(&instants, &job->adaptations[i]);
    for (int i = 0; i < job->refusal_count; i++)
        cJSON_AddStringToObject(add_instant(&instants, job->refusals[i].time, "refused"), "reason",
                                job->refusals[i].reason);
    if (job->recovery_count)
        add_recovery(&instants, &job->recoveries[job->recovery_count - 1]);
    output_add_recoveries(json, job);
    for (int i = 0; i < job->checkpoint_count; i++)
        add_checkpoint(&instants, &job->checkpoints[i]);
    char *text = cJSON_PrintUnformatted(json);
    if (text)
        put_file(directory, TRACE_JOB_NAME, text, strlen(text));
    free(text);
    cJSON_Delete(json);
}
