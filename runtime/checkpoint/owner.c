/* Who a checkpoint is of: what its head says, and what differs from the program that runs here. */
#include "runtime/checkpoint/owner.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/json.h"

#define DESCRIBED "described"

/* ---- Making one --------------------------------------------------------------------------------- */

/* The arguments after the program's own name, as a JSON array; from malloc(), NULL: out of memory. */
static char *owner_arguments(char *const *argv)
{
    cJSON *list = json_arguments(argv);
    char *text = cJSON_PrintUnformatted(list);
    cJSON_Delete(list);
    return text;
}

int owner_make(const epop_program_t *program, const char *name, char *const *argv, struct checkpoint_head *head)
{
    head->format = CHECKPOINT_FORMAT;
    head->program = strdup(program ? program->name : name);
    head->structure = program ? epop_program_to_json(program) : strdup("{}");
    head->arguments = owner_arguments(argv);
    return head->program && head->structure && head->arguments ? 0 : -1;
}

int owner_describe(struct checkpoint_head *head, const char *name, const char *kind)
{
    cJSON *structure = cJSON_Parse(head->structure);
    cJSON *list = cJSON_GetObjectItemCaseSensitive(structure, DESCRIBED);
    if (!list)
        list = cJSON_AddArrayToObject(structure, DESCRIBED);
    cJSON *entry = cJSON_CreateObject();
    cJSON_AddStringToObject(entry, "name", name);
    cJSON_AddStringToObject(entry, "kind", kind);
    cJSON_AddItemToArray(list, entry);
    char *text = list && entry ? cJSON_PrintUnformatted(structure) : NULL;
    cJSON_Delete(structure);
    if (!text)
        return -1;
    free(head->structure);
    head->structure = text;
    return 0;
}

/* ---- Comparing: the program --------------------------------------------------------------------- */

/* How many words an argument has that may change; 0: it may not. name: "steps", "--steps", or its place from 1 on. */
static int words_that_match(const cJSON *arguments, int at, const char *name)
{
    const char *word = cJSON_GetStringValue(cJSON_GetArrayItem(arguments, at));
    size_t length = strlen(name);
    if (!word)
        return 0;
    if (name[strspn(name, "0123456789")] == '\0')
        return atoi(name) == at + 1;
    if (strncmp(word, name, length) || (word[length] && word[length] != '='))
        return 0;
    bool is_before_its_value = !word[length] && name[0] == '-' && at + 1 < cJSON_GetArraySize(arguments);
    return word[length] || name[0] == '-' ? 1 + is_before_its_value : 0;
}

/* The next one that may not, or its end. */
static int skip_changes(const cJSON *arguments, int at, const cJSON *may_change)
{
    const cJSON *name;
    for (int words = 1; words; at += words) {
        words = 0;
        cJSON_ArrayForEach(name, may_change) if (!words) words =
            words_that_match(arguments, at, cJSON_GetStringValue(name));
    }
    return at;
}

static int other_arguments(const cJSON *there, const cJSON *here, const cJSON *may_change, const char *path,
                           struct error *error)
{
    for (int i = 0, j = 0;; i++, j++) {
        i = skip_changes(here, i, may_change);
        j = skip_changes(there, j, may_change);
        const char *a = cJSON_GetStringValue(cJSON_GetArrayItem(here, i));
        const char *b = cJSON_GetStringValue(cJSON_GetArrayItem(there, j));
        if (!a && !b)
            return 0;
        if (a && b && !strcmp(a, b))
            continue;
        return error_set(error, ERROR_REFUSED,
                         "%s: argument %d is %s%.300s%s here, %s%.300s%s in the file; --new-arguments, or "
                         "EPOP_NEW_ARGUMENTS=1, goes on with those here",
                         path, i + 1, a ? "'" : "", a ? a : "missing", a ? "'" : "", b ? "'" : "", b ? b : "missing",
                         b ? "'" : "");
    }
}

/* "EP 'iterate'" */
static void name_element(const cJSON *element, char text[200])
{
    const char *type = json_text(element, "type"), *name = json_text(element, "name");
    snprintf(text, 200, "%.10s '%.150s'", type ? type : "?", name ? name : "?");
}

/* What of two elements is not the same; NULL: nothing. */
static const char *other_part(const cJSON *there, const cJSON *here)
{
    static const char *const parts[] = {"type", "name", "sizes", "progress"}; /* blocks may come to a program */
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!cJSON_Compare(cJSON_GetObjectItemCaseSensitive(there, parts[i]),
                           cJSON_GetObjectItemCaseSensitive(here, parts[i]), 1))
            return parts[i];
    return NULL;
}

static int other_structure(const cJSON *there, const cJSON *here, const char *path, struct error *error)
{
    const cJSON *a = cJSON_GetObjectItemCaseSensitive(here, "elements");
    const cJSON *b = cJSON_GetObjectItemCaseSensitive(there, "elements");
    char here_text[200], there_text[200];
    if (cJSON_GetArraySize(a) != cJSON_GetArraySize(b))
        return error_set(error, ERROR_REFUSED, "%s: the program has %d elements here, %d in the file", path,
                         cJSON_GetArraySize(a), cJSON_GetArraySize(b));
    for (int pc = 0; pc < cJSON_GetArraySize(a); pc++) {
        const cJSON *x = cJSON_GetArrayItem(a, pc), *y = cJSON_GetArrayItem(b, pc);
        const char *part = other_part(y, x);
        if (!part)
            continue;
        name_element(x, here_text);
        name_element(y, there_text);
        return error_set(error, ERROR_REFUSED, "%s: element %d is %s here, %s in the file, with another %s", path, pc,
                         here_text, there_text, part);
    }
    return 0;
}

/* Structure and arguments, as trees: of text that is no JSON there are none. */
struct trees {
    cJSON *structure, *arguments;
};

static struct trees parse_trees(const struct checkpoint_head *head)
{
    return (struct trees){cJSON_Parse(head->structure), cJSON_Parse(head->arguments)};
}

static void drop_trees(struct trees *trees)
{
    cJSON_Delete(trees->structure);
    cJSON_Delete(trees->arguments);
}

/* Checkpoints are made in probes: an elastic phase has them, and an executable, which counts them from 1. */
static int other_position(const cJSON *here, const struct position *at, const char *path, struct error *error)
{
    const cJSON *elements = cJSON_GetObjectItemCaseSensitive(here, "elements");
    const char *type = json_text(cJSON_GetArrayItem(elements, at->pc), "type");
    if (elements && (!type || strcmp(type, "EP")))
        return error_set(error, ERROR_REFUSED, "%s: it goes on at element %d, which is %s", path, at->pc,
                         type ? "no elastic phase" : "not there");
    if (!elements && (at->pc || !at->iteration))
        return error_set(error, ERROR_REFUSED, "%s: it goes on at element %d, iteration %lld, which no executable has",
                         path, at->pc, (long long)at->iteration);
    return 0;
}

int owner_compare(const struct checkpoint_head *there, const struct checkpoint_head *here, const char *path,
                  struct error *error)
{
    if (strcmp(there->program, here->program))
        return error_set(error, ERROR_REFUSED, "%s: it is a checkpoint of the program '%.200s', not of '%.200s'", path,
                         there->program, here->program);
    struct trees a = parse_trees(there), b = parse_trees(here);
    int result = !a.structure || !cJSON_IsArray(a.arguments)
                     ? error_set(error, ERROR_REFUSED, "%s: it does not say which program it is of", path)
                     : 0;
    if (!result)
        result = other_structure(a.structure, b.structure, path, error);
    if (!result && !here->new_arguments)
        result = other_arguments(a.arguments, b.arguments, cJSON_GetObjectItemCaseSensitive(b.structure, "may_change"),
                                 path, error);
    if (!result)
        result = other_position(b.structure, &there->at, path, error);
    drop_trees(&a);
    drop_trees(&b);
    return result;
}

/* ---- Comparing: what is described --------------------------------------------------------------- */

static const char *described_kind(const cJSON *list, const char *name)
{
    const cJSON *entry;
    cJSON_ArrayForEach(entry, list) if (json_text(entry, "name") &&
                                        !strcmp(json_text(entry, "name"), name)) return json_text(entry, "kind");
    return NULL;
}

/* The first of `list` that `other` does not have as it is. */
static const cJSON *first_other(const cJSON *list, const cJSON *other)
{
    const cJSON *entry;
    cJSON_ArrayForEach(entry, list)
    {
        const char *name = json_text(entry, "name"), *kind = json_text(entry, "kind");
        const char *same = name ? described_kind(other, name) : NULL;
        if (!same || !kind || strcmp(same, kind))
            return entry;
    }
    return NULL;
}

static int other_described(const cJSON *there, const cJSON *here, const char *path, struct error *error)
{
    const cJSON *more = first_other(here, there), *missing = first_other(there, here);
    const char *name = json_text(more ? more : missing, "name");
    if (!name)
        return 0;
    const char *kind = json_text(more ? more : missing, "kind"), *other = described_kind(more ? there : here, name);
    if (other)
        return error_set(error, ERROR_REFUSED, "%s: '%.200s' is described as %s here, %s in the file", path, name,
                         more ? kind : other, more ? other : kind);
    return error_set(error, ERROR_REFUSED,
                     more ? "%s: '%.200s' is described here, and is not in the file"
                          : "%s: '%.200s' is in the file, and is not described here",
                     path, name);
}

int owner_compare_described(const struct checkpoint_head *there, const struct checkpoint_head *here, const char *path,
                            struct error *error)
{
    struct trees a = parse_trees(there), b = parse_trees(here);
    int result = other_described(cJSON_GetObjectItemCaseSensitive(a.structure, DESCRIBED),
                                 cJSON_GetObjectItemCaseSensitive(b.structure, DESCRIBED), path, error);
    drop_trees(&a);
    drop_trees(&b);
    return result;
}
