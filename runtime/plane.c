/* A process's connection to the control plane: see plane.h. */
#include "runtime/plane.h"

#include <fcntl.h>
#include <mpi.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "runtime/bar/bar.h"
#include "runtime/clock.h"
#include "runtime/member/json.h"
#include "runtime/records/records.h"

#define ATTACH_TIMEOUT_MS 30000
#define DETACH_TIMEOUT_MS 2000

#define DISMISS_TIMEOUT_MS 300

static bool serving; /* this process has the server: the others hear of the end before they miss it */

/* The process manager may drop what still stands in the pipe when it hears of MPI_Abort. */
static void wait_until_read(void)
{
    int unread = 1;
    for (int ms = 0; ms < 200 && ioctl(STDERR_FILENO, FIONREAD, &unread) == 0 && unread > 0; ms++)
        usleep(1000);
}

/*
 * Hydra that has passed on a signal looks for a process's status only when some output of its processes closes while
 * other output is still open; it takes the end for a good one else. A child closes ours in that order.
 */
static void stay_in_sight(void)
{
    struct pollfd self = {.fd = pidfd_open(getpid(), 0), .events = POLLIN};
    if ((getenv("PMI_FD") || getenv("PMI_PORT")) && _Fork() == 0) {
        poll(&self, 1, 3000);
        close_range(STDERR_FILENO, ~0U, 0);
        usleep(50000);
        _exit(0);
    }
}

static void say(const char *text)
{
    fprintf(stderr, "epop: %s\n", text);
    fflush(NULL);
    wait_until_read();
}

/* The reason is one line; a report on a crash has more. */
static void records_fail_by(const char *text)
{
    char line[512];
    snprintf(line, sizeof line, "%.*s", (int)strcspn(text, "\n"), text);
    epop__records_fail(line);
}

/* Whoever would only notice that the connection is gone would say so, though there is a better reason. */
static void dismiss(int status)
{
    cJSON *message = json_message("abort");
    cJSON_AddNumberToObject(message, "status", status);
    control_dismiss(message, DISMISS_TIMEOUT_MS);
    cJSON_Delete(message);
}

void plane_end(const char *text, int status)
{
    static atomic_flag begun = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&begun))
        for (;;)
            pause(); /* another thread is at it */
    if (text) {
        say(text);
        records_fail_by(text);
    }
    if (serving)
        dismiss(status);
    /* What the MPI library says in MPI_Abort would only bury our line. The alarm is for a library that cannot be
     * called from this thread now: the process manager ends the others when this process is gone. */
    stay_in_sight();
    int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0)
        dup2(nowhere, STDERR_FILENO);
    signal(SIGALRM, SIG_DFL);
    alarm(2);
    MPI_Abort(MPI_COMM_WORLD, status);
    _exit(status);
}

void plane_abort(const char *text)
{
    plane_end(text, 1);
}

static cJSON *hello(const struct plane *plane)
{
    char host[64] = "?";
    gethostname(host, sizeof host - 1);
    cJSON *message = json_message("hello");
    cJSON_AddStringToObject(message, "host", host);
    cJSON_AddNumberToObject(message, "pid", getpid());
    if (plane->identity[0])
        cJSON_AddStringToObject(message, "identity", plane->identity);
    if (plane->cores[0])
        cJSON_AddStringToObject(message, "cores", plane->cores);
    return message;
}

/* ---- Process 0: the coordinator's ways out and in --------------------------------- */

static void op_send(void *context, int process, const cJSON *message)
{
    struct plane *plane = context;
    if (process == 0)
        member_receive(plane->member, message);
    else
        control_send(process, message);
}

/* For --verbose: "epop: committed 4 -> 1 at 'multiply', iteration 5". */
static void print_event(const cJSON *event)
{
    char change[64] = "", place[120] = "";
    const char *element = json_text(event, "element"), *reason = json_text(event, "reason");
    if (cJSON_HasObjectItem(event, "adaptation"))
        snprintf(change, sizeof change, " %d -> %d", json_int(event, "from", 0), json_int(event, "to", 0));
    if (element)
        snprintf(place, sizeof place, " at '%s', iteration %lld", element,
                 (long long)json_int64(event, "iteration", 0));
    fprintf(stderr, "epop: %s%s%s%s%s\n", json_text(event, "event"), change, place, reason ? ": " : "",
            reason ? reason : "");
}

static void op_publish(void *context, const cJSON *event)
{
    if (((struct plane *)context)->verbose)
        print_event(event);
    control_publish(event);
}

static void op_answer(void *context, void *handle, const cJSON *answer)
{
    (void)context;
    control_answer(handle, answer);
}

static void op_fatal(void *context, const char *text)
{
    (void)context;
    plane_abort(text);
}

static void op_say(void *context, const char *text, bool failing)
{
    (void)context;
    say(text);
    if (failing)
        records_fail_by(text);
}

static void op_show(void *context, const struct bar_state *state)
{
    (void)context;
    bar_draw(state);
}

static void op_note(void *context, const epop_adaptation_t *adaptation, const char *reason)
{
    (void)context;
    records_note(adaptation, reason);
}

static int op_ended(void *context, const char *stopped_by)
{
    (void)context;
    return epop__records_finish(stopped_by) ? EXIT_FAILURE : EXIT_SUCCESS;
}

static const struct coordinator_ops coordinator_ops = {.send = op_send,
                                                       .publish = op_publish,
                                                       .answer = op_answer,
                                                       .fatal = op_fatal,
                                                       .say = op_say,
                                                       .note = op_note,
                                                       .ended = op_ended};

static void on_attached(void *context, int process)
{
    (void)context;
    (void)process; /* its hello follows */
}

static void on_lost(void *context, int process)
{
    coordinator_lost(((struct plane *)context)->coordinator, process);
}

static void on_member_message(void *context, int process, const cJSON *message)
{
    cJSON *time = clock_answer(message);
    if (time)
        control_send(process, time);
    else if (!records_receive(process, message))
        coordinator_message(((struct plane *)context)->coordinator, process, message);
    cJSON_Delete(time);
}

static void on_request(void *context, control_request_t *handle, const cJSON *request)
{
    coordinator_request(((struct plane *)context)->coordinator, handle, request);
}

static void on_abandoned(void *context, control_request_t *handle)
{
    coordinator_abandoned(((struct plane *)context)->coordinator, handle);
}

static const control_server_ops_t server_ops = {.attached = on_attached,
                                                .lost = on_lost,
                                                .message = on_member_message,
                                                .request = on_request,
                                                .abandoned = on_abandoned};

static int advertise(const char *job_id, const struct coordinator_config *config, char *error, size_t error_size)
{
    cJSON *about = cJSON_CreateObject();
    cJSON_AddStringToObject(about, "program", config->program->name);
    int result = control_advertise(job_id, about, error, error_size);
    cJSON_Delete(about);
    return result;
}

/* With a bar on the terminal, or without one. */
static const struct coordinator_ops *choose_ops(const struct plane *plane)
{
    static struct coordinator_ops with_bar;
    if (plane->quiet || !bar_open())
        return &coordinator_ops;
    with_bar = coordinator_ops;
    with_bar.show = op_show;
    return &with_bar;
}

static int serve(struct plane *plane, struct coordinator_config *config, char *error, size_t error_size)
{
    char job_id[96];
    snprintf(job_id, sizeof job_id, "%.60s-%ld", config->program->name, (long)getpid());
    for (char *p = job_id; *p; p++)
        if (*p == '/' || *p == ' ')
            *p = '_';
    config->job = job_id;
    config->ops = choose_ops(plane);
    config->context = plane;
    plane->coordinator = coordinator_start(config);
    if (!plane->coordinator) {
        snprintf(error, error_size, "cannot start the coordinator: out of memory or threads");
        return -1;
    }
    epop__records_begin(
        &(struct records_job){job_id, config->path, coordinator_backend_name(plane->coordinator), config->size});
    if (control_serve(&server_ops, plane, plane->uri, plane->token, error, error_size))
        return -1;
    serving = true;
    cJSON *message = hello(plane);
    coordinator_message(plane->coordinator, 0, message);
    cJSON_Delete(message);
    return advertise(job_id, config, error, error_size);
}

/* ---- Every other process: the attachment -------------------------------------------- */

/* The reason has been printed. Where process 0 is about to end, one that ended earlier would disturb it. */
static void on_abort(struct plane *plane, const cJSON *message)
{
    if (json_true(message, "wait"))
        plane->aborting = true;
    else
        plane_end(NULL, json_int(message, "status", 1));
}

static void on_message(void *context, const cJSON *message)
{
    struct plane *plane = context;
    const char *op = json_text(message, "op");
    if (op && !strcmp(op, "finish"))
        plane->over = true;
    if (op && !strcmp(op, "abort"))
        on_abort(plane, message);
    if (!clock_answered(message) && !records_asked(message))
        member_receive(plane->member, message);
}

static void on_server_lost(void *context)
{
    const struct plane *plane = context;
    if (plane->aborting)
        plane_end(NULL, 1);
    if (!plane->over)
        plane_abort("the connection to rank 0's control plane is lost; this process ends");
}

static const control_member_ops_t member_ops = {.message = on_message, .lost = on_server_lost};

/* Not in the background: PMIx reads the environment while it starts, and would crash if the program's INIT changed it
 * meanwhile. */
static void attach(struct plane *plane)
{
    char error[300];
    if (control_attach(plane->uri, plane->token, plane->member->process, &member_ops, plane, ATTACH_TIMEOUT_MS, error,
                       sizeof error))
        plane_abort(error);
    cJSON *message = hello(plane), *kept;
    control_tell(message);
    cJSON_Delete(message);
    pthread_mutex_lock(&plane->lock);
    cJSON_ArrayForEach(kept, plane->undelivered) control_tell(kept);
    cJSON_Delete(plane->undelivered);
    plane->undelivered = NULL;
    plane->attached = true;
    pthread_mutex_unlock(&plane->lock);
}

/* ---- All -------------------------------------------------------------------------------- */

int plane_tell(struct plane *plane, const cJSON *message)
{
    if (plane->member->process == 0) {
        coordinator_message(plane->coordinator, 0, message);
        return 0;
    }
    int result = 0;
    pthread_mutex_lock(&plane->lock);
    if (plane->attached)
        result = control_tell(message);
    else
        cJSON_AddItemToArray(plane->undelivered, cJSON_Duplicate(message, 1));
    pthread_mutex_unlock(&plane->lock);
    return result;
}

static void init(struct plane *plane, struct member *member)
{
    cpu_set_t cores;
    if (binding_own(&cores))
        binding_text(&cores, plane->cores);
    plane->member = member;
    pthread_mutex_init(&plane->lock, NULL);
    plane->undelivered = cJSON_CreateArray();
}

static int follow(struct plane *plane, char *error, size_t error_size)
{
    if (!plane->uri[0] || !plane->token[0]) {
        snprintf(error, error_size, "cannot attach to the control plane");
        return -1;
    }
    attach(plane);
    return 0;
}

/* Does the launch span hosts? Collective over it. */
static bool spans_hosts(void)
{
    MPI_Comm host;
    int here, all;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &here);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    MPI_Comm_free(&host);
    return here != all;
}

int plane_start(struct plane *plane, struct member *member, struct coordinator_config *config, char *error,
                size_t error_size)
{
    int failed = 0;
    init(plane, member);
    bool other_hosts = spans_hosts();
    if (member->process == 0 &&
        (other_hosts || config->maximum > config->processes)) /* who joins later may be anywhere */
        control_reach_hosts();
    if (member->process == 0)
        failed = serve(plane, config, error, error_size);
    MPI_Bcast(plane->uri, sizeof plane->uri, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Bcast(plane->token, sizeof plane->token, MPI_CHAR, 0, MPI_COMM_WORLD);
    return member->process == 0 ? failed : follow(plane, error, error_size);
}

int plane_follow(struct plane *plane, struct member *member, const char *uri, const char *token, char *error,
                 size_t error_size)
{
    init(plane, member);
    snprintf(plane->uri, sizeof plane->uri, "%s", uri);
    snprintf(plane->token, sizeof plane->token, "%s", token);
    return follow(plane, error, error_size);
}

int plane_stop(struct plane *plane)
{
    int stuck = 0;
    if (plane->member->process == 0) {
        stuck = coordinator_wait(plane->coordinator);
        bar_close();
        if (!stuck) {
            serving = false;
            control_unserve(DETACH_TIMEOUT_MS);
            coordinator_destroy(plane->coordinator);
        }
    } else {
        control_detach();
    }
    pthread_mutex_destroy(&plane->lock);
    return stuck;
}
