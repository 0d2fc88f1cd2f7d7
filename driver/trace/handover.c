/* Buffers as text: see handover.h. */
#include "driver/trace/handover.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/trace/lanes.h"
#include "driver/trace/merge.h"

/* ---- Base64 ------------------------------------------------------------------------------ */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static char *encode(const unsigned char *bytes, size_t size)
{
    char *text = malloc((size + 2) / 3 * 4 + 1), *to = text;
    for (size_t i = 0; text && i < size; i += 3) {
        unsigned group = (unsigned)bytes[i] << 16;
        group |= (i + 1 < size ? (unsigned)bytes[i + 1] << 8 : 0) | (i + 2 < size ? bytes[i + 2] : 0);
        for (int shift = 18; shift >= 0; shift -= 6)
            *to++ = digits[group >> shift & 63];
    }
    if (text)
        *to = 0;
    return text;
}

/* The length is a multiple of 4, as encode makes it; what is filled up with zeros does no harm. */
static unsigned char *decode(const char *text, size_t *size)
{
    signed char values[256];
    unsigned char *bytes = malloc(strlen(text) / 4 * 3 + 1);
    memset(values, -1, sizeof values);
    for (int i = 0; i < 64; i++)
        values[(unsigned char)digits[i]] = (signed char)i;
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

/* ---- One buffer ------------------------------------------------------------------------------ */

static size_t bytes_used(const struct trace_header *buffer)
{
    size_t bytes = sizeof *buffer;
    for (int i = 0; i < TRACE_LANES; i++)
        bytes += buffer->lanes[i].used * sizeof(struct trace_record);
    return bytes;
}

/* Without room for more in the lanes. */
static struct trace_header *compact(const struct trace_header *buffer)
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
        memcpy((char *)copy + at, lane_records(buffer, (enum trace_lane_name)i),
               lane->used * sizeof(struct trace_record));
        at += lane->used * sizeof(struct trace_record);
    }
    copy->size = at;
    return copy;
}

static enum trace_lane_name fullest(const struct trace_header *buffer)
{
    enum trace_lane_name most = TRACE_STRUCTURE;
    for (int i = 0; i < TRACE_LANES; i++)
        if (buffer->lanes[i].used > buffer->lanes[most].used)
            most = (enum trace_lane_name)i;
    return most;
}

char *handover_pack(const struct trace_header *buffer)
{
    struct trace_header *all = compact(buffer), *thinned = NULL;
    if (all) {
        for (int i = 0; i < 160 && bytes_used(all) > TRACE_HANDOVER_BYTES; i++)
            lane_thin(all, fullest(all));
        thinned = compact(all);
    }
    char *text = thinned ? encode((const unsigned char *)thinned, thinned->size) : NULL;
    free(thinned);
    free(all);
    return text;
}

struct trace_header *handover_read(const char *text)
{
    size_t size;
    struct trace_header *buffer = (struct trace_header *)decode(text, &size);
    if (buffer && size >= sizeof *buffer && buffer->size <= size && lanes_valid(buffer, buffer->size))
        return buffer;
    free(buffer);
    return NULL;
}

/* ---- Files ------------------------------------------------------------------------------------- */

void handover_put(const char *directory, const char *name, const void *content, size_t size)
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
        handover_put(directory, name, buffer, buffer->size);
        free(buffer);
    }
}
