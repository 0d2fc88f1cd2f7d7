/* Finding jobs by their address files. A file whose process is gone is removed; one of another host, or of
 * another namespace of process numbers, is kept. */
#include "runtime/control/jobs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/array.h"
#include "runtime/base/batch.h"
#include "runtime/base/error.h"
#include "runtime/base/host.h"
#include "runtime/base/json.h"
#include "runtime/base/proctree.h"
#include "runtime/control/rundir.h"

#define FILE_MAX (256 * 1024)

/* The text of a file of ours; the caller frees it. NULL if it is none. */
static char *read_file(int directory, const char *name)
{
    struct stat status;
    int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    char *text = NULL;
    if (fd < 0)
        return NULL;
    if (!fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_uid == geteuid() && status.st_size <= FILE_MAX &&
        (text = calloc(1, (size_t)status.st_size + 1)) && read(fd, text, (size_t)status.st_size) != status.st_size) {
        free(text);
        text = NULL;
    }
    close(fd);
    return text;
}

static int copy_text(char *to, size_t size, const cJSON *object, const char *name)
{
    const char *text = json_text(object, name);
    snprintf(to, size, "%s", text ? text : "");
    return text && text[0] && strlen(text) < size ? 0 : -1;
}

/* By where it is and where we are: may its process number be looked up? */
static void locate_job(struct control_job *job, const cJSON *json)
{
    char namespace[CONTROL_NAMESPACE_MAX];
    const char *its = json_text(json, "namespace");
    control_namespace(namespace);
    bool on_host = !strcmp(job->host, host_own());
    job->apart = on_host && strcmp(its ? its : "", namespace);
    job->here = on_host && !job->apart;
}

static int parse_job(const char *text, struct control_job *job)
{
    char start[32];
    cJSON *json = cJSON_Parse(text);
    int result = -1;
    memset(job, 0, sizeof *job);
    if (json && json_number(json, "version", 0) == 1 && !copy_text(job->id, sizeof job->id, json, "job") &&
        !copy_text(job->uri, sizeof job->uri, json, "uri") &&
        !copy_text(job->token, sizeof job->token, json, "token") &&
        !copy_text(job->host, sizeof job->host, json, "host") && !copy_text(start, sizeof start, json, "start_time")) {
        copy_text(job->program, sizeof job->program, json, "program");
        copy_text(job->batch, sizeof job->batch, json, "batch");
        job->process = (struct proc_id){json_int(json, "pid", 0), strtoull(start, NULL, 10)};
        locate_job(job, json);
        result = job->process.number > 0 ? 0 : -1;
    }
    cJSON_Delete(json);
    return result;
}

bool control_job_alive(const struct control_job *job)
{
    return !job->here || proctree_runs(&job->process);
}

void control_job_place(const struct control_job *job, char text[CONTROL_PLACE_MAX])
{
    snprintf(text, CONTROL_PLACE_MAX, "%.255s%s", job->host, job->apart ? ", in another PID namespace" : "");
}

/* A supervisor has the number of its job's start there, which is shorter than the mark of a namespace. */
static bool is_number_of_start(const char *text)
{
    return *text == '.' && strlen(text) < 9 && text[1 + strspn(text + 1, "0123456789")] == '\0';
}

/* "wire.HOST.PID.START", the socket that a killed job leaves behind; with the mark of its namespace. */
static void remove_leftover(int directory, const char *name)
{
    char prefix[64], mark[CONTROL_NAMESPACE_MARK_MAX];
    struct proc_id owner;
    int read = 0;
    control_namespace_mark(mark);
    int length = snprintf(prefix, sizeof prefix, "wire.%.40s.", host_own());
    if (strncmp(name, prefix, (size_t)length) ||
        sscanf(name + length, "%d.%llu%n", &owner.number, &owner.start, &read) != 2 ||
        strncmp(name + length + read, mark, strlen(mark)))
        return;
    const char *rest = name + length + read + strlen(mark);
    if ((!*rest || is_number_of_start(rest)) && !proctree_runs(&owner))
        unlinkat(directory, name, 0);
}

/* JOB.pmix, and JOB.pmix~ before it, show where the job's gateway to PMIx is. One that was killed, as Slurm may do at a
 * job's end, leaves them behind. */
static void remove_link(int directory, const char *name)
{
    char file[300];
    struct stat status;
    const char *end = strrchr(name, '.');
    if (!end || (strcmp(end, ".pmix") && strcmp(end, ".pmix~")))
        return;
    snprintf(file, sizeof file, "%.*s.json", (int)(end - name), name);
    if (fstatat(directory, file, &status, AT_SYMLINK_NOFOLLOW) && errno == ENOENT)
        unlinkat(directory, name, 0);
}

/* Reads one entry of the directory. 0 with a job. */
static int take_entry(const char *path, int directory, const char *name, struct control_job *job)
{
    size_t length = strlen(name);
    remove_leftover(directory, name);
    remove_link(directory, name);
    control_directory_sweep(path, name);
    if (length < 6 || strcmp(name + length - 5, ".json"))
        return -1;
    char *text = read_file(directory, name);
    int result = text ? parse_job(text, job) : -1;
    free(text);
    if (result == 0 && !control_job_alive(job)) {
        unlinkat(directory, name, 0);
        result = -1;
    }
    return result;
}

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct control_job *)a)->id, ((const struct control_job *)b)->id);
}

static size_t scan_directory(const char *path, struct control_job **jobs, size_t *room, size_t count)
{
    DIR *directory = opendir(path);
    struct control_job job;
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        if (take_entry(path, dirfd(directory), entry->d_name, &job))
            continue;
        if (array_reserve(jobs, room, count + 1, sizeof job))
            break;
        (*jobs)[count++] = job;
    }
    if (directory)
        closedir(directory);
    return count;
}

int control_jobs(struct control_job **jobs)
{
    char paths[CONTROL_RUNDIRS_MAX][256];
    int directories = control_rundirs(paths);
    size_t count = 0, room = 0;
    *jobs = NULL;
    for (int i = 0; i < directories; i++)
        count = scan_directory(paths[i], jobs, &room, count);
    if (count > 1)
        qsort(*jobs, count, sizeof **jobs, by_id);
    return (int)count;
}

bool control_job_listed(const struct control_job *job)
{
    struct control_job *jobs;
    int count = control_jobs(&jobs);
    bool listed = false;
    for (int i = 0; i < count; i++)
        listed |= !strcmp(jobs[i].id, job->id) && !strcmp(jobs[i].token, job->token);
    free(jobs);
    return listed;
}

/* ---- Writing one -------------------------------------------------------------------------------- */

/* It holds the token, so it is its owner's alone. */

/* `job` with what this layer knows. The caller deletes it. */
static cJSON *complete_file(const char *id, const cJSON *job, const char *uri, const char *token)
{
    cJSON *file = cJSON_Duplicate(job, 1);
    char start[32], namespace[CONTROL_NAMESPACE_MAX];
    if (!file)
        file = cJSON_CreateObject();
    snprintf(start, sizeof start, "%llu", proctree_id(getpid()).start);
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
    cJSON_AddStringToObject(file, "host", host_own());
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
    cJSON *file = complete_file(id, job, uri, token);
    char *text = cJSON_Print(file);
    cJSON_Delete(file);
    int result = text ? write_file(path, text) : -1;
    if (result != 0)
        error_set(error, ERROR_FAILED, "cannot write %s: %s", path, strerror(errno));
    free(text);
    return result;
}
