/*
 * The processes of this host: which one is meant, whether it runs, who descends from whom, what it has open; and
 * signals that reach nobody else. Who wants to know who belongs to a job asks here, and nobody else reads /proc/PID.
 *
 * The kernel gives numbers out again. So a process that is not this one's child, or has been waited for, is meant by
 * number and start, never by its number alone. All functions are local, and for any thread.
 */
#ifndef EPOP_BASE_PROCTREE_H
#define EPOP_BASE_PROCTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

/* ---- One process -------------------------------------------------------------------------------- */

/* One process, for as long as the host is up. */
struct proc_id {
    pid_t number;             /* 0: none */
    unsigned long long start; /* clock ticks since boot */
};

struct proc {
    struct proc_id id;
    pid_t parent; /* 0: none that can be seen from here */
    pid_t group;
    char name[64]; /* the kernel's, which it cuts off */
    bool ended;    /* nothing of it is left but its exit status */
    int status;    /* then, as of waitpid; 0 where that may not be seen */
    bool ours;     /* it runs for this user */
};

/* What is asked of one. */
typedef bool proctree_is(void *context, const struct proc *proc);

/* 0, or -1: there is no such process. */
int proctree_read(pid_t number, struct proc *proc);

/* Who has that number now; none (0) if nobody does, or nothing is left of it but its exit status. */
struct proc_id proctree_id(pid_t number);
bool proctree_same(const struct proc_id *one, const struct proc_id *other);
/* One that nobody has asked for its exit status has ended, too. */
bool proctree_runs(const struct proc_id *id);

/* The words of its command line, each ended by a NUL, the last by two. The caller frees it. NULL: it cannot be seen. */
char *proctree_words(pid_t number);

/* What this descriptor of it leads to, as the kernel calls it: a path, "pipe:[4711]". False: it cannot be seen. */
bool proctree_leads_to(pid_t number, int fd, char *text, size_t size);
/* Opens again, to read and to write, what this descriptor of it leads to, if that is called so; -1: it cannot be. */
int proctree_open(pid_t number, int fd, const char *called);
/* Has it a descriptor to write to of which `is` says yes? It is asked until then. */
bool proctree_writes(pid_t number, bool (*is)(void *context, int fd, const struct stat *to), void *context);

/* ---- The tree ----------------------------------------------------------------------------------- */

/* Asks that process, its parent, and so on, so many at most, until `is` says yes: *found. False: of none. */
bool proctree_upwards(pid_t number, int most, proctree_is *is, void *context, struct proc *found);

/* The first child of that process's first thread that `is` says yes to; 0: none. */
pid_t proctree_child(pid_t parent, proctree_is *is, void *context);

/* Shows every process of this host once. 0, or -1: /proc cannot be read. */
int proctree_each(void (*show)(void *context, const struct proc *proc), void *context);

/* Shows processes of this user, all in one look: those with which it `begins`, and of their children, however far,
 * those that `follow`. How many; -1: /proc cannot be read. */
struct descent {
    proctree_is *begins;
    bool (*follows)(void *context, const struct proc *child, const struct proc *parent); /* NULL: all do */
    void (*show)(void *context, const struct proc *proc);
    void *context;
};
int proctree_descend(const struct descent *descent);

/* ---- Signals ------------------------------------------------------------------------------------ */

/* To that process or to none (number 0: none). 0, or -1 with errno; ESRCH: it has ended. */
int proctree_signal(const struct proc_id *id, int number);

/* To each process of this user that is in the group now which this one leads, or led until it ended; to none if another
 * process has its number. */
void proctree_signal_group(const struct proc_id *leader, int number);

/* A descriptor, the caller's, that can be read when that process has ended. -1 with errno; ESRCH: it has. */
int proctree_watch(const struct proc_id *id);

/* A signal (0: none) to each process of this user that descends from this one, or, if there is a mark, "NAME=value",
 * has that in the environment that it was started with, or descends from such a one; not to this one. SIGKILL until
 * there are no more. How many there were that had not ended; -1: /proc cannot be read. */
int proctree_signal_kin(const char *mark, int number);
/* The same: SIGTERM, and SIGKILL 2 s later; waits until they are gone, or 5 s more. False: there were none. */
bool proctree_end_kin(const char *mark);

#endif
