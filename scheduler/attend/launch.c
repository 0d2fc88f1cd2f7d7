/* Reading launch.json: see launch.h. */
#include "scheduler/attend/launch.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/json.h"
#include "scheduler/attend/file.h"

static char *copy(const cJSON *json, const char *name)
{
    const char *text = json_text(json, name);
    return text ? strdup(text) : NULL;
}

/* NULL: it is no list of texts, or there is no memory. */
static char **read_words(const cJSON *list)
{
    int count = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;
    char **words = count ? calloc((size_t)count + 1, sizeof *words) : NULL;
    const cJSON *item;
    int n = 0;
    cJSON_ArrayForEach(item, list)
    {
        if (!words || !cJSON_IsString(item))
            return NULL;
        words[n++] = strdup(item->valuestring);
    }
    return words;
}

static bool is_batch(const char *variable)
{
    return !strncmp(variable, "EPOP_BATCH_JOB=", 15);
}

static char *joined(const char *name, const char *value)
{
    char *text;
    return asprintf(&text, "%s=%s", name, value) < 0 ? NULL : text;
}

/* That of the file, or else the attendant's own. */
static size_t take_variables(char **words, size_t n, const cJSON *given)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, given)
    {
        if (cJSON_IsString(item) && strcmp(item->string, "EPOP_BATCH_JOB"))
            words[n++] = joined(item->string, item->valuestring);
    }
    for (char **own = environ; !given && *own; own++)
        if (!is_batch(*own))
            words[n++] = strdup(*own);
    return n;
}

static char **read_environment(const cJSON *given, const char *mark, const char *batch)
{
    size_t count = 0, n = 0;
    while (environ[count])
        count++;
    if (given)
        count = (size_t)cJSON_GetArraySize(given);
    char **words = calloc(count + 3, sizeof *words);
    if (!words)
        return NULL;
    words[n++] = strdup(mark);
    words[n++] = joined("EPOP_BATCH_JOB", batch);
    take_variables(words, n, given);
    return words;
}

static int parse(struct launch *launch, const cJSON *json, const char *mark)
{
    const cJSON *environment = cJSON_GetObjectItemCaseSensitive(json, "environment");
    if (json_int(json, "version", 0) != 1 || (environment && !cJSON_IsObject(environment)))
        return -1;
    launch->argv = read_words(cJSON_GetObjectItemCaseSensitive(json, "argv"));
    launch->cwd = copy(json, "cwd");
    launch->output = copy(json, "output");
    launch->batch = copy(json, "batch");
    launch->once = json_true(json, "once");
    if (launch->batch)
        launch->environment = read_environment(environment, mark, launch->batch);
    return launch->argv && launch->output && launch->batch && launch->environment ? 0 : -1;
}

int launch_read(struct launch *launch, const char *path, const char *mark, struct error *error)
{
    *launch = (struct launch){0};
    char *text = file_read(path);
    if (!text)
        return error_set(error, ERROR_FAILED, "%s cannot be read: %s", path, strerror(errno));
    cJSON *json = cJSON_Parse(text);
    int failed = parse(launch, json, mark);
    cJSON_Delete(json);
    free(text);
    if (!failed)
        return 0;
    launch_free(launch);
    return error_set(error, ERROR_FAILED, "%s is no launch of version 1 (schema/attend.schema.json)", path);
}

static void free_words(char **words)
{
    for (char **word = words; word && *word; word++)
        free(*word);
    free(words);
}

void launch_free(struct launch *launch)
{
    free_words(launch->argv);
    free_words(launch->environment);
    free(launch->cwd);
    free(launch->output);
    free(launch->batch);
    *launch = (struct launch){0};
}

const char *launch_variable(const struct launch *launch, const char *name)
{
    size_t length = strlen(name);
    for (char **word = launch->environment; word && *word; word++)
        if (!strncmp(*word, name, length) && (*word)[length] == '=')
            return *word + length + 1;
    return NULL;
}
