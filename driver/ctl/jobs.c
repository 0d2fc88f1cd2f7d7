/* Finding jobs by their address files. A file whose process is gone is removed; one of another host is kept. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver/ctl/ctl.h"
#include "runtime/control/control_internal.h"

#define FILE_MAX (256 * 1024)

/* The text of a file of ours; the caller frees it. NULL if it is none. */
static char *read_file(int directory, const char *name)
{
    struct stat status;
    int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    char *text = NULL;

    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
        status.st_size <= FILE_MAX && (text = calloc(1, (size_t)status.st_size + 1)) != NULL &&
        read(fd, text, (size_t)status.st_size) != status.st_size) {
        free(text);
        text = NULL;
    }
    close(fd);
    return text;
}

static int copy_text(char *to, size_t size, const cJSON *object, const char *name)
{
    const char *text = ctl_text(object, name, "");

    snprintf(to, size, "%s", text);
    return text[0] != '\0' && strlen(text) < size ? 0 : -1;
}

static int parse_job(const char *text, ctl_job_t *job)
{
    char start[32], here[256] = "localhost";
    cJSON *json = cJSON_Parse(text);
    int result = -1;

    memset(job, 0, sizeof *job);
    if (json != NULL && ctl_number(json, "version", 0) == 1 && copy_text(job->id, sizeof job->id, json, "job") == 0 &&
        copy_text(job->uri, sizeof job->uri, json, "uri") == 0 &&
        copy_text(job->token, sizeof job->token, json, "token") == 0 &&
        copy_text(job->host, sizeof job->host, json, "host") == 0 &&
        copy_text(start, sizeof start, json, "start_time") == 0) {
        copy_text(job->program, sizeof job->program, json, "program");
        job->pid = (long)ctl_number(json, "pid", 0);
        job->start_time = strtoull(start, NULL, 10);
        gethostname(here, sizeof here - 1);
        job->here = strcmp(job->host, here) == 0;
        result = job->pid > 0 ? 0 : -1;
    }
    cJSON_Delete(json);
    return result;
}

int ctl_job_alive(const ctl_job_t *job)
{
    return !job->here || control_process_start(job->pid) == job->start_time;
}

/* "pmix.HOST.PID.START", which a killed job leaves behind. */
static void remove_leftover(const char *path, const char *name)
{
    char here[256] = "localhost", full[1024];
    long pid;
    unsigned long long start;

    gethostname(here, sizeof here - 1);
    size_t length = strlen(here);
    if (strncmp(name, "pmix.", 5) != 0 || strncmp(name + 5, here, length) != 0 ||
        sscanf(name + 5 + length, ".%ld.%llu", &pid, &start) != 2 || control_process_start(pid) == start)
        return;
    snprintf(full, sizeof full, "%s/%s", path, name);
    control_rundir_remove(full);
}

/* Reads one entry of the directory. 0 with a job. */
static int take_entry(const char *path, int directory, const char *name, ctl_job_t *job)
{
    size_t length = strlen(name);

    remove_leftover(path, name);
    control_directory_sweep(path, name);
    if (length < 6 || strcmp(name + length - 5, ".json") != 0)
        return -1;
    char *text = read_file(directory, name);
    int result = text == NULL ? -1 : parse_job(text, job);
    free(text);
    if (result == 0 && !ctl_job_alive(job)) {
        unlinkat(directory, name, 0);
        result = -1;
    }
    return result;
}

static int by_id(const void *a, const void *b)
{
    return strcmp(((const ctl_job_t *)a)->id, ((const ctl_job_t *)b)->id);
}

static int scan(const char *path, ctl_job_t **jobs, int count)
{
    DIR *directory = opendir(path);
    ctl_job_t job;

    for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
        if (take_entry(path, dirfd(directory), entry->d_name, &job) != 0)
            continue;
        ctl_job_t *more = realloc(*jobs, (size_t)(count + 1) * sizeof job);
        if (more == NULL)
            break;
        *jobs = more;
        more[count++] = job;
    }
    if (directory != NULL)
        closedir(directory);
    return count;
}

int ctl_jobs(ctl_job_t **jobs)
{
    char paths[CONTROL_RUNDIRS_MAX][256];
    int directories = control_rundirs(paths), count = 0;

    *jobs = NULL;
    for (int i = 0; i < directories; i++)
        count = scan(paths[i], jobs, count);
    if (count > 1)
        qsort(*jobs, (size_t)count, sizeof **jobs, by_id);
    return count;
}

/* Every job whose id begins so, in one line. */
static void complain_of_many(const char *name, const ctl_job_t *jobs, int count)
{
    char text[1024] = "";
    size_t used = 0;

    for (int i = 0; i < count && used < sizeof text - 160; i++)
        if (name == NULL || strncmp(jobs[i].id, name, strlen(name)) == 0)
            used += (size_t)snprintf(text + used, sizeof text - used, " %s", jobs[i].id);
    if (name == NULL)
        ctl_complain("which job?%s", text);
    else
        ctl_complain("\"%s\" may be any of%s", name, text);
}

int ctl_job_listed(const ctl_job_t *job)
{
    ctl_job_t *jobs;
    int count = ctl_jobs(&jobs), listed = 0;

    for (int i = 0; i < count; i++)
        listed |= strcmp(jobs[i].id, job->id) == 0 && strcmp(jobs[i].token, job->token) == 0;
    free(jobs);
    return listed;
}

int ctl_job_select(const char *name, ctl_job_t *job)
{
    ctl_job_t *jobs;
    int count = ctl_jobs(&jobs), matches = 0, code = CTL_DONE;

    for (int i = 0; i < count; i++) {
        if (name != NULL && strncmp(jobs[i].id, name, strlen(name)) != 0)
            continue;
        *job = jobs[i];
        matches++;
        if (name != NULL && strcmp(jobs[i].id, name) == 0) {
            matches = 1; /* the whole name, though others may begin with it */
            break;
        }
    }
    if (matches > 1) {
        complain_of_many(name, jobs, count);
        code = CTL_USAGE;
    } else if (matches == 0) {
        if (name == NULL)
            ctl_complain("no job is running (of this user, on this host)");
        else
            ctl_complain("there is no job \"%s\" (see epopctl list)", name);
        code = CTL_NO_JOB;
    }
    free(jobs);
    return code;
}
