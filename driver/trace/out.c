/* Writes the trace file: one event a line, no more bytes than the limit, put in place when it is complete. */
#include "driver/trace/out.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/error.h"

/* ---- Strings ------------------------------------------------------------------------------------ */

/* Bytes of the UTF-8 character that text begins with, 0: it is none. Surrogates and too long forms are none. */
static size_t utf8_length(const unsigned char *text)
{
    size_t length = text[0] < 0x80   ? 1
                    : text[0] < 0xc2 ? 0
                    : text[0] < 0xe0 ? 2
                    : text[0] < 0xf0 ? 3
                    : text[0] < 0xf5 ? 4
                                     : 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    bool too_long = (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xf0 && text[1] < 0x90);
    bool no_character = (text[0] == 0xed && text[1] > 0x9f) || (text[0] == 0xf4 && text[1] > 0x8f);
    return length > 1 && (too_long || no_character) ? 0 : length;
}

void out_escape(const char *text, char *escaped, size_t size)
{
    const unsigned char *from = (const unsigned char *)text;
    size_t used = 0;
    while (*from && used + 7 < size) {
        size_t length = utf8_length(from);
        if (*from < 0x20 || *from == '"' || *from == '\\') {
            used += (size_t)snprintf(escaped + used, size - used, "\\u%04x", *from);
        } else if (!length) {
            escaped[used++] = '?';
        } else {
            memcpy(escaped + used, from, length);
            used += length;
        }
        from += length ? length : 1;
    }
    escaped[used] = 0;
}

/* ---- The file ----------------------------------------------------------------------------------- */

static int cannot_write(const char *path, struct error *error)
{
    return error_set(error, ERROR_FAILED, "cannot write %s: %s", path, strerror(errno));
}

/* The file is replaced as a whole, so it has to be one that can be. */
static int is_replaceable(const char *path, struct error *error)
{
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        error_set(error, ERROR_FAILED, "cannot write %s: it is not a regular file", path);
        return 0;
    }
    return 1;
}

static void name_files(struct trace_out *out, const char *path)
{
    snprintf(out->path, sizeof out->path, "%s", path);
    snprintf(out->part, sizeof out->part, "%s.part", out->path);
}

int out_open(struct trace_out *out, const char *path, int64_t limit, struct error *error)
{
    *out = (struct trace_out){.limit = limit};
    name_files(out, path);
    if (!is_replaceable(path, error))
        return -1;
    out->file = fopen(out->part, "w");
    if (!out->file)
        return cannot_write(path, error);
    out->written = fprintf(out->file, "{\"traceEvents\":[");
    return 0;
}

void out_event(struct trace_out *out, const struct trace_event *e)
{
    char name[512], line[4000], times[80] = "";
    long long since = e->time - out->base;
    out_escape(e->name, name, sizeof name);
    if (e->time >= 0)
        snprintf(times, sizeof times, ",\"ts\":%lld.%03lld", since / 1000, since % 1000);
    size_t length = strlen(times);
    if (e->duration >= 0)
        snprintf(times + length, sizeof times - length, ",\"dur\":%lld.%03lld", (long long)e->duration / 1000,
                 (long long)e->duration % 1000);
    int size =
        snprintf(line, sizeof line, "%s\n{\"ph\":\"%c\",\"pid\":%d,\"tid\":%d%s,\"name\":\"%s\"%s%s%s%s%s}",
                 out->written > 20 ? "," : "", e->phase, e->pid, e->tid, times, name, e->category ? ",\"cat\":\"" : "",
                 e->category ? e->category : "", e->category ? "\"" : "", e->more ? "," : "", e->more ? e->more : "");
    if (size >= (int)sizeof line || out->written + size > out->limit) {
        out->dropped++;
        return;
    }
    if (fwrite(line, 1, (size_t)size, out->file) != (size_t)size && !out->failed)
        out->failed = errno;
    out->written += size;
}

int out_close(struct trace_out *out, const cJSON *about, struct error *error)
{
    char *text = cJSON_PrintUnformatted(about);
    fprintf(out->file, "\n],\n\"otherData\":%s}\n", text ? text : "{}");
    free(text);
    int bad = out->failed || ferror(out->file);
    bad |= fclose(out->file) != 0;
    if (!bad && rename(out->part, out->path) == 0)
        return 0;
    if (out->failed)
        errno = out->failed;
    cannot_write(out->path, error);
    unlink(out->part);
    return -1;
}

void out_discard(const char *path)
{
    struct trace_out out;
    name_files(&out, path);
    unlink(out.part);
}

int out_prepare(const char *path, struct error *error)
{
    struct trace_out out;
    cJSON *about = cJSON_CreateObject();
    cJSON_AddNumberToObject(about, "version", 2);
    cJSON_AddBoolToObject(about, "partial", 1);
    cJSON_AddStringToObject(about, "reason", "the job still runs, or it was ended with all that belongs to it");
    int result = out_open(&out, path, INT64_MAX, error);
    if (result == 0)
        result = out_close(&out, about, error);
    cJSON_Delete(about);
    return result;
}
