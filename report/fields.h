/* Members of JSON objects that have to be there and of a kind. The first that is not is remembered with its place. */
#ifndef EPOP_REPORT_FIELDS_H
#define EPOP_REPORT_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include <cjson/cJSON.h>

/* Where one is: /runs/RUN/LIST/ITEM; what is not known yet is negative or NULL. */
struct fields {
    int run;
    const char *list;
    int item;
    bool failed;
    char *error;
    size_t error_size;
};

/* Says that a member is wrong, unless something was before. */
void fields_fail(struct fields *at, const char *key, const char *what);
/* A finite number; 0 after a failure. */
double fields_number(struct fields *at, const cJSON *object, const char *key);
/* Likewise, NAN where it is null or not there. */
double fields_number_or_none(struct fields *at, const cJSON *object, const char *key);
/* A whole number from `least` to `most`. */
int fields_count(struct fields *at, const cJSON *object, const char *key, int least, int most);
const char *fields_text(struct fields *at, const cJSON *object, const char *key);
/* Likewise, "" where it is null or not there. */
const char *fields_text_or_none(struct fields *at, const cJSON *object, const char *key);
/* One of the words, of which the last is NULL. */
const char *fields_word(struct fields *at, const cJSON *object, const char *key, const char *const *words);
const cJSON *fields_array(struct fields *at, const cJSON *object, const char *key);
const cJSON *fields_object(struct fields *at, const cJSON *object, const char *key);

#endif
