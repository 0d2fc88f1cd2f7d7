/* Reading /proc, and ending the processes of a job that are found in it. */
#include "runtime/base/proc.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/array.h"
#include "runtime/base/clock.h"

/* ---- One process -------------------------------------------------------------------------------- */

/* A file of that process's, with a 0 at its end; "" where it cannot be read. How long it is. */
static size_t read_proc_file(long pid, const char *name, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/%s", pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    for (ssize_t some; fd >= 0 && length < size - 1 && (some = read(fd, text + length, size - 1 - length)) > 0;)
        length += (size_t)some;
    if (fd >= 0)
        close(fd);
    text[length] = '\0';
    return length;
}

/* Fields of "stat", counted from 1 as in proc(5). */
enum { STATE = 3, START = 22 };

/* Where the field stands, counted from the end of the name, which may hold anything; NULL: there are not so many. */
static const char *stat_field(const char *name_end, int number)
{
    const char *at = name_end;
    for (int i = STATE - 1; at && i < number; i++)
        if ((at = strchr(at, ' ')))
            at++;
    return at;
}

int procstat_read(long pid, struct procstat *stat)
{
    char text[1024];
    read_proc_file(pid, "stat", text, sizeof text);
    char *name = strchr(text, '('), *name_end = strrchr(text, ')'), *last = strrchr(text, ' ');
    if (!name || !name_end || !last || sscanf(name_end, ") %c %ld", &stat->state, &stat->parent) != 2)
        return -1;
    const char *start = stat_field(name_end, START);
    stat->start = start ? strtoull(start, NULL, 10) : 0;
    stat->status = atoi(last);
    *name_end = 0;
    snprintf(stat->name, sizeof stat->name, "%.60s", name + 1);
    return 0;
}

long procstat_child(long parent, bool (*is)(void *context, long pid, const struct procstat *stat), void *context)
{
    char path[64];
    long child, found = 0;
    struct procstat stat;
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", parent, parent);
    FILE *file = fopen(path, "re");
    while (file && !found && fscanf(file, "%ld", &child) == 1)
        if (!procstat_read(child, &stat) && is(context, child, &stat))
            found = child;
    if (file)
        fclose(file);
    return found;
}

/* ---- The processes of a job --------------------------------------------------------------------- */

static const double terminated = 2, killed = 5; /* seconds after each signal */

struct process {
    long pid, parent;
    bool dead, ours;
};

struct processes {
    struct process *items;
    size_t count, room;
};

static bool has_mark(long pid, const char *mark)
{
    static char text[1 << 18]; /* longer environments: the mark is their first word (scheduler/attend) */
    size_t length = mark ? read_proc_file(pid, "environ", text, sizeof text) : 0;
    for (size_t at = 0; at < length; at += strlen(text + at) + 1)
        if (!strcmp(text + at, mark))
            return true;
    return false;
}

static bool is_of_this_user(long pid)
{
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%ld", pid);
    return !stat(path, &status) && status.st_uid == geteuid();
}

static void add_process(struct processes *all, long pid, const char *mark)
{
    struct procstat stat;
    if (procstat_read(pid, &stat) || !is_of_this_user(pid) ||
        array_reserve(&all->items, &all->room, all->count + 1, sizeof *all->items))
        return;
    bool dead = stat.state == 'Z' || stat.state == 'X';
    all->items[all->count++] = (struct process){pid, stat.parent, dead, !dead && has_mark(pid, mark)};
}

static bool is_child(const struct processes *all, const struct process *one, pid_t root)
{
    if (one->parent == root)
        return true;
    for (size_t i = 0; i < all->count; i++)
        if (all->items[i].pid == one->parent)
            return all->items[i].ours;
    return false;
}

/* Each round finds those one generation further on, at least. */
static void find_descendants(struct processes *all, pid_t root)
{
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < all->count; i++)
            if (!all->items[i].ours && is_child(all, &all->items[i], root))
                more = all->items[i].ours = true;
    }
}

static int signal_once(pid_t root, const char *mark, int number)
{
    DIR *directory = opendir("/proc");
    struct processes all = {0};
    int count = 0;
    if (!directory)
        return -1;
    for (const struct dirent *entry; (entry = readdir(directory));)
        if (atol(entry->d_name) > 1)
            add_process(&all, atol(entry->d_name), mark);
    closedir(directory);
    find_descendants(&all, root);
    for (size_t i = 0; i < all.count; i++) {
        const struct process *one = &all.items[i];
        if (!one->ours || one->dead || one->pid == getpid() || one->pid == root)
            continue;
        count++;
        if (number)
            kill((pid_t)one->pid, number);
    }
    free(all.items);
    return count;
}

/* One that was killed may have started another just before. */
int kin_signal(pid_t root, const char *mark, int number)
{
    int count = signal_once(root, mark, number);
    for (int i = 0, again = count; number == SIGKILL && again > 0 && i < 100; i++) {
        usleep(2000);
        again = signal_once(root, mark, number);
    }
    return count;
}

/* Are they gone within so many seconds? */
static bool are_gone(pid_t root, const char *mark, double seconds)
{
    double end = monotonic_seconds() + seconds;
    while (kin_signal(root, mark, 0) > 0) {
        if (monotonic_seconds() > end)
            return false;
        usleep(10000);
    }
    return true;
}

bool kin_end(pid_t root, const char *mark)
{
    if (are_gone(root, mark, 0))
        return false;
    kin_signal(root, mark, SIGTERM);
    kin_signal(root, mark, SIGCONT);
    if (!are_gone(root, mark, terminated))
        kin_signal(root, mark, SIGKILL);
    are_gone(root, mark, killed);
    return true;
}
