/*
 * Short forms for reading and making messages of the control plane. A missing member reads as 0, false, NULL, or as
 * what the caller says.
 */
#ifndef EPOP_JSON_H
#define EPOP_JSON_H

#include <cjson/cJSON.h>
#include <stdint.h>

static inline double json_number(const cJSON *object, const char *key, double otherwise)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(item) ? item->valuedouble : otherwise;
}

static inline int json_int(const cJSON *object, const char *key, int otherwise)
{
    return (int)json_number(object, key, otherwise);
}

/* cJSON prints 15 digits of a large number: exact up to 10^15, which iterations of 1 us reach after 31 years. */
static inline int64_t json_int64(const cJSON *object, const char *key, int64_t otherwise)
{
    return (int64_t)json_number(object, key, (double)otherwise);
}

static inline const char *json_text(const cJSON *object, const char *key)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
}

static inline int json_true(const cJSON *object, const char *key)
{
    return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(object, key));
}

/* Whatever it had by that name. */
static inline void json_put_text(cJSON *object, const char *key, const char *value)
{
    cJSON_DeleteItemFromObjectCaseSensitive(object, key);
    cJSON_AddStringToObject(object, key, value);
}

/* The arguments behind a program's own name, an array of texts; `argv` ends with NULL, or is NULL: there are none. */
static inline cJSON *json_arguments(char *const *argv)
{
    cJSON *list = cJSON_CreateArray();
    for (int i = 1; argv && argv[0] && argv[i]; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(argv[i]));
    return list;
}

/* A new object with its "op" set. */
static inline cJSON *json_message(const char *op)
{
    cJSON *message = cJSON_CreateObject();
    cJSON_AddStringToObject(message, "op", op);
    return message;
}

#endif
