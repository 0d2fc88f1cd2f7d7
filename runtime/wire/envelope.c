/* Lines for many processes: see envelope.h. */
#include "runtime/wire/envelope.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/array.h"

enum { MOST = 1 << 22 };

static size_t run_from(const int *processes, size_t count)
{
    size_t length = 1;
    while (length < count && processes[length] == processes[0] + (int)length)
        length++;
    return length;
}

static void write_processes(FILE *file, const int *processes, size_t count)
{
    for (size_t i = 0, length; i < count; i += length) {
        length = run_from(processes + i, count - i);
        fputs(i ? "," : "", file);
        if (length > 1)
            fprintf(file, "[%d,%zu]", processes[i], length);
        else
            fprintf(file, "%d", processes[i]);
    }
}

char *envelope_text(const char *op, const int *processes, size_t count, const char *member, const char *text,
                    size_t length, size_t *size)
{
    char *line = NULL;
    FILE *file = open_memstream(&line, size);
    if (!file)
        return NULL;
    fprintf(file, "{\"op\":\"%s\",\"" ENVELOPE_PROCESSES "\":[", op);
    write_processes(file, processes, count);
    fprintf(file, "],\"%s\":", member);
    fwrite(text, 1, length, file);
    fputs("}\n", file);
    if (!fclose(file))
        return line;
    free(line);
    return NULL;
}

/* -1: it is not what it has to be, or no memory. */
static int add(int **processes, size_t *room, size_t *count, const cJSON *item)
{
    const cJSON *first = cJSON_IsArray(item) ? cJSON_GetArrayItem(item, 0) : item, *many = cJSON_GetArrayItem(item, 1);
    double length = many ? many->valuedouble : 1;
    if (!cJSON_IsNumber(first) || !(first->valuedouble >= 0 && first->valuedouble <= MOST) ||
        !(length >= 1 && length <= MOST) || array_reserve(processes, room, *count + (size_t)length, sizeof **processes))
        return -1;
    for (int i = 0; i < (int)length; i++)
        (*processes)[(*count)++] = (int)first->valuedouble + i;
    return 0;
}

int *envelope_processes(const cJSON *envelope, size_t *count)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(envelope, ENVELOPE_PROCESSES), *item;
    int *processes = NULL, failed = 0;
    size_t room = 0;
    *count = 0;
    cJSON_ArrayForEach(item, list) failed = failed ? failed : add(&processes, &room, count, item);
    if (!failed && *count)
        return processes;
    free(processes);
    *count = 0;
    return NULL;
}
