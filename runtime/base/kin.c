/* Processes of a job, as /proc has them: see kin.h. */
#include "runtime/base/kin.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/array.h"
#include "runtime/base/clock.h"

static const double terminated = 2, killed = 5; /* seconds after each signal */

struct process {
    long pid, parent;
    bool dead, ours;
};

struct processes {
    struct process *items;
    size_t count, room;
};

static size_t read_text(long pid, const char *name, char *text, size_t size)
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

static bool has_mark(long pid, const char *mark)
{
    static char text[1 << 18]; /* longer environments: the mark is their first word (guard.c) */
    size_t length = mark ? read_text(pid, "environ", text, sizeof text) : 0;
    for (size_t at = 0; at < length; at += strlen(text + at) + 1)
        if (!strcmp(text + at, mark))
            return true;
    return false;
}

static bool is_mine(long pid)
{
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%ld", pid);
    return !stat(path, &status) && status.st_uid == geteuid();
}

static void add(struct processes *all, long pid, const char *mark)
{
    char text[1024], state;
    long parent;
    read_text(pid, "stat", text, sizeof text);
    const char *end = strrchr(text, ')');
    if (!end || sscanf(end, ") %c %ld", &state, &parent) != 2 || !is_mine(pid) ||
        array_reserve(&all->items, &all->room, all->count + 1, sizeof *all->items))
        return;
    bool dead = state == 'Z' || state == 'X';
    all->items[all->count++] = (struct process){pid, parent, dead, !dead && has_mark(pid, mark)};
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
            add(&all, atol(entry->d_name), mark);
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
