/* JSON in PMIx infos. */
#include "runtime/control/codec.h"

#include <stdlib.h>
#include <string.h>

int control_info_load(pmix_info_t *info, const char *key, const cJSON *json)
{
    char *text = json ? cJSON_PrintUnformatted(json) : strdup("{}");
    PMIX_INFO_CONSTRUCT(info);
    if (!text)
        return -1;
    PMIX_INFO_LOAD(info, key, text, PMIX_STRING);
    free(text);
    return !info->value.data.string ? -1 : 0;
}

const char *control_info_text(const pmix_info_t *info, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (PMIX_CHECK_KEY(&info[i], key) && info[i].value.type == PMIX_STRING)
            return info[i].value.data.string;
    return NULL;
}

cJSON *control_info_json(const pmix_info_t *info, size_t count, const char *key)
{
    const char *text = control_info_text(info, count, key);
    cJSON *json = text ? cJSON_Parse(text) : NULL;
    if (json && !cJSON_IsObject(json)) {
        cJSON_Delete(json);
        json = NULL;
    }
    return json;
}
