/* Whole files in memory, read by zlib, which passes on unchanged what is not compressed. */
#include "scheduler/workload/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define MOST_BYTES ((size_t)1 << 31)
#define CHUNK      ((size_t)1 << 18)

static int refuse_input(const struct input *input, gzFile file, struct error *error)
{
    int code = Z_OK;
    const char *why = gzerror(file, &code);
    if (code == Z_ERRNO)
        why = strerror(errno);
    else if (code == Z_BUF_ERROR || code == Z_DATA_ERROR)
        why = "the compressed file is damaged or cut off: get it anew";
    return error_set(error, ERROR_FAILED, "%s: cannot be read: %s", input->name, why);
}

static int enlarge_text(struct input *input, size_t *room, struct error *error)
{
    if (input->size + CHUNK + 1 <= *room)
        return 0;
    *room = 2 * *room + CHUNK + 1;
    if (*room > MOST_BYTES)
        return error_set(error, ERROR_REFUSED, "%s: more than %zu MiB: cut it into parts", input->name,
                         MOST_BYTES >> 20);
    char *text = realloc(input->text, *room);
    if (!text)
        return error_memory(error);
    input->text = text;
    return 0;
}

/* That a file was cut off zlib tells with its last bytes; with a further read it may have forgotten that. */
static int read_text(struct input *input, gzFile file, struct error *error)
{
    size_t room = 0;
    int got = 1, code = Z_OK;
    while (got > 0) {
        if (enlarge_text(input, &room, error))
            return -1;
        got = gzread(file, input->text + input->size, (unsigned)CHUNK);
        gzerror(file, &code);
        if (got < 0 || code == Z_BUF_ERROR)
            return refuse_input(input, file, error);
        if (got > 0)
            input->size += (size_t)got;
        input->text[input->size] = 0;
    }
    return 0;
}

int input_read(struct input *input, const char *path, struct error *error)
{
    int standard = !strcmp(path, "-");
    *input = (struct input){.name = standard ? "the standard input" : path};
    errno = 0;
    int fd = standard ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    gzFile file = fd < 0 ? NULL : gzdopen(fd, "rb");
    if (!file) {
        error_set(error, ERROR_FAILED, "%s: cannot be opened: %s", input->name, strerror(errno ? errno : ENOMEM));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    gzbuffer(file, (unsigned)CHUNK);
    int failed = read_text(input, file, error);
    gzclose(file);
    if (failed)
        input_free(input);
    return failed;
}

/* The bytes of the character at `at`; 0: it is none. Longer forms than needed and surrogates are none. */
static size_t character(const unsigned char *at)
{
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = *at < 0x80 ? 1 : *at >> 5 == 6 ? 2 : *at >> 4 == 14 ? 3 : *at >> 3 == 30 ? 4 : 0;
    unsigned code = length == 1 ? *at : *at & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (at[i] >> 6 != 2)
            return 0;
        code = code << 6 | (at[i] & 0x3fu);
    }
    return length > 0 && code >= least[length] && code <= 0x10ffff && code >> 11 != 27 ? length : 0;
}

const char *input_no_utf8(const struct input *input)
{
    const char *at = input->text;
    while (at < input->text + input->size) {
        size_t length = character((const unsigned char *)at);
        if (length == 0)
            return at;
        at += length;
    }
    return NULL;
}

void input_free(struct input *input)
{
    free(input->text);
    *input = (struct input){0};
}
