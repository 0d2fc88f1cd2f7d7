/* After a failure the getters go on with harmless values, so that who reads need not look after each of them. */
#include "report/fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int place(const struct fields *at, char *text, size_t size)
{
    if (at->run < 0)
        return snprintf(text, size, "/");
    if (!at->list)
        return snprintf(text, size, "/runs/%d/", at->run);
    if (at->item < 0)
        return snprintf(text, size, "/runs/%d/%s/", at->run, at->list);
    return snprintf(text, size, "/runs/%d/%s/%d/", at->run, at->list, at->item);
}

void fields_fail(struct fields *at, const char *key, const char *what)
{
    char where[120];
    if (at->failed)
        return;
    at->failed = true;
    place(at, where, sizeof where);
    if (!*key)
        where[strlen(where) - 1] = '\0';
    snprintf(at->error, at->error_size, "is not a valid schedule: %s%s %s", where, key, what);
}

static bool is_none(const cJSON *item)
{
    return !item || cJSON_IsNull(item);
}

static const cJSON *member(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

double fields_number(struct fields *at, const cJSON *object, const char *key)
{
    const cJSON *item = member(object, key);
    if (cJSON_IsNumber(item) && isfinite(item->valuedouble))
        return item->valuedouble;
    fields_fail(at, key, "must be a number");
    return 0;
}

double fields_number_or_none(struct fields *at, const cJSON *object, const char *key)
{
    return is_none(member(object, key)) ? NAN : fields_number(at, object, key);
}

int fields_count(struct fields *at, const cJSON *object, const char *key, int least, int most)
{
    char what[80];
    double value = fields_number(at, object, key);
    if (value >= least && value <= most && value == floor(value))
        return (int)value;
    snprintf(what, sizeof what, "must be a whole number from %d to %d", least, most);
    fields_fail(at, key, what);
    return least;
}

const char *fields_text(struct fields *at, const cJSON *object, const char *key)
{
    const cJSON *item = member(object, key);
    if (cJSON_IsString(item))
        return item->valuestring;
    fields_fail(at, key, "must be a text");
    return "";
}

const char *fields_text_or_none(struct fields *at, const cJSON *object, const char *key)
{
    return is_none(member(object, key)) ? "" : fields_text(at, object, key);
}

const char *fields_word(struct fields *at, const cJSON *object, const char *key, const char *const *words)
{
    char what[120] = "must be one of";
    const char *text = fields_text(at, object, key);
    for (size_t i = 0; words[i]; i++) {
        size_t length = strlen(what);
        if (!strcmp(words[i], text))
            return text;
        snprintf(what + length, sizeof what - length, " %s", words[i]);
    }
    fields_fail(at, key, what);
    return words[0];
}

const cJSON *fields_array(struct fields *at, const cJSON *object, const char *key)
{
    const cJSON *item = member(object, key);
    if (!cJSON_IsArray(item))
        fields_fail(at, key, "must be a list");
    return item;
}

const cJSON *fields_object(struct fields *at, const cJSON *object, const char *key)
{
    const cJSON *item = member(object, key);
    if (!cJSON_IsObject(item))
        fields_fail(at, key, "must be an object");
    return item;
}
