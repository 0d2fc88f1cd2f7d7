/* Values of a JSON document, each with its place for messages. */
#include "scheduler/workload/json_place.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct json_place json_place_in(const struct json_place *in, const char *key)
{
    return (struct json_place){.in = in, .key = key, .item = cJSON_GetObjectItemCaseSensitive(in->item, key)};
}

/* Appends; what does not fit is cut off. */
static void append_text(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

static void add_path(const struct json_place *place, char *text, size_t size)
{
    if (!place->in) {
        append_text(text, size, "%s", place->key);
        return;
    }
    add_path(place->in, text, size);
    if (place->key)
        append_text(text, size, "%s%s", place->in->in ? "." : ": ", place->key);
    else
        append_text(text, size, "[%d]", place->index);
}

int json_place_error(const struct json_place *place, struct error *error, const char *format, ...)
{
    char path[1000] = "", text[1000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    add_path(place, path, sizeof path);
    return error_set(error, ERROR_REFUSED, "%s: %s", path, text);
}

static int unknown_key(const struct json_place *place, const char *key, const char *const *keys, struct error *error)
{
    char known[600] = "";
    for (int i = 0; keys[i]; i++)
        append_text(known, sizeof known, "%s%s", i ? ", " : "", keys[i]);
    return json_place_error(place, error, "unknown key \"%.60s\"; there are %s", key, known);
}

int json_place_object(const struct json_place *place, const char *const *keys, struct error *error)
{
    if (!cJSON_IsObject(place->item))
        return json_place_error(place, error, place->item ? "is no object {...}" : "is missing");
    for (const cJSON *item = place->item->child; item; item = item->next) {
        int i = 0;
        while (keys[i] && strcmp(keys[i], item->string))
            i++;
        if (!keys[i])
            return unknown_key(place, item->string, keys, error);
        if (cJSON_GetObjectItemCaseSensitive(place->item, item->string) != item)
            return json_place_error(place, error, "the key \"%.60s\" is there twice", item->string);
    }
    return 0;
}

int json_place_array(const struct json_place *place, struct error *error)
{
    if (!cJSON_IsArray(place->item))
        return json_place_error(place, error, place->item ? "is no array [...]" : "is missing");
    return cJSON_GetArraySize(place->item) > 0 ? 0 : json_place_error(place, error, "is empty");
}

static int say_missing(const struct json_place *place, bool required, struct error *error)
{
    return required ? json_place_error(place, error, "is missing") : 0;
}

int json_place_number(const struct json_place *in, const char *key, bool required, double least, double most,
                      double *value, struct error *error)
{
    struct json_place place = json_place_in(in, key);
    if (!place.item)
        return say_missing(&place, required, error);
    if (!cJSON_IsNumber(place.item))
        return json_place_error(&place, error, "is no number");
    double number = place.item->valuedouble;
    if (!isfinite(number) || number < least)
        return json_place_error(&place, error, "is %.12g: it must be %.12g at least", number, least);
    if (number > most)
        return json_place_error(&place, error, "is %.12g: it must be %.12g at most", number, most);
    *value = number;
    return 0;
}

int json_place_int(const struct json_place *in, const char *key, bool required, int least, int most, int *value,
                   struct error *error)
{
    struct json_place place = json_place_in(in, key);
    double number = *value;
    if (json_place_number(in, key, required, least, most, &number, error))
        return -1;
    if (number != floor(number))
        return json_place_error(&place, error, "is %.12g: it must be a whole number", number);
    *value = (int)number;
    return 0;
}

int json_place_text(const struct json_place *in, const char *key, bool required, const char **value,
                    struct error *error)
{
    struct json_place place = json_place_in(in, key);
    if (!place.item)
        return say_missing(&place, required, error);
    if (!cJSON_IsString(place.item) || !place.item->valuestring[0])
        return json_place_error(&place, error, "is no text, or empty");
    *value = place.item->valuestring;
    return 0;
}

int json_place_word(const struct json_place *in, const char *key, bool required, const char *const *words, int *value,
                    struct error *error)
{
    const char *word = NULL;
    char known[600] = "";
    struct json_place place = json_place_in(in, key);
    if (json_place_text(in, key, required, &word, error))
        return -1;
    for (int i = 0; word && words[i]; i++) {
        if (!strcmp(words[i], word)) {
            *value = i;
            return 0;
        }
        append_text(known, sizeof known, "%s%s", i ? ", " : "", words[i]);
    }
    return word ? json_place_error(&place, error, "is \"%.60s\"; there are %s", word, known) : 0;
}
