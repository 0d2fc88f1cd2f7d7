/* The adviser's life: see adviser.h. */
#include "scheduler/slurm/adviser.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/wire/loop.h"
#include "scheduler/core/policy.h"
#include "scheduler/daemon/server.h"
#include "scheduler/policies/policies.h"
#include "scheduler/slurm/advising.h"
#include "scheduler/slurm/asking.h"
#include "scheduler/slurm/commands.h"
#include "scheduler/slurm/listening.h"
#include "scheduler/slurm/state.h"

static const double rest = 5; /* seconds between decisions where nothing happens */

static void say(struct adviser *adviser, const char *text)
{
    struct journal_event event = {.time = wall_seconds(), .at = -1, .kind = "daemon", .text = text};
    adviser_tell(adviser, &event);
}

/* ---- What Slurm says ---------------------------------------------------------------------------- */

/* Those that have ended, and nobody is connected for. */
static void forget_jobs(struct adviser *adviser)
{
    for (struct advised *job = adviser->table.first, *next; job; job = next) {
        const struct slurm_job *slurm = view_job(adviser->view, job->id);
        next = job->next;
        if (!slurm || slurm->state == SLURM_JOB_WAITS)
            advised_remove(&adviser->table, job);
    }
}

static void forget_promises(struct adviser *adviser)
{
    struct advised_table *table = &adviser->table;
    size_t kept = 0;
    for (size_t i = 0; i < table->promise_count; i++) {
        const struct slurm_job *job = view_job(adviser->view, table->promises[i].job);
        if (job && job->state == SLURM_JOB_WAITS)
            table->promises[kept++] = table->promises[i];
    }
    table->promise_count = kept;
}

static void take_view(struct adviser *adviser, struct slurm_view *view)
{
    if (adviser->view)
        view_free(adviser->view);
    free(adviser->view);
    adviser->view = view;
    forget_jobs(adviser);
    forget_promises(adviser);
}

static void on_news(evutil_socket_t fd, short what, void *context)
{
    struct adviser *adviser = context;
    struct error why;
    bool was_away = adviser->away;
    struct slurm_view *view = reading_take(&adviser->reading, &adviser->view_asked, &adviser->away, &why);
    char text[300];
    (void)fd, (void)what;
    if (adviser->away && !was_away) {
        snprintf(text, sizeof text, "Slurm does not answer, waiting for it: %.200s", why.text);
        say(adviser, text);
    } else if (was_away && !adviser->away) {
        say(adviser, "Slurm answers again");
    }
    if (view)
        take_view(adviser, view);
    adviser_wake(adviser);
}

/* ---- Deciding ----------------------------------------------------------------------------------- */

/* A view from before a job's nodes changed shows nodes that are not idle, or not yet. */
static void on_again(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    struct adviser *adviser = context;
    double wake = rest;
    adviser->stale = false;
    if (adviser->view && !adviser->away && adviser->view_asked >= adviser->changed)
        wake = fmin(rest, fmax(ADVISER_APART, advising(adviser)));
    if (!adviser->stale)
        wire_timer_set(adviser->again, wake);
}

static void on_looks(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    asking_look(context);
}

/* ---- Connections, signals ----------------------------------------------------------------------- */

static void on_connection(void *context, int fd)
{
    struct adviser *adviser = context;
    peer_open(&adviser->owner, fd);
}

static void on_signal(evutil_socket_t number, short what, void *context)
{
    (void)number, (void)what;
    adviser_over(context);
}

/* ---- Its life ----------------------------------------------------------------------------------- */

/* One for each state directory. */
static int lock(const char *directory, struct error *error)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/lock", directory);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_set(error, ERROR_FAILED, "%s: %s", path, strerror(errno));
    if (!flock(fd, LOCK_EX | LOCK_NB))
        return fd;
    close(fd);
    return error_set(error, ERROR_REFUSED, "a daemon of %s runs already: epoprm stop, or another EPOPRM_DIR",
                     directory);
}

static int serve(struct adviser *adviser, const struct slurm_options *options, void (*ready)(void *context),
                 void *context, struct error *error)
{
    struct server *server;
    char path[4096];
    snprintf(path, sizeof path, "%s/socket", options->directory);
    if (server_open(&server, path, adviser->base, &commands_table, adviser, error))
        return -1;
    adviser->listener = (struct daemon_listener){server_tell, server};
    if (ready)
        ready(context);
    int failed = wire_wait(adviser->base, &adviser->over, -1)
                     ? 0
                     : error_set(error, ERROR_FAILED, "cannot wait for anything any more");
    adviser->listener.tell = NULL;
    server_close(server);
    return failed;
}

static int run(struct adviser *adviser, const struct slurm_options *options, void (*ready)(void *context),
               void *context, struct error *error)
{
    struct queue_reader reader;
    struct listening listening;
    char text[900], memory[4096], journal[4096];
    snprintf(memory, sizeof memory, "%s/port", options->directory);
    snprintf(journal, sizeof journal, "%s/journal.db", options->directory);
    if (journal_open(&adviser->journal, journal, error) || queue_reader_choose(&reader, options->reader, error) ||
        listening_begin(&listening, options->port, options->address_file, memory, error))
        return -1;
    adviser->peers = wire_listener_new(adviser->base, listening.fd, on_connection, adviser);
    int failed = adviser->peers ? reading_begin(&adviser->reading, &reader, error) : error_memory(error);
    if (!failed) {
        adviser->news = event_new(adviser->base, adviser->reading.news, EV_READ | EV_PERSIST, on_news, adviser);
        snprintf(text, sizeof text, "adviser at %s (%.300s), reading Slurm by %s, policy %s", listening.address,
                 listening.file, reader.name, policy_called(&adviser->policy));
        say(adviser, text);
        failed = !adviser->news || event_add(adviser->news, NULL) ? error_memory(error)
                                                                  : serve(adviser, options, ready, context, error);
        reading_end(&adviser->reading);
    }
    wire_listener_free(adviser->peers);
    listening_end(&listening);
    return failed ? -1 : 0;
}

static int prepare(struct adviser *adviser, struct error *error)
{
    struct event_base *base = wire_base_new();
    if (!base)
        return error_memory(error);
    *adviser = (struct adviser){.base = base,
                                .owner = {.base = base,
                                          .check = asking_check,
                                          .welcome = asking_welcome,
                                          .line = asking_line,
                                          .gone = asking_gone,
                                          .context = adviser}};
    adviser->again = evtimer_new(base, on_again, adviser);
    adviser->looks = evtimer_new(base, on_looks, adviser);
    adviser->terminated = evsignal_new(base, SIGTERM, on_signal, adviser);
    adviser->interrupted = evsignal_new(base, SIGINT, on_signal, adviser);
    if (!adviser->again || !adviser->looks || !adviser->terminated || !adviser->interrupted ||
        evsignal_add(adviser->terminated, NULL) || evsignal_add(adviser->interrupted, NULL))
        return error_memory(error);
    signal(SIGPIPE, SIG_IGN);
    wire_timer_set(adviser->looks, rest);
    return 0;
}

static void clean(struct adviser *adviser)
{
    struct event *events[] = {adviser->again, adviser->looks, adviser->news, adviser->terminated, adviser->interrupted};
    advised_free(&adviser->table);
    journal_close(adviser->journal);
    if (adviser->view)
        view_free(adviser->view);
    free(adviser->view);
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (events[i])
            event_free(events[i]);
    if (adviser->base)
        event_base_free(adviser->base);
}

int slurm_run(const struct slurm_options *options, void (*ready)(void *context), void *context, struct error *error)
{
    static struct adviser adviser; /* its thread may outlive it */
    int held = lock(options->directory, error);
    if (held < 0)
        return -1;
    int failed = prepare(&adviser, error) ||
                 policy_open(&adviser.policy, options->policy ? options->policy : "gain", policies, error);
    if (!failed) {
        policy_guard_install(POLICY_GUARD_BUSY, POLICY_GUARD_ALONE);
        failed = run(&adviser, options, ready, context, error);
        policy_close(&adviser.policy);
    }
    clean(&adviser);
    close(held);
    return failed ? -1 : 0;
}
