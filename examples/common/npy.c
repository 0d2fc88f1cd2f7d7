/*
 * .npy files, block by block. A file is seen as lines: its rows, or its columns in Fortran order. A block is
 * moved line by line; where the buffer is stored the other way round, a few lines at a time pass a small scratch.
 */
#include "common/npy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/npy_header.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "npy.c moves elements as they are: it needs a little-endian machine"
#endif

#define SCRATCH_ELEMENTS 131072
#define SCRATCH_LINES    64

typedef struct text {
    char *at;
    size_t size;
} text_t;

__attribute__((format(printf, 2, 3))) static int fail(text_t error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error.at, error.size, format, arguments);
    va_end(arguments);
    return -1;
}

/* ---- Opening and creating ---------------------------------------------- */

static int check_length(const npy_file_t *file, off_t size, text_t error)
{
    const npy_shape_t *shape = &file->shape;
    int64_t elements, bytes, end;
    if (__builtin_mul_overflow(shape->rows, shape->cols, &elements) ||
        __builtin_mul_overflow(elements, (int64_t)sizeof(double), &bytes) ||
        __builtin_add_overflow(bytes, file->data, &end))
        return fail(error, "%s: its shape (%lld, %lld) is too large", file->path, (long long)shape->rows,
                    (long long)shape->cols);
    if (size < end)
        return fail(error, "%s: it is truncated: %lld bytes, but its shape (%lld, %lld) needs %lld", file->path,
                    (long long)size, (long long)shape->rows, (long long)shape->cols, (long long)end);
    return 0;
}

static int check_file(npy_file_t *file, text_t error)
{
    struct stat status;
    char reason[160];
    if (fstat(file->fd, &status) != 0)
        return fail(error, "%s: %s", file->path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return fail(error, "%s: it is no regular file", file->path);
    if (npy_header_read(file->fd, &file->shape, &file->data, reason, sizeof(reason)) != 0)
        return fail(error, "%s: %s", file->path, reason);
    return check_length(file, status.st_size, error);
}

int npy_open(npy_file_t *file, const char *path, npy_mode_t mode, char *error, size_t error_size)
{
    text_t text = {error, error_size};
    *file = (npy_file_t){.fd = -1};
    file->path = strdup(path);
    if (!file->path)
        return fail(text, "%s: out of memory", path);
    file->fd = open(path, (mode == NPY_READ ? O_RDONLY : O_RDWR) | O_CLOEXEC);
    int result = file->fd < 0 ? fail(text, "%s: %s", path, strerror(errno)) : check_file(file, text);
    if (result != 0)
        npy_close(file);
    return result;
}

void npy_close(npy_file_t *file)
{
    if (file->path && file->fd >= 0)
        close(file->fd);
    free(file->path);
    *file = (npy_file_t){.fd = -1};
}

static int write_header(int fd, const npy_shape_t *shape)
{
    char header[NPY_HEADER_MAX];
    int length = npy_header_format(shape, header);
    if (pwrite(fd, header, (size_t)length, 0) != length)
        return -1;
    return ftruncate(fd, length + shape->rows * shape->cols * (int64_t)sizeof(double));
}

int npy_create(const char *path, const npy_shape_t *shape, char *error, size_t error_size)
{
    text_t text = {error, error_size};
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return fail(text, "%s: cannot be written: %s", path, strerror(errno));
    int result = write_header(fd, shape);
    if (result != 0)
        fail(text, "%s: cannot be written: %s", path, strerror(errno));
    close(fd);
    return result;
}

int npy_check_writable(const char *path, char *error, size_t error_size)
{
    text_t text = {error, error_size};
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    int is_new = fd >= 0;
    if (!is_new && errno == EEXIST)
        fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return fail(text, "%s: cannot be written: %s", path, strerror(errno));
    struct stat status;
    int regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    close(fd);
    if (is_new)
        unlink(path);
    return regular ? 0 : fail(text, "%s: cannot be written: it is no regular file", path);
}

/* ---- Moving blocks ------------------------------------------------------ */

/* A block in terms of the file's lines. */
typedef struct lines {
    const npy_file_t *file;
    int64_t first, count; /* lines */
    int64_t start, width; /* elements of each line */
    int64_t stride;       /* elements from line to line in the file */
    int writing;
    text_t error;
} lines_t;

/* Moves `count` elements from element `position` of the file on. */
static int move_elements(const lines_t *lines, int64_t position, double *buffer, int64_t count)
{
    char *at = (char *)buffer;
    int64_t left = count * (int64_t)sizeof(double);
    int64_t offset = lines->file->data + position * (int64_t)sizeof(double);
    while (left > 0) {
        ssize_t moved = lines->writing ? pwrite(lines->file->fd, at, (size_t)left, offset)
                                       : pread(lines->file->fd, at, (size_t)left, offset);
        if (moved < 0 && errno == EINTR)
            continue;
        if (moved <= 0)
            return fail(lines->error, "%s: cannot be %s: %s", lines->file->path, lines->writing ? "written" : "read",
                        moved < 0 ? strerror(errno) : "it ended too early");
        at += moved;
        offset += moved;
        left -= moved;
    }
    return 0;
}

/* The buffer has the file's order: line by line, or in one piece where there are no gaps. */
static int move_straight(const lines_t *lines, double *buffer, int64_t ld)
{
    int64_t position = lines->first * lines->stride + lines->start;
    if (lines->width == lines->stride && lines->width == ld)
        return move_elements(lines, position, buffer, lines->count * lines->width);
    for (int64_t line = 0; line < lines->count; line++)
        if (move_elements(lines, position + line * lines->stride, buffer + line * ld, lines->width) != 0)
            return -1;
    return 0;
}

static void transpose(double *scratch, int64_t lines, int64_t width, double *buffer, int64_t ld, int writing)
{
    for (int64_t i = 0; i < width; i++) {
        for (int64_t line = 0; line < lines; line++) {
            if (writing)
                scratch[line * width + i] = buffer[i * ld + line];
            else
                buffer[i * ld + line] = scratch[line * width + i];
        }
    }
}

/* The buffer has the other order. */
static int move_transposed(const lines_t *lines, double *buffer, int64_t ld)
{
    int64_t strip = SCRATCH_ELEMENTS / lines->width;
    strip = strip < 1 ? 1 : strip > SCRATCH_LINES ? SCRATCH_LINES : strip;
    double *scratch = malloc((size_t)(strip * lines->width) * sizeof(*scratch));
    if (!scratch)
        return fail(lines->error, "%s: out of memory", lines->file->path);
    int result = 0;
    for (int64_t line = 0; line < lines->count && result == 0; line += strip) {
        lines_t part = *lines;
        part.first = lines->first + line;
        part.count = lines->count - line < strip ? lines->count - line : strip;
        if (lines->writing)
            transpose(scratch, part.count, part.width, buffer + line, ld, 1);
        result = move_straight(&part, scratch, part.width);
        if (!lines->writing && result == 0)
            transpose(scratch, part.count, part.width, buffer + line, ld, 0);
    }
    free(scratch);
    return result;
}

static int inside(int64_t first, int64_t count, int64_t extent)
{
    return first >= 0 && count >= 0 && first <= extent && count <= extent - first;
}

static int move_block(const npy_file_t *file, const npy_block_t *block, double *buffer, int64_t ld, int column_major,
                      int writing, text_t error)
{
    const npy_shape_t *shape = &file->shape;
    if (!inside(block->row0, block->rows, shape->rows) || !inside(block->col0, block->cols, shape->cols))
        return fail(error, "%s: no such block: rows %lld to %lld, columns %lld to %lld of shape (%lld, %lld)",
                    file->path, (long long)block->row0, (long long)(block->row0 + block->rows), (long long)block->col0,
                    (long long)(block->col0 + block->cols), (long long)shape->rows, (long long)shape->cols);
    if (block->rows == 0 || block->cols == 0)
        return 0;
    lines_t lines = {file, block->row0, block->rows, block->col0, block->cols, shape->cols, writing, error};
    if (shape->fortran_order)
        lines = (lines_t){file, block->col0, block->cols, block->row0, block->rows, shape->rows, writing, error};
    if (!column_major == !shape->fortran_order)
        return move_straight(&lines, buffer, ld);
    return move_transposed(&lines, buffer, ld);
}

int npy_read(const npy_file_t *file, const npy_block_t *block, double *buffer, int64_t ld, int column_major,
             char *error, size_t error_size)
{
    return move_block(file, block, buffer, ld, column_major, 0, (text_t){error, error_size});
}

int npy_write(const npy_file_t *file, const npy_block_t *block, const double *buffer, int64_t ld, int column_major,
              char *error, size_t error_size)
{
    return move_block(file, block, (double *)(uintptr_t)buffer, ld, column_major, 1, (text_t){error, error_size});
}
