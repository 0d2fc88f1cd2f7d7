/*
 * What standard tools of PMIx ask of a job, beside it:
 *
 *     pmix-gateway [--verbose] ADDRESS-FILE
 *
 * The process that was started ends at once, so that nobody has to wait for a child; verbose, it says before on stderr
 * if EPOP's tests were not run with this OpenPMIx. Another one watches the job's process 0 and, once the job has lasted
 * a second, a third, which has the PMIx server; when that one dies it is started again, three times a minute at most.
 * All of it ends with the job. The server's files are in a directory of the user's, which is found as JOB.pmix beside
 * the job's own file, JOB.json; its address is in JOB.pmix/uri.
 */
#include <errno.h>
#include <pmix.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gateway/job.h"
#include "gateway/server.h"
#include "runtime/base/clock.h"
#include "runtime/base/proctree.h"
#include "runtime/base/tried.h"
#include "runtime/control/control.h"
#include "runtime/control/jobs.h"
#include "runtime/control/rundir.h"
#include "runtime/wire/loop.h"

enum { STARTS = 4, MINUTE = 60 }; /* the first one, and three more */

#define SOON       1.0 /* seconds: of a job that ends before, no tool asks */
#define PARTING_MS 3000

extern char **environ;

/* ---- The server ---------------------------------------------------------------------- */

/* A resource manager above has told us of a server of its own: this one is for the job alone. */
static void forget_servers(void)
{
    char name[64];
    for (char **at = environ; *at;) {
        size_t length = strcspn(*at, "=");
        if (strncmp(*at, "PMIX_", 5) || !strncmp(*at, "PMIX_MCA_", 9) || length >= sizeof name) {
            at++;
            continue;
        }
        memcpy(name, *at, length);
        name[length] = '\0';
        unsetenv(name);
    }
}

/* The directory can be found; under another name first, as one may be there already. */
static int publish(const char *directory, const char *where)
{
    char temporary[640];
    snprintf(temporary, sizeof temporary, "%s~", where);
    unlink(temporary);
    return symlink(directory, temporary) || rename(temporary, where);
}

/* Its exit status: 0 where the job has ended. */
static int serve(const struct control_job *job, const char *directory, const char *where)
{
    struct event_base *base = wire_base_new();
    bool over = false;
    struct error error;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    forget_servers();
    if (!base || server_open(base, directory, job_take, &error) || job_open(base, job, &over, &error) ||
        publish(directory, where))
        return EXIT_FAILURE;
    wire_wait(base, &over, -1);
    server_close();
    return job_attached() ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- Who watches it ------------------------------------------------------------------- */

/* Waits for the end of one of them (other: -1, of the first alone), so many seconds; negative: without end. Is it the
 * first? */
static bool ended(int fd, int other, double seconds)
{
    struct pollfd fds[] = {{.fd = fd, .events = POLLIN}, {.fd = other, .events = POLLIN}};
    int got;
    do
        got = poll(fds, 2, seconds < 0 ? -1 : (int)(seconds * 1000) + 1);
    while (got < 0 && errno == EINTR);
    return fds[0].revents;
}

/* Until one of both ends. Has the job? Then the other may take its leave. */
static bool attend(int job, pid_t server, const char *where)
{
    int fd = pidfd_open(server, 0);
    bool over = fd < 0 || ended(job, fd, -1);
    int status = 0;
    if (over) {
        struct pollfd one = {.fd = fd, .events = POLLIN};
        unlink(where);
        poll(&one, 1, PARTING_MS);
        kill(server, SIGKILL);
    }
    while (waitpid(server, &status, 0) < 0 && errno == EINTR)
        ;
    close(fd);
    return over || (WIFEXITED(status) && !WEXITSTATUS(status));
}

/* Started again for as long as the job is there. */
static void watch(const struct control_job *job, int process, const char *directory, const char *where)
{
    double starts[STARTS] = {0};
    if (ended(process, -1, SOON))
        return;
    for (int i = 0;; i = (i + 1) % STARTS) {
        double wait = starts[i] > 0 ? starts[i] + MINUTE - monotonic_seconds() : 0;
        if (wait > 0 && ended(process, -1, wait))
            return;
        starts[i] = monotonic_seconds();
        pid_t server = fork();
        if (!server)
            _exit(serve(job, directory, where));
        if (server < 0 || attend(process, server, where))
            return;
    }
}

/* The file's name without its end is the job's. */
static int find_job(const char *file, struct control_job *job)
{
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    struct control_job *jobs;
    int count = control_jobs(&jobs), found = -1;
    size_t length = strlen(name) > 5 ? strlen(name) - 5 : 0;
    for (int i = 0; i < count; i++)
        if (jobs[i].here && strlen(jobs[i].id) == length && !strncmp(jobs[i].id, name, length)) {
            *job = jobs[i];
            found = 0;
        }
    free(jobs);
    return found;
}

static int gateway(const char *file)
{
    struct control_job job;
    char directory[512], where[600];
    struct error error;
    if (find_job(file, &job))
        return EXIT_FAILURE;
    int process = proctree_watch(&job.process);
    if (process < 0)
        return EXIT_FAILURE;
    int used = control_directory("pmix", "", directory, sizeof directory, &error);
    if (used < 0)
        return EXIT_FAILURE;
    snprintf(where, sizeof where, "%.*s.pmix", (int)strlen(file) - 5, file);
    watch(&job, process, directory, where);
    unlink(where);
    control_rundir_remove(directory);
    return EXIT_SUCCESS;
}

/* PMIx_Get_version: "OpenPMIx 4.2.2rc2, repo rev: ...", which Debian 12 calls 4.2.2. */
static void say_untried(void)
{
    char version[32], untried[TRIED_TEXT];
    if (sscanf(PMIx_Get_version(), "OpenPMIx %31[0-9.]", version) == 1 && !tried_with("OpenPMIx", version, untried))
        fprintf(stderr, "epop: note: %s\n", untried);
}

int main(int argc, char **argv)
{
    bool verbose = argc == 3 && !strcmp(argv[1], "--verbose");
    if (argc != 2 + verbose) {
        fprintf(stderr, "usage: pmix-gateway [--verbose] ADDRESS-FILE\n");
        return 2;
    }
    if (verbose)
        say_untried();
    pid_t pid = fork();
    if (pid)
        return pid < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
    setsid();
    umask(077);
    if (!freopen("/dev/null", "w", stderr)) /* nobody has to wait for it to be closed */
        fclose(stderr);
    return gateway(argv[argc - 1]);
}
