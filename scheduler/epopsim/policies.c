/* Names of policies: see policies.h. */
#include "scheduler/epopsim/policies.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "scheduler/policies/policies.h"

static int add_word(char *word, char ***words, size_t *count, size_t *room, struct error *error)
{
    if (!word || array_reserve(words, room, *count + 1, sizeof **words)) {
        free(word);
        return error_memory(error);
    }
    (*words)[(*count)++] = word;
    return 0;
}

/* NAME=VALUE; a path may have a '=' too, behind a '/'. */
static int is_option(const char *word)
{
    size_t name = strcspn(word, "=,/");
    return word[name] == '=';
}

/* One policy from here on, with the options behind it. */
static size_t length_of(const char *text)
{
    size_t length = strcspn(text, ",");
    while (text[length]) {
        if (!is_option(text + length + 1))
            break;
        length += 1 + strcspn(text + length + 1, ",");
    }
    return length;
}

int policy_words(const char *text, char ***words, size_t *count, size_t *room, struct error *error)
{
    const char *all = text;
    for (;;) {
        size_t length = length_of(text);
        if (length == 0 || is_option(text))
            return error_set(error, ERROR_REFUSED, "--policy: \"%s\" is not NAME[,OPTION=VALUE...][,NAME...]", all);
        if (add_word(strndup(text, length), words, count, room, error))
            return -1;
        if (!text[length])
            return 0;
        text += length + 1;
    }
}

int policy_words_default(char ***words, size_t *count, size_t *room, struct error *error)
{
    for (const epop_policy_t *const *policy = policies; *policy; policy++)
        if (add_word(strdup((*policy)->name), words, count, room, error))
            return -1;
    return 0;
}

void policies_list(FILE *file)
{
    for (const epop_policy_t *const *policy = policies; *policy; policy++) {
        fprintf(file, "%-6s %s\n", (*policy)->name, (*policy)->summary);
        for (const epop_policy_option_t *option = (*policy)->options; option && option->name; option++)
            fprintf(file, "       %s=%s  %s\n", option->name, option->value, option->help);
    }
}
