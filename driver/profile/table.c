/* Prints a profile as tables in plain text. */
#include "driver/profile/table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/array.h"
#include "runtime/base/json.h"
#include "terminal/places.h"

#define COLUMNS_MAX 12
#define CELL_MAX    64
#define NAME_WIDTH  24 /* characters of an element's name */
#define DEEPEST     8  /* of loops in loops */

/* ---- Ruled columns ------------------------------------------------------------------------------ */

struct grid {
    int columns, rows;
    size_t room;
    bool right[COLUMNS_MAX]; /* numbers */
    char (*cells)[COLUMNS_MAX][CELL_MAX];
};

/* A new row; NULL when out of memory. */
static char (*grid_add_row(struct grid *grid))[CELL_MAX]
{
    if (array_reserve(&grid->cells, &grid->room, (size_t)grid->rows + 1, sizeof *grid->cells))
        return NULL;
    memset(grid->cells[grid->rows], 0, sizeof *grid->cells);
    return grid->cells[grid->rows++];
}

/* headings: with a '<' before those of texts; NULL ends. */
static struct grid grid_new(const char *const *headings)
{
    struct grid grid = {0};
    char(*row)[CELL_MAX] = grid_add_row(&grid);
    for (; row && headings[grid.columns]; grid.columns++) {
        const char *heading = headings[grid.columns];
        grid.right[grid.columns] = heading[0] != '<';
        snprintf(row[grid.columns], CELL_MAX, "%s", heading + (heading[0] == '<'));
    }
    return grid;
}

/* On the terminal; the bytes of a character that follow the first take no place. */
static int characters_of(const char *text)
{
    int width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

static void grid_print_cell(const struct grid *grid, int column, const char *text, int width, FILE *stream)
{
    int pad = width - characters_of(text);
    bool last = column == grid->columns - 1;
    if (grid->right[column])
        fprintf(stream, "%*s%s", pad, "", text);
    else
        fprintf(stream, "%s%*s", text, last ? 0 : pad, "");
    if (!last)
        fputs("  ", stream);
}

static void grid_print(const struct grid *grid, bool bold, FILE *stream)
{
    int widths[COLUMNS_MAX] = {0};
    for (int row = 0; row < grid->rows; row++)
        for (int column = 0; column < grid->columns; column++) {
            int width = characters_of(grid->cells[row][column]);
            widths[column] = width > widths[column] ? width : widths[column];
        }
    for (int row = 0; row < grid->rows; row++) {
        if (row == 0 && bold)
            fputs("\033[1m", stream);
        for (int column = 0; column < grid->columns; column++)
            grid_print_cell(grid, column, grid->cells[row][column], widths[column], stream);
        fputs(row == 0 && bold ? "\033[0m\n" : "\n", stream);
    }
}

/* ---- Cells -------------------------------------------------------------------------------------- */

static void put_name(char *cell, const char *name)
{
    int characters = 0;
    size_t used = 0;
    for (; name && name[used] && used < CELL_MAX - 8; used++)
        if (((unsigned char)name[used] & 0xc0) != 0x80 && ++characters > NAME_WIDTH)
            break;
    bool whole = !name || !name[used];
    snprintf(cell, CELL_MAX, "%.*s%s", (int)used, name ? name : "", whole ? "" : "...");
}

/* Seconds with a unit that leaves one to three digits in front of the point. */
static void put_seconds(char *cell, double seconds)
{
    if (seconds < 0)
        snprintf(cell, CELL_MAX, "-");
    else if (seconds < 1e-3)
        snprintf(cell, CELL_MAX, "%.1f us", seconds * 1e6);
    else if (seconds < 1)
        snprintf(cell, CELL_MAX, "%.1f ms", seconds * 1e3);
    else
        snprintf(cell, CELL_MAX, "%.2f s", seconds);
}

static void put_bytes(char *cell, double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    for (; bytes >= 1024 && unit < 4; unit++)
        bytes /= 1024;
    snprintf(cell, CELL_MAX, unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
}

static void put_number(char *cell, const cJSON *object, const char *key, const char *format, double factor)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!cJSON_IsNumber(item)) {
        snprintf(cell, CELL_MAX, "-");
        return;
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(cell, CELL_MAX, format, item->valuedouble * factor);
#pragma GCC diagnostic pop
}

/* ---- The tables --------------------------------------------------------------------------------- */

/* What an element at one size, and a loop in it have in common. */
static void put_times(char (*cells)[CELL_MAX], const cJSON *measured)
{
    put_number(cells[5], measured, "iterations", "%.0f", 1);
    put_seconds(cells[6], json_number(cJSON_GetObjectItem(measured, "loop_time"), "mean", -1));
    put_number(cells[7], measured, "iterations_per_second", "%.4g", 1);
    put_number(cells[8], measured, "mpi_share", "%.1f %%", 100);
    put_number(cells[9], measured, "imbalance", "%.2f", 1);
    put_number(cells[10], measured, "efficiency", "%.2f", 1);
}

static void add_world_row(struct grid *grid, const cJSON *element, const cJSON *world)
{
    char(*cells)[CELL_MAX] = grid_add_row(grid);
    if (!cells)
        return;
    put_number(cells[0], element, "pc", "%.0f", 1);
    put_name(cells[1], json_text(element, "name"));
    snprintf(cells[2], CELL_MAX, "%s", json_text(element, "type"));
    put_number(cells[3], world, "size", "%.0f", 1);
    put_number(cells[4], world, "visits", "%.0f", 1);
    put_times(cells, world);
}

/* The time is that of those ranks. */
static void add_loop_row(struct grid *grid, const cJSON *loop, int depth)
{
    char(*cells)[CELL_MAX] = grid_add_row(grid), name[PLACES_NAME];
    if (!cells)
        return;
    snprintf(cells[1], CELL_MAX, "%*s%.*s", 2 * depth, "", CELL_MAX - 1 - 2 * depth, places_loop_name(loop, name));
    snprintf(cells[2], CELL_MAX, "loop");
    put_number(cells[3], loop, "ranks", "%.0f", 1);
    put_times(cells, loop);
}

/* The loops in that one; 0: in none. Each is at most in one, and not deep. */
static void add_loop_rows(struct grid *grid, const cJSON *loops, int within, int depth)
{
    const cJSON *loop;
    cJSON_ArrayForEach(loop, loops)
    {
        if (json_int(loop, "within", 0) != within || depth > DEEPEST)
            continue;
        add_loop_row(grid, loop, depth);
        add_loop_rows(grid, loops, json_int(loop, "number", 0), depth + 1);
    }
}

static void print_elements(const cJSON *profile, bool bold, FILE *stream)
{
    static const char *const headings[] = {"pc",   "<element", "<type",     "ranks",     "visits",     "iterations",
                                           "time", "per s",    "MPI share", "imbalance", "efficiency", NULL};
    struct grid grid = grid_new(headings);
    const cJSON *element, *world;
    cJSON_ArrayForEach(element, cJSON_GetObjectItem(profile, "elements"))
    {
        cJSON_ArrayForEach(world, cJSON_GetObjectItem(element, "worlds"))
        {
            add_world_row(&grid, element, world);
            add_loop_rows(&grid, cJSON_GetObjectItem(world, "loops"), 0, 1);
        }
    }
    grid_print(&grid, bold, stream);
    free(grid.cells);
}

static void put_change(char *cell, const cJSON *a)
{
    double imbalance = json_number(a, "imbalance", 0);
    if (!json_true(a, "balance"))
        snprintf(cell, CELL_MAX, "%d -> %d", json_int(a, "from", 0), json_int(a, "to", 0));
    else if (imbalance > 0)
        snprintf(cell, CELL_MAX, "balance %d (%.2f)", json_int(a, "to", 0), imbalance);
    else
        snprintf(cell, CELL_MAX, "balance %d", json_int(a, "to", 0));
}

static void add_adaptation_row(struct grid *grid, const cJSON *a)
{
    char(*cells)[CELL_MAX] = grid_add_row(grid);
    const cJSON *times = cJSON_GetObjectItem(a, "times"), *bytes = cJSON_GetObjectItem(a, "bytes");
    if (!cells)
        return;
    double requested = json_number(times, "requested", 0), prepared = json_number(times, "prepared", -1);
    double committed = json_number(times, "committed", -1);
    put_change(cells[0], a);
    snprintf(cells[1], CELL_MAX, "%s", json_text(a, "state"));
    put_name(cells[2], json_text(a, "element"));
    put_number(cells[3], a, "iteration", "%.0f", 1);
    put_seconds(cells[4], prepared >= 0 ? prepared - requested : -1);
    put_seconds(cells[5], committed >= 0 ? committed - requested : -1);
    put_seconds(cells[6], json_number(a, "stall", -1));
    if (cJSON_IsObject(bytes)) {
        put_bytes(cells[7], json_number(bytes, "sent", 0));
        put_bytes(cells[8], json_number(bytes, "least", 0));
    }
}

static void print_adaptations(const cJSON *profile, bool bold, FILE *stream)
{
    static const char *const headings[] = {"<resize",           "<state", "<element", "iteration", "prepare",
                                           "request to commit", "stall",  "moved",    "least",     NULL};
    const cJSON *list = cJSON_GetObjectItem(profile, "adaptations"), *adaptation;
    if (!cJSON_GetArraySize(list))
        return;
    struct grid grid = grid_new(headings);
    cJSON_ArrayForEach(adaptation, list) add_adaptation_row(&grid, adaptation);
    fputc('\n', stream);
    grid_print(&grid, bold, stream);
    free(grid.cells);
}

static void add_recovery_row(struct grid *grid, const cJSON *recovery)
{
    char(*cells)[CELL_MAX] = grid_add_row(grid);
    const char *from = json_text(recovery, "from");
    int number = json_int(recovery, "number", 0);
    if (!cells)
        return;
    if (number)
        snprintf(cells[0], CELL_MAX, "%.20s %d", from, number);
    else
        snprintf(cells[0], CELL_MAX, "%.20s", from);
    put_number(cells[1], recovery, "size", "%.0f", 1);
    put_number(cells[2], recovery, "iterations", "%.0f", 1);
    put_seconds(cells[3], json_number(recovery, "lost", -1));
    put_seconds(cells[4], json_number(recovery, "seconds", -1));
    snprintf(cells[5], CELL_MAX, "%.60s", json_text(recovery, "reason"));
}

static void print_recoveries(const cJSON *profile, bool bold, FILE *stream)
{
    static const char *const headings[] = {"<recovered from", "ranks", "iterations lost", "work lost", "stood still",
                                           "<because",        NULL};
    const cJSON *list = cJSON_GetObjectItem(profile, "recoveries"), *recovery;
    if (!cJSON_GetArraySize(list))
        return;
    struct grid grid = grid_new(headings);
    cJSON_ArrayForEach(recovery, list) add_recovery_row(&grid, recovery);
    fputc('\n', stream);
    grid_print(&grid, bold, stream);
    free(grid.cells);
}

static void add_checkpoint_row(struct grid *grid, const cJSON *one)
{
    char(*cells)[CELL_MAX] = grid_add_row(grid);
    if (!cells)
        return;
    put_number(cells[0], one, "number", "%.0f", 1);
    snprintf(cells[1], CELL_MAX, "%s", json_text(one, "level"));
    put_name(cells[2], json_text(one, "element"));
    put_number(cells[3], one, "iteration", "%.0f", 1);
    put_seconds(cells[4], json_number(one, "seconds", -1));
    put_seconds(cells[5], json_number(one, "stall", -1));
    put_bytes(cells[6], json_number(one, "bytes", 0));
}

static void print_checkpoints(const cJSON *profile, bool bold, FILE *stream)
{
    static const char *const headings[] = {"checkpoint", "<kept in", "<element", "iteration",
                                           "time",       "stall",    "bytes",    NULL};
    const cJSON *list = cJSON_GetObjectItem(profile, "checkpoints"), *one;
    if (!cJSON_GetArraySize(list))
        return;
    struct grid grid = grid_new(headings);
    cJSON_ArrayForEach(one, list) add_checkpoint_row(&grid, one);
    fputc('\n', stream);
    grid_print(&grid, bold, stream);
    free(grid.cells);
}

void table_print(const cJSON *profile, FILE *stream)
{
    const char *no_color = getenv("NO_COLOR"), *reason = json_text(profile, "reason");
    bool bold = isatty(fileno(stream)) && !(no_color && no_color[0]);
    fprintf(stream, "\nprofile of %s: %.3f s%s%s\n", json_text(profile, "job"), json_number(profile, "duration", 0),
            reason ? "; partial: " : "", reason ? reason : "");
    print_elements(profile, bold, stream);
    print_adaptations(profile, bold, stream);
    print_recoveries(profile, bold, stream);
    print_checkpoints(profile, bold, stream);
    fflush(stream);
}
