/* The address file of a job: JOBID.json, which epopctl finds it by. Holds the token, so it is its owner's alone. */
#include "runtime/control/jobfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/batch.h"
#include "runtime/base/error.h"
#include "runtime/control/jobs.h"
#include "runtime/control/rundir.h"

/* `job` with what this layer knows. The caller deletes it. */
static cJSON *complete(const char *id, const cJSON *job, const char *uri, const char *token)
{
    cJSON *file = cJSON_Duplicate(job, 1);
    char host[256] = "localhost", start[32], namespace[CONTROL_NAMESPACE_MAX];
    if (!file)
        file = cJSON_CreateObject();
    gethostname(host, sizeof host - 1);
    snprintf(start, sizeof start, "%llu", control_process_start(getpid()));
    static const char *const ours[] = {"version",    "job",  "uri",       "token", "pid",
                                       "start_time", "host", "namespace", "batch"};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        cJSON_DeleteItemFromObjectCaseSensitive(file, ours[i]);
    cJSON_AddNumberToObject(file, "version", 1);
    cJSON_AddStringToObject(file, "job", id);
    cJSON_AddStringToObject(file, "uri", uri);
    cJSON_AddStringToObject(file, "token", token);
    cJSON_AddNumberToObject(file, "pid", (double)getpid());
    cJSON_AddStringToObject(file, "start_time", start);
    cJSON_AddStringToObject(file, "host", host);
    control_namespace(namespace);
    if (namespace[0])
        cJSON_AddStringToObject(file, "namespace", namespace);
    if (batch_job())
        cJSON_AddStringToObject(file, "batch", batch_job());
    return file;
}

static int write_all(int fd, const char *text)
{
    size_t left = strlen(text);
    while (left > 0) {
        ssize_t wrote = write(fd, text, left);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return -1;
        text += wrote;
        left -= (size_t)wrote;
    }
    return 0;
}

/* Under a temporary name first, so that nobody ever reads half a file. */
static int write_file(const char *path, const char *text)
{
    char temporary[600];
    snprintf(temporary, sizeof temporary, "%s.%ld~", path, (long)getpid());
    unlink(temporary);
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -1;
    int result = write_all(fd, text);
    if (close(fd) || result != 0 || rename(temporary, path)) {
        int saved = errno;
        unlink(temporary);
        errno = saved;
        return -1;
    }
    return 0;
}

/* The id becomes a file name. */
static bool usable_id(const char *id)
{
    return id[0] && id[0] != '.' && strlen(id) < 128 && !strchr(id, '/');
}

/* What jobs that were killed on this host have left: on another one nobody can know that they are gone. */
static void remove_stale(void)
{
    struct control_job *jobs;
    control_jobs(&jobs);
    free(jobs);
}

int control_jobfile_write(const char *id, const cJSON *job, const char *uri, const char *token, char *path,
                          size_t path_size, struct error *error)
{
    char directory[256];
    if (!usable_id(id)) {
        return error_set(error, ERROR_FAILED, "the job id \"%s\" cannot be a file name", id);
    }
    if (batch_job())
        remove_stale();
    if (control_rundir_jobs(directory, sizeof directory, error))
        return -1;
    snprintf(path, path_size, "%s/%s.json", directory, id);
    cJSON *file = complete(id, job, uri, token);
    char *text = cJSON_Print(file);
    cJSON_Delete(file);
    int result = text ? write_file(path, text) : -1;
    if (result != 0)
        error_set(error, ERROR_FAILED, "cannot write %s: %s", path, strerror(errno));
    free(text);
    return result;
}
