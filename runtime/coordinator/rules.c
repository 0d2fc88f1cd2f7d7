/* Size rules: see rules.h. */
#include "runtime/coordinator/rules.h"

#include "epop_api/sizes.h"

static cJSON *accepted_json(const epop_sizes_t *sizes, int most)
{
    cJSON *list = cJSON_CreateArray();
    for (int size = 1; size <= most; size++)
        if (epop_sizes_accept(sizes, size))
            cJSON_AddItemToArray(list, cJSON_CreateNumber(size));
    return list;
}

cJSON *rules_json(const epop_sizes_t *sizes, int most)
{
    char text[160] = "";
    int listed = most < RULES_LARGEST ? most : RULES_LARGEST;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "kind", size_kind_name(sizes->kind));
    cJSON_AddNumberToObject(json, "min", sizes->min);
    cJSON_AddNumberToObject(json, "max", sizes->max);
    if (sizes->kind == EPOP_SIZE_MULTIPLE)
        cJSON_AddNumberToObject(json, "factor", sizes->factor);
    cJSON_AddNumberToObject(json, "preferred", sizes->preferred);
    epop_sizes_text(sizes, text, sizeof text);
    cJSON_AddStringToObject(json, "text", text);
    cJSON_AddItemToObject(json, "accepted", accepted_json(sizes, listed));
    cJSON_AddNumberToObject(json, "listed", listed);
    return json;
}
