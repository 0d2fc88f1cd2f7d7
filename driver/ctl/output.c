/* What epopctl prints: tables for people, tab-separated lines for programs, JSON. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/ctl/ctl.h"

struct ctl_table {
    int columns, rows;
    char **cells; /* rows * columns; the first row are the titles */
};

int ctl_for_people(void)
{
    return isatty(STDOUT_FILENO);
}

/* A cell on one line: what comes from a job must not break the table, or drive the terminal. */
static char *clean(const char *text)
{
    char *copy = strdup(text);

    for (char *at = copy; at != NULL && *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == 127)
            *at = ' ';
    return copy;
}

void ctl_table_add(ctl_table_t *table, const char *const *cells)
{
    size_t count = (size_t)(table->rows + 1) * (size_t)table->columns;
    char **more = realloc(table->cells, count * sizeof *more);

    if (more == NULL)
        return;
    table->cells = more;
    for (int i = 0; i < table->columns; i++)
        more[table->rows * table->columns + i] = clean(cells[i]);
    table->rows++;
}

ctl_table_t *ctl_table_new(int columns, const char *const *titles)
{
    ctl_table_t *table = calloc(1, sizeof *table);

    if (table == NULL) {
        ctl_complain("out of memory");
        exit(CTL_REFUSED);
    }
    table->columns = columns;
    ctl_table_add(table, titles);
    return table;
}

static int width_of(const ctl_table_t *table, int column)
{
    size_t width = 0;

    for (int row = 0; row < table->rows; row++) {
        const char *cell = table->cells[row * table->columns + column];
        if (cell != NULL && strlen(cell) > width)
            width = strlen(cell);
    }
    return (int)width;
}

void ctl_table_print(ctl_table_t *table)
{
    int people = ctl_for_people();

    for (int row = 0; row < table->rows; row++)
        for (int column = 0; column < table->columns; column++) {
            char *cell = table->cells[row * table->columns + column];
            const char *text = cell == NULL ? "" : cell;
            if (column == table->columns - 1)
                printf("%s\n", text);
            else if (people)
                printf("%-*s  ", width_of(table, column), text);
            else
                printf("%s\t", text);
        }
    for (int i = 0; i < table->rows * table->columns; i++)
        free(table->cells[i]);
    free(table->cells);
    free(table);
}

void ctl_print_json(const cJSON *json)
{
    char *text = cJSON_Print(json);

    if (text != NULL)
        puts(text);
    free(text);
}

const char *ctl_text(const cJSON *object, const char *name, const char *otherwise)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));

    return text == NULL ? otherwise : text;
}

double ctl_number(const cJSON *object, const char *name, double otherwise)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

    return cJSON_IsNumber(item) ? item->valuedouble : otherwise;
}

void ctl_duration(double seconds, char text[32])
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
