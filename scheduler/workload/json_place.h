/*
 * Reading a JSON document with errors that name the place in it: jobs[3].submit. A place knows the one that it is in,
 * so that the path is made only when there is something to say.
 */
#ifndef SCHEDULER_WORKLOAD_JSON_PLACE_H
#define SCHEDULER_WORKLOAD_JSON_PLACE_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "runtime/base/error.h"

struct json_place {
    const struct json_place *in; /* NULL: the whole document, whose `key` is the file's name */
    const char *key;             /* NULL: an item of an array */
    int index;
    const cJSON *item; /* NULL: there is none */
};

/* What is there under that key. `in` must live as long. */
struct json_place json_place_in(const struct json_place *in, const char *key);

/* Always -1: "FILE: jobs[3].submit: ...". */
int json_place_error(const struct json_place *place, struct error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Each: 0, or -1 with the error set. `key` is looked for in the object `in`. */

/* An object, and no key in it but these; the list ends with NULL. */
int json_place_object(const struct json_place *place, const char *const *keys, struct error *error);
/* An array; with items. */
int json_place_array(const struct json_place *place, struct error *error);
/* A number from least to most; *value stays as it is when there is none, unless it is required. */
int json_place_number(const struct json_place *in, const char *key, bool required, double least, double most,
                      double *value, struct error *error);
/* The same, of whole numbers. */
int json_place_int(const struct json_place *in, const char *key, bool required, int least, int most, int *value,
                   struct error *error);
/* A text that is not empty; *value is the document's. */
int json_place_text(const struct json_place *in, const char *key, bool required, const char **value,
                    struct error *error);
/* One of these words; the list ends with NULL; *value is its number. */
int json_place_word(const struct json_place *in, const char *key, bool required, const char *const *words, int *value,
                    struct error *error);

#endif
