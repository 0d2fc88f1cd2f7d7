/*
 * Reads and writes the header of .npy files. The dictionary is parsed key by key, in any order, as
 * other writers than numpy exist.
 */
#include "common/npy_header.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char magic[] = "\x93NUMPY";
#define MAGIC_SIZE  6
#define PREFIX_SIZE 10 /* magic, version, and two bytes of length */

typedef struct parser {
    const char *at;
    npy_shape_t *shape;
    int seen; /* one bit per key */
    char *error;
    size_t error_size;
} parser_t;

enum { SEEN_DESCR = 1, SEEN_ORDER = 2, SEEN_SHAPE = 4, SEEN_ALL = 7 };

static int fail(parser_t *parser, const char *reason)
{
    snprintf(parser->error, parser->error_size, "%s", reason);
    return -1;
}

static int accept_char(parser_t *parser, char wanted)
{
    while (isspace((unsigned char)*parser->at))
        parser->at++;
    if (*parser->at != wanted)
        return 0;
    parser->at++;
    return 1;
}

/* A string in single or double quotes. */
static int parse_string(parser_t *parser, char *text, size_t size)
{
    char quote = accept_char(parser, '\'') ? '\'' : accept_char(parser, '"') ? '"' : 0;
    const char *end = quote ? strchr(parser->at, quote) : NULL;
    if (!end || (size_t)(end - parser->at) >= size)
        return -1;
    memcpy(text, parser->at, (size_t)(end - parser->at));
    text[end - parser->at] = 0;
    parser->at = end + 1;
    return 0;
}

static int parse_descr(parser_t *parser)
{
    char type[32];
    if (parse_string(parser, type, sizeof(type)) != 0)
        return fail(parser, "its elements are no plain numbers, only '<f8' (little-endian float64) can be used");
    if (strcmp(type, "<f8") != 0) {
        snprintf(parser->error, parser->error_size,
                 "its elements are of type '%s', only '<f8' (little-endian float64) can be used", type);
        return -1;
    }
    return 0;
}

static int parse_order(parser_t *parser)
{
    accept_char(parser, 0); /* skips blanks only */
    if (strncmp(parser->at, "True", 4) == 0) {
        parser->shape->fortran_order = 1;
        parser->at += 4;
    } else if (strncmp(parser->at, "False", 5) == 0) {
        parser->shape->fortran_order = 0;
        parser->at += 5;
    } else {
        return fail(parser, "bad header: 'fortran_order' is neither True nor False");
    }
    return 0;
}

/* One extent, not negative; Python 2 wrote an L behind it. */
static int parse_extent(parser_t *parser, int64_t *extent)
{
    accept_char(parser, 0);
    if (!isdigit((unsigned char)*parser->at))
        return -1;
    int64_t value = 0;
    for (; isdigit((unsigned char)*parser->at); parser->at++) {
        if (value > (INT64_MAX - 9) / 10)
            return -1;
        value = value * 10 + (*parser->at - '0');
    }
    accept_char(parser, 'L');
    *extent = value;
    return 0;
}

static int parse_shape(parser_t *parser)
{
    int64_t extents[2] = {1, 1};
    int count = 0;
    if (!accept_char(parser, '('))
        return fail(parser, "bad header: 'shape' is no tuple");
    while (!accept_char(parser, ')')) {
        int64_t extent;
        if (parse_extent(parser, &extent) != 0)
            return fail(parser, "bad header: 'shape' is no tuple of extents");
        if (count < 2)
            extents[count] = extent;
        count++;
        if (!accept_char(parser, ',') && *parser->at != ')')
            return fail(parser, "bad header: 'shape' is not closed");
    }
    if (count < 1 || count > 2) {
        snprintf(parser->error, parser->error_size, "it has %d dimensions, 1 or 2 can be used", count);
        return -1;
    }
    parser->shape->dimensions = count;
    parser->shape->rows = extents[0];
    parser->shape->cols = extents[1];
    return 0;
}

static int parse_entry(parser_t *parser)
{
    static const struct {
        const char *key;
        int bit;
        int (*parse)(parser_t *parser);
    } entries[] = {{"descr", SEEN_DESCR, parse_descr},
                   {"fortran_order", SEEN_ORDER, parse_order},
                   {"shape", SEEN_SHAPE, parse_shape}};
    char key[32];
    if (parse_string(parser, key, sizeof(key)) != 0 || !accept_char(parser, ':'))
        return fail(parser, "bad header: no dictionary");
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        if (strcmp(key, entries[i].key) == 0) {
            parser->seen |= entries[i].bit;
            return entries[i].parse(parser);
        }
    }
    snprintf(parser->error, parser->error_size, "bad header: unknown key '%s'", key);
    return -1;
}

static int parse_dictionary(parser_t *parser)
{
    if (!accept_char(parser, '{'))
        return fail(parser, "bad header: no dictionary");
    while (!accept_char(parser, '}')) {
        if (parse_entry(parser) != 0)
            return -1;
        if (!accept_char(parser, ',') && *parser->at != '}')
            return fail(parser, "bad header: the dictionary is not closed");
    }
    if (parser->seen != SEEN_ALL)
        return fail(parser, "bad header: 'descr', 'fortran_order' or 'shape' is missing");
    return 0;
}

static int read_fully(int fd, void *buffer, size_t size, int64_t position)
{
    ssize_t got;
    do
        got = pread(fd, buffer, size, position);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)size ? 0 : -1;
}

int npy_header_read(int fd, npy_shape_t *shape, int64_t *data, char *error, size_t error_size)
{
    parser_t parser = {.shape = shape, .error = error, .error_size = error_size};
    unsigned char prefix[PREFIX_SIZE + 2];
    if (read_fully(fd, prefix, sizeof(prefix), 0) != 0 || memcmp(prefix, magic, MAGIC_SIZE) != 0)
        return fail(&parser, "it is no .npy file");

    int version = prefix[6];
    if (version != 1 && version != 2) {
        snprintf(error, error_size, "it has .npy format version %d.%d, only 1.0 and 2.0 can be used", version,
                 prefix[7]);
        return -1;
    }
    int64_t start = version == 1 ? PREFIX_SIZE : PREFIX_SIZE + 2;
    int64_t length = prefix[8] + 256 * prefix[9];
    if (version == 2)
        length += 65536 * (int64_t)(prefix[10] + 256 * prefix[11]);
    char text[NPY_HEADER_MAX + 1] = "";
    if (length > NPY_HEADER_MAX)
        return fail(&parser, "bad header: it is too long");
    if (read_fully(fd, text, (size_t)length, start) != 0)
        return fail(&parser, "it ends inside its header");
    parser.at = text;
    *data = start + length;
    return parse_dictionary(&parser);
}

int npy_header_format(const npy_shape_t *shape, char text[NPY_HEADER_MAX])
{
    char *dictionary = text + PREFIX_SIZE;
    int length = snprintf(dictionary, NPY_HEADER_MAX - PREFIX_SIZE, "{'descr': '<f8', 'fortran_order': %s, 'shape': (",
                          shape->fortran_order ? "True" : "False");
    length += snprintf(dictionary + length, 64, shape->dimensions == 1 ? "%lld," : "%lld, %lld", (long long)shape->rows,
                       (long long)shape->cols);
    length += snprintf(dictionary + length, 64, "), }");

    int total = (PREFIX_SIZE + length + 1 + 63) / 64 * 64;
    memset(dictionary + length, ' ', (size_t)(total - PREFIX_SIZE - length));
    text[total - 1] = '\n';
    memcpy(text, magic, MAGIC_SIZE);
    memcpy(text + MAGIC_SIZE, "\x01\x00", 2);
    text[8] = (char)((total - PREFIX_SIZE) & 255);
    text[9] = (char)((total - PREFIX_SIZE) >> 8);
    return total;
}
