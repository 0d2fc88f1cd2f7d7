/* Lines on stderr, files that are written as a whole, tables, aligned for people and tab-separated for programs, JSON.
 */
#include "terminal/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/array.h"
#include "runtime/base/json.h"

/* ---- What is wrong ------------------------------------------------------------------------------ */

void term_complain(const char *format, ...)
{
    va_list arguments;
    char *text;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    fflush(stdout);
    for (int i = 0; i < length; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            text[i] = '?';
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, length < 0 ? format : text);
    if (length >= 0)
        free(text);
}

int term_finish(int status)
{
    if (!fflush(stdout) && !ferror(stdout))
        return status;
    term_complain("cannot write to the standard output");
    return status ? status : 1;
}

/* ---- Files -------------------------------------------------------------------------------------- */

static int write_to(FILE *file, const char *text, const char *end)
{
    errno = 0;
    if (fputs(text, file) >= 0 && fputs(end, file) >= 0 && fflush(file) == 0)
        return 0;
    return errno ? errno : EIO;
}

static int write_and_close(FILE *file, const char *text, const char *end)
{
    if (!file)
        return errno;
    int failed = write_to(file, text, end);
    if (fclose(file) && !failed)
        failed = errno;
    return failed;
}

int term_open_beside(const char *path, char *name)
{
    if (snprintf(name, PATH_MAX, "%s.XXXXXX", path) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int file = mkostemp(name, O_CLOEXEC);
    mode_t mask = umask(0);
    umask(mask);
    if (file >= 0)
        fchmod(file, 0666 & ~mask);
    return file;
}

static int write_beside(const char *path, const char *text, const char *end)
{
    char name[PATH_MAX];
    int file = term_open_beside(path, name);
    if (file < 0)
        return errno;
    int failed = write_and_close(fdopen(file, "w"), text, end);
    if (!failed && rename(name, path))
        failed = errno;
    if (failed)
        unlink(name);
    return failed;
}

int term_write(const char *path, const char *text, const char *end)
{
    char target[PATH_MAX];
    struct stat status;
    if (!strcmp(path, "-"))
        return write_to(stdout, text, end);
    if (!stat(path, &status) && !S_ISREG(status.st_mode))
        return write_and_close(fopen(path, "we"), text, end);
    return write_beside(realpath(path, target) ? target : path, text, end);
}

/* ---- Columns that fit --------------------------------------------------------------------------- */

static int width_needed(const int *widths, int columns, const bool *shown)
{
    int width = -TERM_GAP;
    for (int column = 0; column < columns; column++)
        width += shown[column] ? widths[column] + TERM_GAP : 0;
    return width;
}

void term_fit(const int *widths, int columns, const int *drop, int drops, int room, bool *shown)
{
    for (int column = 0; column < columns; column++)
        shown[column] = true;
    for (int i = 0; i < drops && width_needed(widths, columns, shown) > room; i++)
        shown[drop[i]] = false;
}

/* ---- Tables ------------------------------------------------------------------------------------- */

struct term_table {
    int columns, rows;
    size_t room;
    char **cells; /* rows * columns; the first row are the titles */
    const int *drop;
    int drops;
};

bool term_for_people(void)
{
    return isatty(STDOUT_FILENO);
}

/* A cell on one line: what comes from a job must not break the table, or drive the terminal. */
static char *clean_cell(const char *text)
{
    char *copy = strdup(text);
    for (char *at = copy; at && *at; at++)
        if ((unsigned char)*at < ' ' || *at == 127)
            *at = ' ';
    return copy;
}

void term_table_add(struct term_table *table, const char *const *cells)
{
    size_t count = (size_t)(table->rows + 1) * (size_t)table->columns;
    if (array_reserve(&table->cells, &table->room, count, sizeof *table->cells))
        return;
    for (int i = 0; i < table->columns; i++)
        table->cells[table->rows * table->columns + i] = clean_cell(cells[i]);
    table->rows++;
}

struct term_table *term_table_new(int columns, const char *const *titles)
{
    struct term_table *table = calloc(1, sizeof *table);
    if (!table) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    table->columns = columns;
    term_table_add(table, titles);
    return table;
}

static int width_of_column(const struct term_table *table, int column)
{
    size_t width = 0;
    for (int row = 0; row < table->rows; row++) {
        const char *cell = table->cells[row * table->columns + column];
        if (cell && strlen(cell) > width)
            width = strlen(cell);
    }
    return (int)width;
}

void term_table_drop(struct term_table *table, const int *drop, int count)
{
    table->drop = drop;
    table->drops = count;
}

int term_columns(void)
{
    struct winsize size;
    return !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col > 0 ? size.ws_col : 80;
}

static const char *cell_of(const struct term_table *table, int row, int column)
{
    const char *cell = table->cells[row * table->columns + column];
    return cell ? cell : "";
}

static void print_tabs(const struct term_table *table, int row)
{
    for (int column = 0; column < table->columns; column++)
        printf("%s%c", cell_of(table, row, column), column < table->columns - 1 ? '\t' : '\n');
}

/* No more than `room` characters. The last column that is shown is not filled up. */
static void print_aligned(const struct term_table *table, int row, const int *widths, const bool *shown, int room)
{
    int gap = 0; /* owed before the next text */
    for (int column = 0; column < table->columns && gap < room; column++) {
        const char *text = cell_of(table, row, column);
        if (!shown[column])
            continue;
        printf("%*s%.*s", gap, "", room - gap, text);
        room -= gap + (int)strlen(text);
        gap = widths[column] - (int)strlen(text) + TERM_GAP;
    }
    putchar('\n');
}

static void print_table_for_people(const struct term_table *table)
{
    int *widths = calloc((size_t)table->columns, sizeof *widths), room = table->drops ? term_columns() : INT_MAX;
    bool *shown = calloc((size_t)table->columns, sizeof *shown);
    for (int column = 0; widths && column < table->columns; column++)
        widths[column] = width_of_column(table, column);
    if (widths && shown)
        term_fit(widths, table->columns, table->drop, table->drops, room, shown);
    for (int row = 0; widths && shown && row < table->rows; row++)
        print_aligned(table, row, widths, shown, room);
    free(shown);
    free(widths);
}

void term_table_print(struct term_table *table)
{
    if (term_for_people())
        print_table_for_people(table);
    for (int row = 0; !term_for_people() && row < table->rows; row++)
        print_tabs(table, row);
    for (int i = 0; i < table->rows * table->columns; i++)
        free(table->cells[i]);
    free(table->cells);
    free(table);
}

/* ---- JSON and texts ----------------------------------------------------------------------------- */

void term_print_json(const cJSON *json)
{
    char *text = cJSON_Print(json);
    if (text)
        puts(text);
    free(text);
}

const char *term_text(const cJSON *object, const char *name, const char *otherwise)
{
    const char *text = json_text(object, name);
    return text ? text : otherwise;
}

const char *term_figure(const cJSON *object, const char *name, const char *format, char text[32])
{
    const cJSON *item = cJSON_GetObjectItem(object, name);
    strcpy(text, "-");
    if (cJSON_IsNumber(item))
        snprintf(text, 32, format, item->valuedouble);
    return text;
}

void term_duration(double seconds, char text[32])
{
    long whole = seconds > 0 && seconds < 1e15 ? (long)seconds : 0;
    if (whole < 60)
        snprintf(text, 32, "%.1f s", seconds > 0 ? seconds : 0);
    else if (whole < 3600)
        snprintf(text, 32, "%ld min %ld s", whole / 60, whole % 60);
    else if (whole < 86400)
        snprintf(text, 32, "%ld h %ld min", whole / 3600, whole % 3600 / 60);
    else
        snprintf(text, 32, "%ld d %ld h", whole / 86400, whole % 86400 / 3600);
}

void term_bytes(double bytes, char text[32])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    int unit = 0;
    for (; bytes >= 1024 && unit < 5; unit++)
        bytes /= 1024;
    snprintf(text, 32, "%.1f %s", bytes, units[unit]);
}
