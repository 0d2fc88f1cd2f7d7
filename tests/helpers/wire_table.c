/* Prints the rows of runtime/wire/messages.def as JSON, for tests/run/helpers/messages.py. */
#include <cjson/cJSON.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As the decoder has them. */
#define LIST_MOST 100000
#define TEXT_MOST 1000000
#define ANY_REAL  (-HUGE_VAL)

static cJSON *members; /* of the present row */

static void add_row(cJSON *rows, const char *kind, const char *name, const char *help)
{
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "kind", kind);
    cJSON_AddStringToObject(row, "name", name);
    cJSON_AddStringToObject(row, "help", help);
    members = cJSON_AddArrayToObject(row, "members");
    cJSON_AddItemToArray(rows, row);
}

static cJSON *add_member(const char *what, const char *name, const char *need, const char *help)
{
    cJSON *member = cJSON_CreateObject();
    cJSON_AddStringToObject(member, "what", what);
    cJSON_AddStringToObject(member, "name", name);
    cJSON_AddBoolToObject(member, "must", !strcmp(need, "MUST"));
    cJSON_AddStringToObject(member, "help", help);
    cJSON_AddItemToArray(members, member);
    return member;
}

static void add_number(cJSON *member, const char *name, double value)
{
    if (isfinite(value))
        cJSON_AddNumberToObject(member, name, value);
}

static void add_range(cJSON *member, double least, double most, double otherwise)
{
    add_number(member, "least", least);
    add_number(member, "most", most);
    add_number(member, "otherwise", otherwise);
}

#define WORDS(member, words)     cJSON_AddStringToObject(member, "words", words)
#define ROW(kind, name, help)    add_row(rows, #kind, #name, help);
#define TRUTH(name, need, help)  add_member("truth", #name, #need, help);
#define MAYBE(name, need, help)  add_member("maybe", #name, #need, help);
#define SURELY(name, need, help) add_member("surely", #name, #need, help);
#define INT(name, need, least, most, otherwise, help)                                                                  \
    add_range(add_member("int", #name, #need, help), least, most, otherwise);
#define NUMBER(name, need, numbers, otherwise, help) WORDS(add_member("number", #name, #need, help), numbers);
#define WHOLE(name, need, least, otherwise, help)                                                                      \
    add_range(add_member("whole", #name, #need, help), least, 1e15, otherwise);
#define REAL(name, need, least, otherwise, help)                                                                       \
    add_range(add_member("real", #name, #need, help), least, HUGE_VAL, otherwise);
#define TEXT(name, need, form, least, most, help)                                                                      \
    {                                                                                                                  \
        cJSON *text = add_member("text", #name, #need, help);                                                          \
        add_range(text, least, most, HUGE_VAL);                                                                        \
        WORDS(text, #form);                                                                                            \
    }
#define CHOICE(name, need, words, help)          WORDS(add_member("choice", #name, #need, help), words);
#define WORD(name, need, words, otherwise, help) WORDS(add_member("word", #name, #need, help), words);
#define TRUTH_OR(name, need, word, help)         WORDS(add_member("truth_or", #name, #need, help), word);
#define INTS(name, need, least, distinct, help)                                                                        \
    {                                                                                                                  \
        cJSON *ints = add_member("ints", #name, #need, help);                                                          \
        add_range(ints, least, INT_MAX, HUGE_VAL);                                                                     \
        cJSON_AddBoolToObject(ints, "distinct", distinct);                                                             \
    }
#define RUNS(name, need, least, help)     add_range(add_member("runs", #name, #need, help), least, INT_MAX, HUGE_VAL);
#define TEXTS(name, need, help)           add_member("texts", #name, #need, help);
#define INT_OF(name, need, least, help)   add_range(add_member("int_of", #name, #need, help), least, INT_MAX, HUGE_VAL);
#define TEXT_OF(name, need, prefix, help) WORDS(add_member("text_of", #name, #need, help), prefix);
#define OBJECT(name, need, shape, help)   WORDS(add_member("object", #name, #need, help), #shape);
#define LIST(name, need, shape, most, help)                                                                            \
    {                                                                                                                  \
        cJSON *list = add_member("list", #name, #need, help);                                                          \
        WORDS(list, #shape);                                                                                           \
        add_number(list, "most", most);                                                                                \
    }
#define JSON(name, need, what, help) WORDS(add_member("json", #name, #need, help), #what);
#define SOME(names)                  add_member("SOME", names, "", "");
#define ALONE(names)                 add_member("ALONE", names, "", "");
#define WITH(names)                  add_member("WITH", names, "", "");
#define OPEN                         add_member("OPEN", "", "", "");
#define ANSWERED(text)               add_member("ANSWERED", "", "", text);

int main(void)
{
    cJSON *rows = cJSON_CreateArray();
#include "runtime/wire/messages.def"
    char *text = cJSON_Print(rows);
    puts(text ? text : "");
    cJSON_free(text);
    cJSON_Delete(rows);
    return text ? EXIT_SUCCESS : EXIT_FAILURE;
}
