/* Whole files in memory; UTF-8 is checked here, as neither cJSON nor Duktape does it. */
#include "report/input.h"

#include <errno.h>
#include <iconv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More than any profile or trace that epop writes. */
#define MOST_BYTES ((size_t)1 << 30)
#define CHUNK      ((size_t)1 << 16)

struct text {
    char *bytes;
    size_t size;
};

static cJSON *refuse(char *error, size_t error_size, const char *reason)
{
    snprintf(error, error_size, "%s", reason);
    return NULL;
}

static cJSON *unreadable(char *error, size_t error_size, int reason)
{
    snprintf(error, error_size, "cannot be read: %s", strerror(reason));
    return NULL;
}

/* Reads to the end, with a 0 behind it; 0 or an errno. */
static int read_all(FILE *file, struct text *text)
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

static cJSON *parse(const struct text *text, char *error, size_t error_size)
{
    size_t valid = end_of_utf8(text);
    if (text->size == 0)
        return refuse(error, error_size, "is empty");
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

cJSON *input_read(const char *path, char *error, size_t error_size)
{
    int is_stdin = strcmp(path, "-") == 0;
    FILE *file = is_stdin ? stdin : fopen(path, "re");
    if (file == NULL)
        return unreadable(error, error_size, errno);
    struct text text = {0};
    int failed = read_all(file, &text);
    if (!is_stdin)
        fclose(file);
    cJSON *json = failed ? unreadable(error, error_size, failed) : parse(&text, error, error_size);
    free(text.bytes);
    return json;
}
