/* Reading /proc, and signals to what was found there. */
#include "runtime/base/proctree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "runtime/base/array.h"
#include "runtime/base/clock.h"

/* ---- Its files ---------------------------------------------------------------------------------- */

/* Whatever is opened below it is of this one process, or is not there: nothing in it passes to who gets the number
 * next. -1: there is no such process. */
static int open_process(pid_t number)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/%ld", (long)number);
    return number > 0 ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
}

/* NULL: it cannot be read. */
static FILE *open_file(pid_t number, const char *name)
{
    int directory = open_process(number);
    int fd = directory < 0 ? -1 : openat(directory, name, O_RDONLY | O_CLOEXEC);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
    if (fd >= 0 && !file)
        close(fd);
    if (directory >= 0)
        close(directory);
    return file;
}

/* ---- One process -------------------------------------------------------------------------------- */

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

/* Takes the text apart. 0 or -1. */
static int parse_stat(char *text, struct proc *proc)
{
    char state, *name = strchr(text, '('), *name_end = strrchr(text, ')'), *last = strrchr(text, ' ');
    if (!name || !name_end || !last || sscanf(name_end, ") %c %d %d", &state, &proc->parent, &proc->group) != 3)
        return -1;
    const char *start = stat_field(name_end, START);
    proc->id.start = start ? strtoull(start, NULL, 10) : 0;
    proc->ended = state == 'Z' || state == 'X';
    proc->status = atoi(last);
    *name_end = 0;
    snprintf(proc->name, sizeof proc->name, "%.60s", name + 1);
    return 0;
}

static int read_stat(int directory, struct proc *proc)
{
    char text[1024];
    int fd = openat(directory, "stat", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[length < 0 ? 0 : length] = 0;
    return parse_stat(text, proc);
}

int proctree_read(pid_t number, struct proc *proc)
{
    struct stat status;
    int directory = open_process(number);
    if (directory < 0)
        return -1;
    int failed = fstat(directory, &status) || read_stat(directory, proc) ? -1 : 0;
    close(directory);
    if (failed)
        return -1;
    proc->id.number = number;
    proc->ours = status.st_uid == geteuid();
    return 0;
}

struct proc_id proctree_id(pid_t number)
{
    struct proc proc;
    return proctree_read(number, &proc) || proc.ended ? (struct proc_id){0} : proc.id;
}

bool proctree_same(const struct proc_id *one, const struct proc_id *other)
{
    return one->number == other->number && one->start == other->start;
}

bool proctree_runs(const struct proc_id *id)
{
    struct proc_id now = proctree_id(id->number);
    return now.number && proctree_same(&now, id);
}

char *proctree_words(pid_t number)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_file(number, "cmdline");
    if (!file)
        return NULL;
    ssize_t length = getdelim(&text, &size, EOF, file); /* no byte is EOF: all of it */
    fclose(file);
    char *ended = length > 0 ? realloc(text, (size_t)length + 2) : NULL;
    if (!ended) {
        free(text);
        return NULL;
    }
    ended[length] = ended[length + 1] = 0;
    return ended;
}

/* ---- What it has open --------------------------------------------------------------------------- */

bool proctree_leads_to(pid_t number, int fd, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)number, fd);
    ssize_t length = readlink(path, text, size - 1);
    text[length > 0 ? length : 0] = 0;
    return length > 0;
}

/* The name is looked at first: to open what is no file may have effects. */
int proctree_open(pid_t number, int fd, const char *called)
{
    char path[64], leads[PATH_MAX];
    if (!proctree_leads_to(number, fd, leads, sizeof leads) || strcmp(leads, called))
        return -1;
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)number, fd);
    return open(path, O_RDWR | O_CLOEXEC);
}

/* The link's own mode says what for it is open. */
static bool is_to_write(int descriptors, const char *name)
{
    struct stat link;
    return name[0] != '.' && !fstatat(descriptors, name, &link, AT_SYMLINK_NOFOLLOW) && link.st_mode & S_IWUSR;
}

bool proctree_writes(pid_t number, bool (*is)(void *context, int fd, const struct stat *to), void *context)
{
    char path[64];
    struct stat to;
    bool has = false;
    snprintf(path, sizeof path, "/proc/%ld/fd", (long)number);
    DIR *descriptors = opendir(path);
    for (const struct dirent *entry; descriptors && !has && (entry = readdir(descriptors));)
        has = is_to_write(dirfd(descriptors), entry->d_name) && !fstatat(dirfd(descriptors), entry->d_name, &to, 0) &&
              is(context, atoi(entry->d_name), &to);
    if (descriptors)
        closedir(descriptors);
    return has;
}

/* ---- The tree ----------------------------------------------------------------------------------- */

/* A parent is older: a younger one has its number since it has ended. */
static bool is_parent(const struct proc *parent, const struct proc *child)
{
    return child->parent == parent->id.number && parent->id.start <= child->id.start;
}

bool proctree_upwards(pid_t number, int most, proctree_is *is, void *context, struct proc *found)
{
    struct proc child;
    for (int i = 0; i < most; i++, number = child.parent) {
        if (proctree_read(number, found) || (i && !is_parent(found, &child)))
            return false;
        if (is(context, found))
            return true;
        child = *found;
    }
    return false;
}

pid_t proctree_child(pid_t parent, proctree_is *is, void *context)
{
    char name[48];
    pid_t child, found = 0;
    struct proc proc;
    snprintf(name, sizeof name, "task/%ld/children", (long)parent);
    FILE *file = open_file(parent, name);
    while (file && !found && fscanf(file, "%d", &child) == 1)
        if (!proctree_read(child, &proc) && is(context, &proc))
            found = child;
    if (file)
        fclose(file);
    return found;
}

int proctree_each(void (*show)(void *context, const struct proc *proc), void *context)
{
    struct proc proc;
    DIR *directory = opendir("/proc");
    if (!directory)
        return -1;
    for (const struct dirent *entry; (entry = readdir(directory));)
        if (!proctree_read(atoi(entry->d_name), &proc))
            show(context, &proc);
    closedir(directory);
    return 0;
}

struct one {
    struct proc proc;
    bool shown;
};

struct snapshot {
    struct one *items;
    size_t count, room;
};

static void add_ours(void *context, const struct proc *proc)
{
    struct snapshot *all = context;
    if (proc->ours && !array_reserve(&all->items, &all->room, all->count + 1, sizeof *all->items))
        all->items[all->count++] = (struct one){.proc = *proc};
}

static bool is_one(const struct descent *d, const struct snapshot *all, const struct proc *proc)
{
    if (d->begins(d->context, proc))
        return true;
    for (size_t i = 0; i < all->count; i++)
        if (is_parent(&all->items[i].proc, proc))
            return all->items[i].shown && (!d->follows || d->follows(d->context, proc, &all->items[i].proc));
    return false;
}

/* Each round finds those one generation further on, at least. */
static void find_descendants(const struct descent *d, struct snapshot *all)
{
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < all->count; i++)
            if (!all->items[i].shown && is_one(d, all, &all->items[i].proc))
                more = all->items[i].shown = true;
    }
}

int proctree_descend(const struct descent *descent)
{
    struct snapshot all = {0};
    int count = 0;
    if (proctree_each(add_ours, &all))
        return -1;
    find_descendants(descent, &all);
    for (size_t i = 0; i < all.count; i++)
        if (all.items[i].shown) {
            descent->show(descent->context, &all.items[i].proc);
            count++;
        }
    free(all.items);
    return count;
}

/* ---- Signals ------------------------------------------------------------------------------------ */

/* The descriptor means whoever has the number while it is opened. If that is still this process afterwards, then it was
 * all the time. */
int proctree_watch(const struct proc_id *id)
{
    int fd = id->number > 0 ? pidfd_open(id->number, 0) : -1, error = errno;
    if (proctree_runs(id)) {
        errno = error;
        return fd;
    }
    if (fd >= 0)
        close(fd);
    errno = ESRCH;
    return -1;
}

/* Where there is no such descriptor (Linux before 5.3, a container that forbids it) it has just been seen to run: a
 * number that becomes free is not given out again at once. */
int proctree_signal(const struct proc_id *id, int number)
{
    int fd = proctree_watch(id);
    if (fd < 0)
        return errno == ESRCH ? -1 : kill(id->number, number);
    int failed = pidfd_send_signal(fd, number, NULL, 0), error = errno;
    close(fd);
    errno = error;
    return failed;
}

/* ---- To several --------------------------------------------------------------------------------- */

struct volley {
    struct descent to;
    const char *mark;             /* NULL: none */
    const struct proc_id *leader; /* of the group */
    int number, count;
};

static void signal_one(void *context, const struct proc *proc)
{
    struct volley *volley = context;
    if (proc->ended || proc->id.number == getpid())
        return;
    volley->count++;
    if (volley->number)
        proctree_signal(&proc->id, volley->number);
}

/* How many there were that had not ended; -1: /proc cannot be read. */
static int signal_once(struct volley *volley)
{
    volley->count = 0;
    volley->to.show = signal_one;
    volley->to.context = volley;
    return proctree_descend(&volley->to) < 0 ? -1 : volley->count;
}

/* ---- A group ------------------------------------------------------------------------------------ */

static bool is_in_group(void *context, const struct proc *proc)
{
    const struct proc_id *leader = ((const struct volley *)context)->leader;
    return proc->group == leader->number && proc->id.start >= leader->start;
}

static bool follows_nobody(void *context, const struct proc *child, const struct proc *parent)
{
    (void)context, (void)child, (void)parent;
    return false;
}

/* The number of a group is not given out again as long as somebody is in it. */
void proctree_signal_group(const struct proc_id *leader, int number)
{
    struct proc now;
    struct volley volley = {{.begins = is_in_group, .follows = follows_nobody}, .leader = leader, .number = number};
    if (leader->number > 0 && (proctree_read(leader->number, &now) || proctree_same(&now.id, leader)))
        signal_once(&volley);
}

/* ---- The processes of a job --------------------------------------------------------------------- */

static const double terminated = 2, killed = 5; /* seconds after each signal */

static bool has_mark(pid_t number, const char *mark)
{
    char *word = NULL;
    size_t size = 0;
    bool has = false;
    FILE *file = open_file(number, "environ");
    while (file && !has && getdelim(&word, &size, 0, file) > 0)
        has = !strcmp(word, mark);
    free(word);
    if (file)
        fclose(file);
    return has;
}

static bool kin_begins(void *context, const struct proc *proc)
{
    const char *mark = ((const struct volley *)context)->mark;
    return mark ? !proc->ended && has_mark(proc->id.number, mark) : proc->id.number == getpid();
}

/* One that was killed may have started another just before. */
static int signal_all(struct volley *volley)
{
    int count = signal_once(volley);
    for (int i = 0, again = count; volley->number == SIGKILL && again > 0 && i < 100; i++) {
        usleep(2000);
        again = signal_once(volley);
    }
    return count;
}

int proctree_signal_kin(const char *mark, int number)
{
    struct volley volley = {{.begins = kin_begins}, .mark = mark, .number = number};
    return signal_all(&volley);
}

/* Are they gone within so many seconds? */
static bool are_gone(const char *mark, double seconds)
{
    double end = monotonic_seconds() + seconds;
    while (proctree_signal_kin(mark, 0) > 0) {
        if (monotonic_seconds() > end)
            return false;
        usleep(10000);
    }
    return true;
}

bool proctree_end_kin(const char *mark)
{
    if (are_gone(mark, 0))
        return false;
    proctree_signal_kin(mark, SIGTERM);
    proctree_signal_kin(mark, SIGCONT);
    if (!are_gone(mark, terminated))
        proctree_signal_kin(mark, SIGKILL);
    are_gone(mark, killed);
    return true;
}
