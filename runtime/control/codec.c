/* JSON in PMIx infos. */
#include <stdlib.h>
#include <string.h>

#include "runtime/control/control_internal.h"

int control_info_load(pmix_info_t *info, const char *key, const cJSON *json)
{
    char *text = json == NULL ? strdup("{}") : cJSON_PrintUnformatted(json);

    PMIX_INFO_CONSTRUCT(info);
    if (text == NULL)
        return -1;
    PMIX_INFO_LOAD(info, key, text, PMIX_STRING);
    free(text);
    return info->value.data.string == NULL ? -1 : 0;
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
    cJSON *json = text == NULL ? NULL : cJSON_Parse(text);

    if (json != NULL && !cJSON_IsObject(json)) {
        cJSON_Delete(json);
        json = NULL;
    }
    return json;
}
