/* The process that writes the trace: see collector.h. */
#include "driver/trace/collector.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver/epop/launch.h"
#include "driver/trace/merge.h"
#include "driver/trace/out.h"
#include "runtime/base/error.h"
#include "runtime/base/say.h"
#include "runtime/base/spawn.h"
#include "runtime/job/job.h"

#define WRITTEN     'w'
#define NOT_WRITTEN 'n' /* the reason has been told */
#define PATIENCE    60  /* seconds */

/* What is left of the buffers, and of a trace that was not finished. */
static void remove_files(const char *directory, const char *output)
{
    struct dirent *entry;
    DIR *entries = opendir(directory);
    while (entries && (entry = readdir(entries)))
        unlinkat(dirfd(entries), entry->d_name, 0);
    if (entries)
        closedir(entries);
    rmdir(directory);
    out_discard(output);
}

/* ---- In process 0 ---------------------------------------------------------------------- */

int collector_start(struct collector *collector, const char *directory, int in_use, const char *output, int64_t limit,
                    struct error *error)
{
    char self[PATH_MAX], bytes[32];
    int ends[2], result = -1;
    *collector = (struct collector){.lifeline = -1, .directory = directory, .output = output};
    snprintf(bytes, sizeof bytes, "%lld", (long long)limit);
    char *argv[] = {
        (char *)launch_self(self, sizeof self, "epop"), TRACE_ARGUMENT, (char *)directory, (char *)output, bytes, NULL};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) {
        const struct spawn what = {.argv = argv,
                                   .in = ends[0],
                                   .out = SPAWN_NOTHING,
                                   .err = STDERR_FILENO,
                                   .mark = in_use, /* that the directory is */
                                   .session = true};
        result = spawn_program(&what, &collector->pid);
        close(ends[0]);
        collector->lifeline = ends[1];
    }
    epop__job_child_without(&collector->lifeline);
    if (result == 0) {
        epop__job_spare(collector->pid); /* it is busy when this process is gone */
        return 0;
    }
    error_set(error, ERROR_FAILED, "cannot start the process that writes the trace: %s",
              strerror(result > 0 ? result : errno));
    if (collector->lifeline >= 0)
        close(collector->lifeline);
    collector->lifeline = -1;
    return -1;
}

/* The byte that it answers with, 0: it is gone without an answer, -1: it takes too long. Its exit status may be lost:
 * the program may ignore SIGCHLD, or wait for all children. */
static int await_answer(int lifeline)
{
    struct pollfd poll_answer = {.fd = lifeline, .events = POLLIN};
    char answer = 0;
    int ready;
    while ((ready = poll(&poll_answer, 1, PATIENCE * 1000)) < 0 && errno == EINTR)
        ;
    if (ready == 0)
        return -1;
    return recv(lifeline, &answer, 1, 0) == 1 ? answer : 0;
}

int collector_finish(struct collector *collector)
{
    if (collector->lifeline < 0)
        return collector->failed ? -1 : 0;
    shutdown(collector->lifeline, SHUT_WR);
    int answer = await_answer(collector->lifeline);
    close(collector->lifeline);
    collector->lifeline = -1;
    collector->failed = answer != WRITTEN;
    if (answer < 0) {
        say_line("trace: it takes more than %d s to write; process %ld goes on with it", PATIENCE,
                 (long)collector->pid);
        return -1;
    }
    waitpid(collector->pid, NULL, 0);
    epop__job_spare(0);
    if (answer == 0) {
        say_line("trace: the process that writes it was killed: there is no trace");
        remove_files(collector->directory, collector->output);
    }
    return collector->failed ? -1 : 0;
}

/* ---- In the collector -------------------------------------------------------------------- */

static void wait_for_end(int lifeline)
{
    char nothing;
    ssize_t got;
    while ((got = read(lifeline, &nothing, 1)) > 0 || (got < 0 && errno == EINTR))
        ;
}

int collector_main(int argc, char **argv)
{
    char summary[TRACE_SUMMARY_MAX];
    struct error error;
    if (argc != 3)
        return 2;
    signal(SIGINT, SIG_IGN); /* what ends the job is the reason to write */
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* too long a file is an error like others */
    wait_for_end(STDIN_FILENO);
    int result = merge_trace(argv[0], argv[1], strtoll(argv[2], NULL, 10), summary, &error);
    say_line("%s%s", result ? "trace: " : "", result ? error.text : summary);
    remove_files(argv[0], argv[1]);
    send(STDIN_FILENO, result ? (char[]){NOT_WRITTEN} : (char[]){WRITTEN}, 1, MSG_NOSIGNAL);
    return result != 0;
}
