/* A job's processes and its control plane: the server in process 0, and what the others do with it. */
#include "runtime/control/control.h"

#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/base/thread.h"
#include "runtime/control/address.h"
#include "runtime/control/jobs.h"
#include "runtime/control/rundir.h"
#include "runtime/wire/attach.h"
#include "runtime/wire/loop.h"
#include "runtime/wire/proof.h"

/* ---- Process 0 ------------------------------------------------------------------------------- */

/* Whoever calls holds the lock for reading: the server comes when other threads are there already, and goes before they
 * are. */
static pthread_rwlock_t serving = PTHREAD_RWLOCK_INITIALIZER;
static struct {
    struct wire_server *server; /* NULL: not yet, or no more */
    char token[CONTROL_TOKEN_MAX];
    char jobfile[512]; /* "": not published */
} job;

static void set_server(struct wire_server *server)
{
    pthread_rwlock_wrlock(&serving);
    job.server = server;
    pthread_rwlock_unlock(&serving);
}

/* NULL: there is none, which is to be left, too. */
static struct wire_server *take_server(void)
{
    pthread_rwlock_rdlock(&serving);
    return job.server;
}

static void release_server(void)
{
    pthread_rwlock_unlock(&serving);
}

int control_serve(const struct wire_server_ops *ops, void *context, char uri[CONTROL_URI_MAX],
                  char token[CONTROL_TOKEN_MAX], struct error *error)
{
    char path[400];
    struct sockaddr_in address;
    bool networked;
    if (proof_random(job.token))
        return error_set(error, ERROR_FAILED, "cannot start the control server: no random numbers from the kernel");
    if (control_rundir_socket(path, sizeof path, error))
        return -1;
    if (control_address(&address, &networked))
        return error_set(error, ERROR_FAILED, "cannot start the control server: EPOP_CONTROL_ADDRESS is no address");
    struct wire_server *server =
        wire_server_open(&(struct wire_place){path, networked ? &address : NULL, job.token}, ops, context, error);
    if (!server)
        return -1;
    snprintf(uri, CONTROL_URI_MAX, "%s", wire_server_uri(server));
    snprintf(token, CONTROL_TOKEN_MAX, "%s", job.token);
    set_server(server);
    return 0;
}

int control_send(int process, const cJSON *message)
{
    struct wire_server *server = take_server();
    int failed = server ? wire_server_send(server, process, message) : -1;
    release_server();
    return failed;
}

void control_send_all(const int *processes, size_t count, const cJSON *message)
{
    struct wire_server *server = take_server();
    if (server)
        wire_server_send_all(server, processes, count, message);
    release_server();
}

int control_members(void)
{
    struct wire_server *server = take_server();
    int count = server ? wire_server_members(server) : 0;
    release_server();
    return count;
}

void control_dismiss(const cJSON *message, int timeout_ms)
{
    struct wire_server *server = take_server();
    if (server) {
        wire_server_send(server, CONTROL_ALL, message);
        wire_server_drain(server, false, timeout_ms);
    }
    release_server();
}

void control_publish(const cJSON *event)
{
    struct wire_server *server = take_server();
    if (server)
        wire_server_publish(server, event);
    release_server();
}

void control_answer(struct wire_request *handle, const cJSON *answer)
{
    struct wire_server *server = take_server();
    if (server)
        wire_server_answer(server, handle, answer);
    release_server();
}

int control_advertise(const char *job_id, const cJSON *about, struct error *error)
{
    char path[sizeof job.jobfile];
    if (control_jobfile_write(job_id, about, wire_server_uri(job.server), job.token, path, sizeof path, error))
        return -1;
    strcpy(job.jobfile, path);
    return 0;
}

const char *control_address_file(void)
{
    return job.jobfile;
}

void control_unadvertise(void)
{
    if (job.jobfile[0])
        unlink(job.jobfile);
    job.jobfile[0] = '\0';
}

void control_tell_end(void)
{
    struct wire_server *server = take_server();
    if (server)
        wire_server_tell_end(server);
    release_server();
}

/* Until all have gone it is there for them. */
void control_unserve(int timeout_ms)
{
    struct wire_server *server = take_server();
    release_server();
    if (!server)
        return;
    control_unadvertise();
    wire_server_farewell(server, timeout_ms);
    set_server(NULL);
    wire_server_close(server);
}

/* ---- A member ---------------------------------------------------------------------------------- */

/* Before its thread runs the base, the thread that attaches does. */
static pthread_mutex_t telling = PTHREAD_MUTEX_INITIALIZER; /* member.link stays */
static struct {
    struct event_base *base;
    struct wire_link *link;
    struct event *quit, *depart, *aside;
    pthread_t thread;
    const struct control_member_ops *ops;
    void *context;
    struct error why;
    bool attached, over, departs, leaving;
    bool all;    /* depart */
    sem_t alone; /* nobody comes by this process any more */
} member;

enum { FAREWELL_MS = 1000, GRACE_MS = 300 };

static void on_attached(void *context, const struct error *why_not)
{
    (void)context;
    member.attached = !why_not;
    member.over = true;
    if (why_not)
        member.why = *why_not;
    wire_wake(member.base);
}

static void on_message(void *context, const cJSON *message)
{
    (void)context;
    member.ops->message(member.context, message);
}

/* Who said goodbye waits for the server to close the connection: so it has read all that came before. */
static void on_ended(void *context, bool lost)
{
    (void)context, (void)lost;
    member.attached = false;
    if (member.departs)
        event_base_loopbreak(member.base);
    else if (member.ops->lost)
        member.ops->lost(member.context);
}

static void on_quit(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what, (void)context;
    if (member.leaving) {
        event_base_loopbreak(member.base);
        return;
    }
    member.leaving = true;
    if (member.attached && !wire_link_leave(member.link))
        wire_timer_set(member.quit, FAREWELL_MS / 1e3);
    else
        event_base_loopbreak(member.base);
}

/* Nobody comes by this process any more. */
static void on_alone(void *context)
{
    (void)context;
    sem_post(&member.alone);
    if (member.departs)
        event_active(member.quit, 0, 0);
}

static void on_aside(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what, (void)context;
    bool carries = wire_link_carries(member.link, on_alone);
    wire_link_step_aside(member.link);
    if (!carries)
        sem_post(&member.alone);
}

/* Those who come by it go before, or move to another one. */
static void on_depart(evutil_socket_t fd, short what, void *context)
{
    member.departs = true;
    if (!wire_link_carries(member.link, on_alone)) {
        on_quit(fd, what, context);
        return;
    }
    wire_timer_set(member.quit, FAREWELL_MS / 1e3);
    wire_timer_set(member.aside, member.all ? GRACE_MS / 1e3 : 0);
}

static void *run_service(void *unused)
{
    event_base_loop(member.base, EVLOOP_NO_EXIT_ON_EMPTY);
    return unused;
}

static void take_down(void)
{
    pthread_mutex_lock(&telling);
    struct wire_link *link = member.link;
    member.link = NULL;
    pthread_mutex_unlock(&telling);
    if (link)
        wire_link_close(link);
    struct event *events[] = {member.quit, member.depart, member.aside};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (events[i])
            event_free(events[i]);
    if (member.base)
        event_base_free(member.base);
    memset(&member, 0, sizeof member);
}

static int make_events(void)
{
    member.base = wire_base_new();
    if (!member.base)
        return -1;
    sem_init(&member.alone, 0, 0);
    member.quit = evtimer_new(member.base, on_quit, NULL);
    member.depart = evtimer_new(member.base, on_depart, NULL);
    member.aside = evtimer_new(member.base, on_aside, NULL);
    return member.quit && member.depart && member.aside ? 0 : -1;
}

static int attach(const char *uri, const char *token, int process, int timeout_ms, struct error *error)
{
    static const struct wire_link_ops ops = {on_attached, on_message, on_ended};
    if (make_events())
        return error_set(error, ERROR_FAILED, "cannot attach to the job: no memory, or no descriptors");
    member.link = wire_link_open(member.base, uri, token, WIRE_MEMBER, process, &ops, NULL, timeout_ms / 1e3, error);
    if (!member.link)
        return -1;
    wire_wait(member.base, &member.over, -1); /* the link's own limit */
    if (!member.attached)
        *error = member.why;
    else if (thread_start(&member.thread, run_service, NULL))
        error_set(error, ERROR_FAILED, "cannot attach to the job: no thread");
    else
        return 0;
    return -1;
}

int control_attach(const char *uri, const char *token, int process, const struct control_member_ops *ops, void *context,
                   int timeout_ms, struct error *error)
{
    member.ops = ops;
    member.context = context;
    int failed = attach(uri, token, process, timeout_ms, error);
    if (failed)
        take_down();
    return failed;
}

int control_tell(const cJSON *message)
{
    pthread_mutex_lock(&telling);
    int failed = member.link ? wire_link_tell(member.link, message) : -1;
    pthread_mutex_unlock(&telling);
    return failed;
}

void control_step_aside(void)
{
    struct timespec limit = clock_in(CLOCK_MONOTONIC, FAREWELL_MS / 1e3);
    if (!member.link)
        return;
    while (!sem_trywait(&member.alone)) /* that was before */
        ;
    event_active(member.aside, 0, 0);
    while (sem_clockwait(&member.alone, CLOCK_MONOTONIC, &limit) && errno == EINTR)
        ;
}

void control_detach(bool all)
{
    if (!member.link)
        return;
    member.all = all;
    event_active(member.depart, 0, 0);
    pthread_join(member.thread, NULL);
    take_down();
}

/* ---- One that has left ---------------------------------------------------------------------------- */

struct awaited {
    struct event_base *base;
    bool over;
};

static void on_reached(void *context, const struct error *why_not)
{
    struct awaited *awaited = context;
    awaited->over = why_not;
    if (why_not)
        wire_wake(awaited->base);
}

static void on_nothing(void *context, const cJSON *message)
{
    (void)context, (void)message;
}

static void on_over(void *context, bool lost)
{
    struct awaited *awaited = context;
    (void)lost;
    awaited->over = true;
    wire_wake(awaited->base);
}

#define REACH_SECONDS 5

void control_await_end(const char *uri, const char *token)
{
    static const struct wire_link_ops ops = {on_reached, on_nothing, on_over};
    struct awaited awaited = {.base = wire_base_new()};
    struct error error;
    struct wire_link *link =
        awaited.base ? wire_link_open(awaited.base, uri, token, WIRE_LIFELINE, 0, &ops, &awaited, REACH_SECONDS, &error)
                     : NULL;
    if (link) {
        wire_wait(awaited.base, &awaited.over, -1);
        wire_link_close(link);
    }
    if (awaited.base)
        event_base_free(awaited.base);
}
