/* The files of a job's directory: launch.json, which says what to start, and ended.json, which says how it ended. */
#include "scheduler/attend/jobdir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"

/* ---- Small files, as a whole -------------------------------------------------------------------- */

/* The caller's to free. NULL: errno says why. */
static char *read_file(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t room = 0;
    if (!file)
        return NULL;
    if (getdelim(&text, &room, '\0', file) < 0) {
        free(text);
        text = strdup("");
    }
    fclose(file);
    return text;
}

cJSON *jobdir_read_json(const char *path)
{
    char *text = read_file(path);
    cJSON *json = text ? cJSON_Parse(text) : NULL;
    free(text);
    return json;
}

static int write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    size_t length = strlen(text);
    if (fd < 0)
        return -1;
    int failed = write(fd, text, length) != (ssize_t)length;
    return close(fd) || failed ? -1 : 0;
}

int jobdir_write_json(const char *path, const cJSON *json, struct error *error)
{
    char fresh[PATH_MAX];
    char *text = cJSON_PrintUnformatted(json);
    if (!text)
        return error_memory(error);
    snprintf(fresh, sizeof fresh, "%s.%ld~", path, (long)getpid());
    int failed = write_text(fresh, text) || rename(fresh, path);
    if (failed)
        error_set(error, ERROR_FAILED, "%s cannot be written: %s", path, strerror(errno));
    free(text);
    return failed ? -1 : 0;
}

/* ---- launch.json -------------------------------------------------------------------------------- */

static char *copy_text(const cJSON *json, const char *name)
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

static char *join_variable(const char *name, const char *value)
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
            words[n++] = join_variable(item->string, item->valuestring);
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
    words[n++] = join_variable("EPOP_BATCH_JOB", batch);
    take_variables(words, n, given);
    return words;
}

static int parse_launch(struct launch *launch, const cJSON *json, const char *mark)
{
    const cJSON *environment = cJSON_GetObjectItemCaseSensitive(json, "environment");
    if (json_int(json, "version", 0) != 1 || (environment && !cJSON_IsObject(environment)))
        return -1;
    launch->argv = read_words(cJSON_GetObjectItemCaseSensitive(json, "argv"));
    launch->cwd = copy_text(json, "cwd");
    launch->output = copy_text(json, "output");
    launch->batch = copy_text(json, "batch");
    launch->once = json_true(json, "once");
    if (launch->batch)
        launch->environment = read_environment(environment, mark, launch->batch);
    return launch->argv && launch->output && launch->batch && launch->environment ? 0 : -1;
}

static void free_words(char **words)
{
    for (char **word = words; word && *word; word++)
        free(*word);
    free(words);
}

static void free_launch(struct launch *launch)
{
    free_words(launch->argv);
    free_words(launch->environment);
    free(launch->cwd);
    free(launch->output);
    free(launch->batch);
    *launch = (struct launch){0};
}

int jobdir_read_launch(struct launch *launch, const char *path, const char *mark, struct error *error)
{
    *launch = (struct launch){0};
    char *text = read_file(path);
    if (!text)
        return error_set(error, ERROR_FAILED, "%s cannot be read: %s", path, strerror(errno));
    cJSON *json = cJSON_Parse(text);
    int failed = parse_launch(launch, json, mark);
    cJSON_Delete(json);
    free(text);
    if (!failed)
        return 0;
    free_launch(launch);
    return error_set(error, ERROR_FAILED, "%s is no launch of version 1 (schema/attend.schema.json)", path);
}

const char *jobdir_variable(const struct launch *launch, const char *name)
{
    size_t length = strlen(name);
    for (char **word = launch->environment; word && *word; word++)
        if (!strncmp(*word, name, length) && (*word)[length] == '=')
            return *word + length + 1;
    return NULL;
}

/* ---- ended.json --------------------------------------------------------------------------------- */

/* Numbers below 0: null. */
cJSON *jobdir_ended(int status, int signal, const char *reason)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "version", 1);
    cJSON_AddItemToObject(json, "status", status < 0 ? cJSON_CreateNull() : cJSON_CreateNumber(status));
    cJSON_AddItemToObject(json, "signal", signal < 0 ? cJSON_CreateNull() : cJSON_CreateNumber(signal));
    cJSON_AddNumberToObject(json, "time", wall_seconds());
    if (reason)
        cJSON_AddStringToObject(json, "reason", reason);
    return json;
}

cJSON *jobdir_ended_failed(const char *reason)
{
    return jobdir_ended(JOBDIR_NOT_STARTED, -1, reason);
}

cJSON *jobdir_ended_lost(void)
{
    cJSON *json = jobdir_ended(-1, -1, "its attendant was killed: what was left of the job was ended");
    cJSON_AddTrueToObject(json, "lost");
    return json;
}

static const char *ended_path(const char *directory, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/ended.json", directory);
    return path;
}

cJSON *jobdir_read_ended(const char *directory)
{
    char path[PATH_MAX];
    return jobdir_read_json(ended_path(directory, path));
}

int jobdir_write_ended(const char *directory, const cJSON *json, struct error *error)
{
    char path[PATH_MAX];
    return jobdir_write_json(ended_path(directory, path), json, error);
}

void jobdir_write_lost(const char *directory)
{
    struct error error;
    cJSON *there = jobdir_read_ended(directory), *lost = there ? NULL : jobdir_ended_lost();
    if (lost)
        jobdir_write_ended(directory, lost, &error);
    cJSON_Delete(there);
    cJSON_Delete(lost);
}
