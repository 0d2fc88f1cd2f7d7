/* cJSON takes no part of what failed: it is deleted here. */
#include "report/rows.h"

#include <math.h>

static void add(struct rows *rows, cJSON *list, cJSON *item)
{
    if (item && cJSON_AddItemToArray(list, item))
        return;
    cJSON_Delete(item);
    rows->failed = true;
}

struct rows rows_begin(cJSON *object, const char *key)
{
    struct rows rows = {.list = cJSON_AddArrayToObject(object, key)};
    rows.failed = !rows.list;
    return rows;
}

void rows_next(struct rows *rows)
{
    rows->row = cJSON_CreateArray();
    if (rows->row && cJSON_AddItemToArray(rows->list, rows->row))
        return;
    cJSON_Delete(rows->row);
    rows->row = NULL;
    rows->failed = true;
}

void rows_number(struct rows *rows, double value)
{
    add(rows, rows->row, isnan(value) ? cJSON_CreateNull() : cJSON_CreateNumber(value));
}

void rows_text(struct rows *rows, const char *text)
{
    add(rows, rows->row, text ? cJSON_CreateString(text) : cJSON_CreateNull());
}

void rows_member(struct rows *rows, const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    add(rows, rows->row, item ? cJSON_Duplicate(item, 0) : cJSON_CreateNull());
}
