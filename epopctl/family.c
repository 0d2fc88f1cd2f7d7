/* The processes of a job on this host, as /proc has them: see family.h. */
#include "epopctl/family.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/array.h"
#include "runtime/base/procstat.h"
#include "runtime/control/rundir.h"

#define ANCESTORS 8 /* a script or two, or a keeper, may stand between the proxy and a rank */

static bool is_mine(long pid)
{
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%ld", pid);
    return !stat(path, &status) && status.st_uid == geteuid();
}

/* 0 or -1. */
static int read_process(long pid, char name[32], long *parent)
{
    struct procstat stat;
    if (procstat_read(pid, &stat))
        return -1;
    *parent = stat.parent;
    snprintf(name, 32, "%.31s", stat.name);
    return 0;
}

static bool is_mpiexec(const char *name)
{
    return !strncmp(name, "mpiexec", 7) || !strncmp(name, "mpirun", 6);
}

static bool is_proxy(const char *name)
{
    return !strcmp(name, "hydra_pmi_proxy");
}

static int kind_of(const struct control_job *job, long pid, const char *name)
{
    if (pid == job->pid)
        return CTL_JOB;
    return is_mpiexec(name) || is_proxy(name) ? CTL_LAUNCHER : CTL_OTHER;
}

static bool has(const struct ctl_family *family, long pid)
{
    for (size_t i = 0; i < family->count; i++)
        if (family->members[i].pid == pid)
            return true;
    return false;
}

static void add(struct ctl_family *family, long pid, const char *name, int kind)
{
    unsigned long long start = control_process_start(pid);
    if (!start || has(family, pid) ||
        array_reserve(&family->members, &family->room, family->count + 1, sizeof *family->members))
        return;
    struct ctl_relative *one = &family->members[family->count++];
    *one = (struct ctl_relative){.pid = pid, .start = start, .kind = kind};
    snprintf(one->name, sizeof one->name, "%s", name);
}

/* The mpiexec above the proxy above it; the proxy where mpiexec is on another host; itself where there is neither. */
static long root_of(long pid)
{
    char name[32];
    long at = pid, parent;
    for (int i = 0; i < ANCESTORS && !read_process(at, name, &parent); i++, at = parent)
        if (is_proxy(name) && is_mine(at))
            return !read_process(parent, name, &(long){0}) && is_mpiexec(name) && is_mine(parent) ? parent : at;
    return pid;
}

static bool shares_output(long pid, long with)
{
    for (int fd = 1; fd <= 2; fd++) {
        char path[64], one[256] = "", other[256] = "?";
        snprintf(path, sizeof path, "/proc/%ld/fd/%d", pid, fd);
        ssize_t length = readlink(path, one, sizeof one - 1);
        snprintf(path, sizeof path, "/proc/%ld/fd/%d", with, fd);
        if (readlink(path, other, sizeof other - 1) == length && length > 0 && !memcmp(one, other, (size_t)length))
            return true;
    }
    return false;
}

/* Those that one of them has started. Were there any? */
static bool add_children(struct ctl_family *family, const struct control_job *job)
{
    DIR *processes = opendir("/proc");
    size_t before = family->count;
    for (const struct dirent *entry; processes && (entry = readdir(processes));) {
        char name[32];
        long parent, pid = atol(entry->d_name);
        if (pid <= 1 || has(family, pid) || read_process(pid, name, &parent) || !is_mine(pid))
            continue;
        int kind = kind_of(job, pid, name);
        for (size_t i = 0; i < before; i++) {
            const struct ctl_relative by = family->members[i];
            if (by.pid == parent && ((kind | by.kind) & CTL_LAUNCHER || shares_output(pid, parent)))
                add(family, pid, name, kind);
        }
    }
    if (processes)
        closedir(processes);
    return family->count > before;
}

void ctl_family_find(struct ctl_family *family, const struct control_job *job)
{
    char name[32];
    long parent;
    if (!job->here || !control_job_alive(job) || !is_mine(job->pid))
        return;
    long root = root_of(job->pid);
    if (!read_process(root, name, &parent))
        add(family, root, name, kind_of(job, root, name));
    while (add_children(family, job))
        ;
    if (!read_process(job->pid, name, &parent))
        add(family, job->pid, name, CTL_JOB);
}

void ctl_family_free(struct ctl_family *family)
{
    free(family->members);
    *family = (struct ctl_family){0};
}

static bool is_there(const struct ctl_relative *one)
{
    return control_process_start(one->pid) == one->start;
}

const struct ctl_relative *ctl_family_left(const struct ctl_family *family)
{
    for (size_t i = 0; i < family->count; i++)
        if (is_there(&family->members[i]))
            return &family->members[i];
    return NULL;
}

void ctl_family_signal(const struct ctl_family *family, int kinds, int number)
{
    for (size_t i = 0; i < family->count; i++)
        if (family->members[i].kind & kinds && is_there(&family->members[i]))
            kill((pid_t)family->members[i].pid, number);
}
