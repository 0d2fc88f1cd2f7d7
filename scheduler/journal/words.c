/* Lists of words as text: see words.h. */
#include "scheduler/journal/words.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool append(cJSON *array, cJSON *item)
{
    if (item && cJSON_AddItemToArray(array, item))
        return true;
    cJSON_Delete(item);
    return false;
}

char *words_text(const char *const *words)
{
    cJSON *array = cJSON_CreateArray();
    bool whole = array;
    for (size_t i = 0; whole && words[i]; i++)
        whole = append(array, cJSON_CreateString(words[i]));
    char *text = whole ? cJSON_PrintUnformatted(array) : NULL;
    cJSON_Delete(array);
    return text;
}

void words_free(char **words)
{
    for (size_t i = 0; words && words[i]; i++)
        free(words[i]);
    free(words);
}

static char **copies(const cJSON *array)
{
    char **words = calloc((size_t)cJSON_GetArraySize(array) + 1, sizeof *words);
    size_t count = 0;
    for (const cJSON *item = array->child; words && item; item = item->next)
        if (!cJSON_IsString(item) || !(words[count++] = strdup(item->valuestring))) {
            words_free(words);
            return NULL;
        }
    return words;
}

char **words_read(const char *text)
{
    cJSON *array = cJSON_Parse(text);
    char **words = cJSON_IsArray(array) ? copies(array) : NULL;
    cJSON_Delete(array);
    return words;
}
