/* The Matrix Market reader. Every error says file, line, what is wrong with it. */
#include "gauss/mtx.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* No index beyond this: products of two still fit in 64 bits. */
#define MAX_SIZE INT32_MAX

__attribute__((format(printf, 4, 5))) static int fail(const mtx_t *mtx, char *error, size_t size, const char *format,
                                                      ...)
{
    int used = snprintf(error, size, "%s:%" PRId64 ": ", mtx->path, mtx->line_number);
    if (used >= 0 && (size_t)used < size) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error + used, size - (size_t)used, format, arguments);
        va_end(arguments);
    }
    return -1;
}

static int is_blank(const char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    return *text == '\0';
}

/* The next line that is neither blank nor a comment; NULL at the end. */
static char *next_line(mtx_t *mtx)
{
    while (getline(&mtx->line, &mtx->line_size, mtx->file) >= 0) {
        mtx->line_number++;
        if (mtx->line[0] != '%' && !is_blank(mtx->line))
            return mtx->line;
    }
    return NULL;
}

static int parse_banner(mtx_t *mtx, char *error, size_t size)
{
    char object[32], format[32], field[32], symmetry[32];
    if (getline(&mtx->line, &mtx->line_size, mtx->file) < 0)
        return fail(mtx, error, size, "empty file, expected a line '%%%%MatrixMarket matrix ...'");
    mtx->line_number++;
    if (strncasecmp(mtx->line, "%%MatrixMarket", 14) != 0)
        return fail(mtx, error, size, "no Matrix Market file: the first line must begin with '%%%%MatrixMarket'");
    if (sscanf(mtx->line + 14, "%31s %31s %31s %31s", object, format, field, symmetry) != 4)
        return fail(mtx, error, size, "incomplete banner, expected object, format, field and symmetry");
    if (strcasecmp(object, "matrix") != 0)
        return fail(mtx, error, size, "object '%s' is not supported, only 'matrix'", object);
    mtx->array = strcasecmp(format, "array") == 0;
    if (!mtx->array && strcasecmp(format, "coordinate") != 0)
        return fail(mtx, error, size, "format '%s' is not known, only 'coordinate' and 'array'", format);
    if (strcasecmp(field, "real") != 0 && strcasecmp(field, "integer") != 0)
        return fail(mtx, error, size, "field '%s' is not supported, only 'real' and 'integer'", field);
    mtx->symmetric = strcasecmp(symmetry, "symmetric") == 0;
    if (!mtx->symmetric && strcasecmp(symmetry, "general") != 0)
        return fail(mtx, error, size, "symmetry '%s' is not supported, only 'general' and 'symmetric'", symmetry);
    return 0;
}

static int parse_integer(char **text, int64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoll(*text, &end, 10);
    if (end == *text || errno != 0)
        return -1;
    *text = end;
    return 0;
}

static int parse_value(char **text, double *value)
{
    char *end;
    *value = strtod(*text, &end);
    if (end == *text || !isfinite(*value))
        return -1;
    *text = end;
    return 0;
}

static int parse_size(mtx_t *mtx, char *error, size_t size)
{
    char *text = next_line(mtx);
    if (!text)
        return fail(mtx, error, size, "the file ends before the line with the sizes");
    if (parse_integer(&text, &mtx->rows) || parse_integer(&text, &mtx->cols) ||
        (!mtx->array && parse_integer(&text, &mtx->stored)) || !is_blank(text))
        return fail(mtx, error, size, "expected a line with %s",
                    mtx->array ? "rows, columns" : "rows, columns, entries");
    if (mtx->rows < 1 || mtx->cols < 1 || mtx->rows > MAX_SIZE || mtx->cols > MAX_SIZE)
        return fail(mtx, error, size, "%" PRId64 " rows and %" PRId64 " columns make no sense", mtx->rows, mtx->cols);
    if (mtx->symmetric && mtx->rows != mtx->cols)
        return fail(mtx, error, size, "symmetric, but not square: %" PRId64 " x %" PRId64, mtx->rows, mtx->cols);
    if (mtx->array)
        mtx->stored = mtx->symmetric ? mtx->rows * (mtx->rows + 1) / 2 : mtx->rows * mtx->cols;
    if (mtx->stored < 0)
        return fail(mtx, error, size, "%" PRId64 " entries make no sense", mtx->stored);
    return 0;
}

int mtx_open(mtx_t *mtx, const char *path, char *error, size_t error_size)
{
    *mtx = (mtx_t){.path = path, .file = fopen(path, "r")};
    if (!mtx->file) {
        snprintf(error, error_size, "%s: %s", path, strerror(errno));
        return -1;
    }
    if (parse_banner(mtx, error, error_size) != 0 || parse_size(mtx, error, error_size) != 0) {
        mtx_close(mtx);
        return -1;
    }
    return 0;
}

/* Where the next entry of an array stands: by columns, a symmetric one from the diagonal down. */
static void array_advance(const mtx_t *mtx, int64_t *row, int64_t *col)
{
    if (++*row == mtx->rows) {
        ++*col;
        *row = mtx->symmetric ? *col : 0;
    }
}

static int coordinate_indices(mtx_t *mtx, char **text, int64_t *row, int64_t *col, char *error, size_t size)
{
    if (parse_integer(text, row) || parse_integer(text, col))
        return fail(mtx, error, size, "expected row, column, value");
    if (*row < 1 || *row > mtx->rows || *col < 1 || *col > mtx->cols)
        return fail(mtx, error, size, "entry (%" PRId64 ", %" PRId64 ") is outside of %" PRId64 " x %" PRId64, *row,
                    *col, mtx->rows, mtx->cols);
    if (mtx->symmetric && *row < *col)
        return fail(mtx, error, size, "entry (%" PRId64 ", %" PRId64 ") is above the diagonal of a symmetric matrix",
                    *row, *col);
    --*row;
    --*col;
    return 0;
}

int mtx_entries(mtx_t *mtx, mtx_entry_fn *entry, void *context, char *error, size_t error_size)
{
    int64_t row = 0, col = 0;
    for (int64_t i = 0; i < mtx->stored; i++) {
        char *text = next_line(mtx);
        double value;
        if (!text)
            return fail(mtx, error, error_size, "the file ends after %" PRId64 " of %" PRId64 " entries", i,
                        mtx->stored);
        if (!mtx->array && coordinate_indices(mtx, &text, &row, &col, error, error_size) != 0)
            return -1;
        if (parse_value(&text, &value) || !is_blank(text))
            return fail(mtx, error, error_size, "expected %s",
                        mtx->array ? "one finite number" : "row, column, finite value");
        entry(context, row, col, value);
        if (mtx->symmetric && row != col)
            entry(context, col, row, value);
        if (mtx->array)
            array_advance(mtx, &row, &col);
    }
    if (next_line(mtx))
        return fail(mtx, error, error_size, "more than the %" PRId64 " entries that the file announces", mtx->stored);
    return 0;
}

void mtx_close(mtx_t *mtx)
{
    if (mtx->file)
        fclose(mtx->file);
    free(mtx->line);
    mtx->file = NULL;
    mtx->line = NULL;
}
