/* Processes by number and start, the tree, and signals: with real children. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/base/proctree.h"

enum { LIMIT = 30, NOBODY = 0x7ffffffe };

#define NAME "a) R 1 (b" /* what a reader of /proc/PID/stat might take for its state and parent */

/* ---- Children ----------------------------------------------------------------------------------- */

static void wait_for_signals(const char *name) __attribute__((noreturn));
static void wait_for_signals(const char *name)
{
    prctl(PR_SET_NAME, name);
    for (;;)
        pause();
}

/* Says its number when it has its name, and waits. */
static void be_child(int tell, const char *name) __attribute__((noreturn));
static void be_child(int tell, const char *name)
{
    pid_t self = getpid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, name);
    if (write(tell, &self, sizeof self) != sizeof self)
        _exit(1);
    wait_for_signals(name);
}

static pid_t start_child(const char *name)
{
    int ends[2];
    pid_t said;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (!child)
        be_child(ends[1], name);
    assert_int_equal(read(ends[0], &said, sizeof said), sizeof said);
    assert_int_equal(said, child);
    close(ends[0]);
    close(ends[1]);
    return child;
}

/* A child with one of its own, which ends with it. */
static pid_t start_two(pid_t *grandchild)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (!child) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (!fork())
            be_child(ends[1], "grandchild");
        wait_for_signals("child");
    }
    assert_int_equal(read(ends[0], grandchild, sizeof *grandchild), sizeof *grandchild);
    close(ends[0]);
    close(ends[1]);
    return child;
}

/* It stays a zombie. */
static void await_zombie(pid_t child)
{
    assert_int_equal(waitid(P_PID, (id_t)child, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
}

/* The signal that it ended by. */
static int reap(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void end_child(pid_t child)
{
    kill(child, SIGKILL);
    assert_int_equal(reap(child), SIGKILL);
}

/* The grandchild has become this process's child. */
static void end_two(pid_t child, pid_t grandchild)
{
    end_child(child);
    assert_int_equal(reap(grandchild), SIGKILL);
}

/* ---- One process -------------------------------------------------------------------------------- */

static void test_what_is_read(void **state)
{
    struct proc proc;
    pid_t child = start_child(NAME);
    (void)state;
    assert_int_equal(proctree_read(child, &proc), 0);
    assert_int_equal(proc.id.number, child);
    assert_true(proc.id.start > 0);
    assert_int_equal(proc.parent, getpid());
    assert_string_equal(proc.name, NAME);
    assert_true(proc.ours && !proc.ended);
    end_child(child);
    assert_int_equal(proctree_read(child, &proc), -1);
}

static void test_identity(void **state)
{
    struct proc_id self = proctree_id(getpid()), again = proctree_id(getpid()), nobody = proctree_id(NOBODY);
    struct proc_id another = {self.number, self.start + 1};
    (void)state;
    assert_true(self.number == getpid() && self.start > 0);
    assert_true(proctree_same(&self, &again) && !proctree_same(&self, &another));
    assert_true(proctree_runs(&self) && !proctree_runs(&another));
    assert_true(!nobody.number && !proctree_runs(&nobody));
    assert_int_equal(proctree_id(0).number, 0);
    assert_int_equal(proctree_id(-1).number, 0);
}

static void test_a_zombie_has_ended(void **state)
{
    struct proc proc;
    pid_t child = start_child("child");
    struct proc_id id = proctree_id(child);
    (void)state;
    assert_true(proctree_runs(&id));
    kill(child, SIGKILL);
    await_zombie(child);
    assert_int_equal(proctree_read(child, &proc), 0);
    assert_true(proc.ended && proctree_same(&proc.id, &id));
    assert_int_equal(WTERMSIG(proc.status), SIGKILL);
    assert_true(!proctree_runs(&id) && !proctree_id(child).number);
    assert_true(proctree_signal(&id, 0) == -1 && errno == ESRCH);
    assert_true(proctree_watch(&id) == -1 && errno == ESRCH);
    reap(child);
    assert_true(!proctree_runs(&id));
    assert_true(proctree_signal(&id, 0) == -1 && errno == ESRCH);
}

static void test_command_line(void **state)
{
    char *words = proctree_words(getpid());
    (void)state;
    assert_non_null(words);
    assert_non_null(strstr(words, "test_proctree"));
    assert_int_equal(words[strlen(words) + 1], 0);
    free(words);
    assert_null(proctree_words(NOBODY));
}

static bool is_that(void *context, int fd, const struct stat *to)
{
    const struct stat *wanted = context;
    return fd > STDERR_FILENO && to->st_ino == wanted->st_ino && to->st_dev == wanted->st_dev;
}

static void test_what_it_has_open(void **state)
{
    int first[2], second[2];
    struct stat written, read_from;
    char is[64], expected[64];
    (void)state;
    assert_int_equal(pipe(first) | pipe(second), 0);
    fstat(first[1], &written);
    fstat(second[0], &read_from);
    close(first[0]);
    close(second[1]);
    pid_t child = start_child("child");
    snprintf(expected, sizeof expected, "pipe:[%lu]", (unsigned long)written.st_ino);
    assert_true(proctree_leads_to(child, first[1], is, sizeof is));
    assert_string_equal(is, expected);
    assert_true(!proctree_leads_to(child, 1000, is, sizeof is) && !is[0]);
    assert_int_equal(proctree_open(child, first[1], "/dev/null"), -1);
    assert_int_equal(proctree_open(child, 1000, expected), -1);
    int again = proctree_open(child, first[1], expected);
    assert_int_equal(write(again, "x", 1), 1);
    close(again);
    assert_true(proctree_writes(child, is_that, &written));
    assert_true(!proctree_writes(child, is_that, &read_from));
    assert_true(!proctree_writes(NOBODY, is_that, &written));
    end_child(child);
    close(first[1]);
    close(second[0]);
}

/* ---- The tree ----------------------------------------------------------------------------------- */

static bool has_number(void *context, const struct proc *proc)
{
    return proc->id.number == *(pid_t *)context;
}

static bool is_none(void *context, const struct proc *child, const struct proc *parent)
{
    (void)context, (void)child, (void)parent;
    return false;
}

static void test_upwards_and_children(void **state)
{
    struct proc found;
    pid_t self = getpid(), grandchild, child = start_two(&grandchild), nobody = NOBODY;
    (void)state;
    assert_true(proctree_upwards(grandchild, 3, has_number, &self, &found));
    assert_int_equal(found.id.number, self);
    assert_true(proctree_upwards(grandchild, 1, has_number, &grandchild, &found));
    assert_true(!proctree_upwards(grandchild, 2, has_number, &self, &found)); /* the child is the second */
    assert_true(!proctree_upwards(grandchild, 1000, has_number, &nobody, &found));
    assert_int_equal(proctree_child(self, has_number, &child), child);
    assert_int_equal(proctree_child(child, has_number, &grandchild), grandchild);
    assert_int_equal(proctree_child(self, has_number, &grandchild), 0);
    end_two(child, grandchild);
}

struct seen {
    pid_t begin, numbers[8];
    int count;
};

static bool is_begin(void *context, const struct proc *proc)
{
    return proc->id.number == ((struct seen *)context)->begin;
}

static void take(void *context, const struct proc *proc)
{
    struct seen *seen = context;
    assert_true(seen->count < 8);
    seen->numbers[seen->count++] = proc->id.number;
}

static bool has_seen(const struct seen *seen, pid_t number)
{
    for (int i = 0; i < seen->count; i++)
        if (seen->numbers[i] == number)
            return true;
    return false;
}

static void test_descendants(void **state)
{
    pid_t grandchild, child = start_two(&grandchild), another = start_child("another");
    struct seen all = {.begin = child}, first = {.begin = child};
    const struct descent of_all = {.begins = is_begin, .show = take, .context = &all};
    const struct descent of_first = {.begins = is_begin, .follows = is_none, .show = take, .context = &first};
    (void)state;
    assert_int_equal(proctree_descend(&of_all), 2);
    assert_true(has_seen(&all, child) && has_seen(&all, grandchild));
    assert_int_equal(proctree_descend(&of_first), 1);
    assert_true(has_seen(&first, child));
    end_child(another);
    end_two(child, grandchild);
}

/* ---- Signals ------------------------------------------------------------------------------------ */

/* Of two signals the one that should not reach it would end it first. */
static int signals_reach_it_alone(void)
{
    pid_t child = start_child("child");
    struct proc_id id = proctree_id(child), another = {id.number, id.start + 1}, earlier = {id.number, id.start - 1};
    bool right = proctree_signal(&another, SIGKILL) == -1 && errno == ESRCH;
    right = right && proctree_signal(&earlier, SIGKILL) == -1 && errno == ESRCH;
    right = right && !proctree_signal(&id, 0) && !proctree_signal(&id, SIGTERM);
    if (!right)
        kill(child, SIGUSR1);
    return reap(child) == SIGTERM;
}

static void test_a_signal_reaches_no_other_process(void **state)
{
    const struct proc_id nobody = {0};
    (void)state;
    assert_true(signals_reach_it_alone());
    assert_true(proctree_signal(&nobody, SIGKILL) == -1 && errno == ESRCH); /* not the process group */
}

/* From here on there are no descriptors of processes. */
static void be_on_an_old_kernel(void)
{
    struct sock_filter rules[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
                                  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
                                  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const struct sock_fprog filter = {.len = sizeof rules / sizeof *rules, .filter = rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
        _exit(2);
}

static void test_nor_does_it_on_an_old_kernel(void **state)
{
    int status;
    pid_t child = fork();
    (void)state;
    if (!child) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        be_on_an_old_kernel();
        struct proc_id self = proctree_id(getpid());
        bool missing = proctree_watch(&self) == -1 && errno == ENOSYS;
        _exit(missing && signals_reach_it_alone() ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void test_a_group_outlives_its_leader(void **state)
{
    pid_t child = start_child("leader"), member = start_child("member"), another = start_child("another");
    struct proc_id leader = proctree_id(child), other = {leader.number, leader.start - 1}, nobody = {0};
    (void)state;
    assert_int_equal(setpgid(child, child) | setpgid(member, child), 0);
    proctree_signal_group(&nobody, SIGKILL);
    proctree_signal_group(&other, SIGKILL);
    kill(child, SIGUSR1);
    assert_int_equal(reap(child), SIGUSR1);
    proctree_signal_group(&leader, SIGTERM);
    assert_int_equal(reap(member), SIGTERM);
    end_child(another);
}

static void test_watching(void **state)
{
    pid_t child = start_child("child");
    struct proc_id id = proctree_id(child), another = {id.number, id.start + 1};
    struct pollfd end = {.fd = proctree_watch(&id), .events = POLLIN};
    (void)state;
    assert_true(end.fd >= 0);
    assert_true(proctree_watch(&another) == -1 && errno == ESRCH);
    assert_int_equal(poll(&end, 1, 0), 0);
    kill(child, SIGKILL);
    assert_int_equal(poll(&end, 1, LIMIT * 1000), 1);
    close(end.fd);
    reap(child);
}

/* ---- The processes of a job --------------------------------------------------------------------- */

static void test_kin_are_descendants(void **state)
{
    pid_t grandchild, child = start_two(&grandchild);
    (void)state;
    assert_int_equal(proctree_signal_kin(NULL, 0), 2);
    assert_int_equal(proctree_signal_kin(NULL, SIGKILL), 2);
    await_zombie(child);
    assert_int_equal(proctree_signal_kin(NULL, 0), 0);
    end_two(child, grandchild);
    assert_true(!proctree_end_kin(NULL));
}

/* A shell with the mark, and below it a process without; when that is there the shell has said so. */
static pid_t start_marked(char *mark)
{
    static char shell[] = "/bin/sh", option[] = "-c", script[] = "env -i sleep 60 & echo; wait";
    char *const argv[] = {shell, option, script, NULL}, *const environment[] = {"PATH=/usr/bin:/bin", mark, NULL};
    int ends[2];
    char byte;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (!child) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execve(shell, argv, environment);
        _exit(127);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    return child;
}

static void test_kin_have_a_mark(void **state)
{
    char mark[40], longer[48], shorter[40];
    pid_t another = start_child("another");
    (void)state;
    snprintf(mark, sizeof mark, "EPOP_TEST_MARK=%d", getpid());
    snprintf(longer, sizeof longer, "%s0", mark);
    snprintf(shorter, sizeof shorter, "%.*s", (int)strlen(mark) - 1, mark);
    assert_int_equal(proctree_signal_kin(mark, 0), 0);
    pid_t child = start_marked(mark);
    assert_int_equal(proctree_signal_kin(mark, 0), 2);
    assert_int_equal(proctree_signal_kin(longer, 0) | proctree_signal_kin(shorter, 0), 0);
    assert_true(proctree_end_kin(mark));
    assert_int_equal(reap(child), SIGTERM);
    assert_true(!proctree_end_kin(mark));
    end_child(another);
    assert_true(waitpid(-1, NULL, 0) > 0); /* what the shell left to this process */
    assert_int_equal(waitpid(-1, NULL, 0), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_read),
        cmocka_unit_test(test_identity),
        cmocka_unit_test(test_a_zombie_has_ended),
        cmocka_unit_test(test_command_line),
        cmocka_unit_test(test_what_it_has_open),
        cmocka_unit_test(test_upwards_and_children),
        cmocka_unit_test(test_descendants),
        cmocka_unit_test(test_a_signal_reaches_no_other_process),
        cmocka_unit_test(test_nor_does_it_on_an_old_kernel),
        cmocka_unit_test(test_a_group_outlives_its_leader),
        cmocka_unit_test(test_watching),
        cmocka_unit_test(test_kin_are_descendants),
        cmocka_unit_test(test_kin_have_a_mark),
    };
    alarm(LIMIT);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
