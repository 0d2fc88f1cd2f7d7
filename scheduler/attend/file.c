/* Small files: see file.h. */
#include "scheduler/attend/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *file_read(const char *path)
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

cJSON *file_read_json(const char *path)
{
    char *text = file_read(path);
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

int file_write_json(const char *path, const cJSON *json, struct error *error)
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
