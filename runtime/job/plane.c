/* A process's connection to the control plane, and what is done there with what comes. */
#include "runtime/job/plane.h"

#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/bar/bar.h"
#include "runtime/base/batch.h"
#include "runtime/base/binding.h"
#include "runtime/base/ending.h"
#include "runtime/base/error.h"
#include "runtime/base/hash.h"
#include "runtime/base/host.h"
#include "runtime/base/json.h"
#include "runtime/base/say.h"
#include "runtime/control/clock_offset.h"
#include "runtime/control/supervisor.h"
#include "runtime/hydra/hydra.h"
#include "runtime/job/beside.h"
#include "runtime/job/checkpoints.h"
#include "runtime/job/signals.h"
#include "runtime/job/supervised.h"
#include "runtime/records/records.h"
#include "runtime/wire/messages.h"
#include "runtime/wire/socket.h"

#define ATTACH_TIMEOUT_MS  30000
#define DETACH_TIMEOUT_MS  2000
#define DISMISS_TIMEOUT_MS 300

static bool serving; /* this process has the server: the others hear of the end before they miss it */
static bool by_fault;
static int launch; /* processes in it */
static char reason[512];

/* ---- The end of the job ------------------------------------------------------------- */

/* Whoever would only notice that the connection is gone would say so, though there is a better reason. */
static void dismiss(int status)
{
    cJSON *message = json_message(ORDER(abort));
    cJSON_AddNumberToObject(message, "status", status);
    control_dismiss(message, DISMISS_TIMEOUT_MS);
    cJSON_Delete(message);
}

/* The supervisor is told first: what ends the others may end this process, too. */
static void tell_supervisor(int status)
{
    if (serving && supervisor_is_there())
        supervisor_end(by_fault ? SUPERVISOR_FAULT : SUPERVISOR_FAILED, status, reason);
}

/* What the MPI library says in MPI_Abort would only bury our line. The alarm is for a library that cannot be called
 * from this thread now: the process manager ends the others when this process is gone. Where there are none, all that
 * MPI_Abort does is to call exit(), in which this thread would wait for another one that is in it (glibc 2.41). */
static void end_all(int status)
{
    tell_supervisor(status);
    if (serving) {
        beside_companions_drop(); /* now: with the others this process may be ended, too */
        control_unadvertise();
        dismiss(status);
        beside_companions_end();
    }
    hydra_stay_in_sight();
    if (launch == 1)
        return;
    int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0)
        dup2(nowhere, STDERR_FILENO);
    signal(SIGALRM, SIG_DFL);
    alarm(2);
    MPI_Abort(MPI_COMM_WORLD, status);
}

static void on_failing(const char *line)
{
    snprintf(reason, sizeof reason, "%s", line);
    epop__records_fail(line);
}

static const struct ending_hooks ending_hooks = {.failing = on_failing, .end = end_all};

/* ---- What this process says of itself ------------------------------------------------------------- */

enum { BLOCK = 1 << 16 };

/* By whole words, as a program may be large, and each process that joins is waited for: single bytes take ten times as
 * long. */
static uint64_t hash_file(const char *path)
{
    uint64_t result = HASH_BEGIN, block[BLOCK / sizeof(uint64_t)];
    FILE *file = path ? fopen(path, "rb") : NULL;
    for (size_t read; file && (read = fread(block, 1, BLOCK, file)) > 0;) {
        memset((char *)block + read, 0, BLOCK - read);
        for (size_t i = 0; i * sizeof *block < read; i++) {
            result = (result ^ block[i]) * UINT64_C(0x9e3779b97f4a7c15);
            result ^= result >> 32;
        }
        result = hash_bytes(result, &read, sizeof read);
    }
    if (file)
        fclose(file);
    return result;
}

/* Readable enough to say what differs. */
void plane_identify(struct plane *plane, const char *path)
{
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(mpi, &length);
    snprintf(plane->identity, IDENTITY_MAX, "EPOP %s, MPI library %08x, program %016llx", EPOP_VERSION,
             (unsigned)hash_bytes(HASH_BEGIN, mpi, (size_t)length), (unsigned long long)hash_file(path));
}

static cJSON *hello(const struct plane *plane)
{
    char host[HOST_OWN_MAX];
    wire_host(host, sizeof host);
    cJSON *message = json_message(REPORT(hello));
    cJSON_AddStringToObject(message, "host", host);
    cJSON_AddNumberToObject(message, "pid", getpid());
    if (plane->identity[0])
        cJSON_AddStringToObject(message, "identity", plane->identity);
    if (plane->cores[0])
        cJSON_AddStringToObject(message, "cores", plane->cores);
    if (slurm_job())
        cJSON_AddNumberToObject(message, "slurm_job", slurm_job());
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

/* The others first: for them it takes longer. */
static void op_send_all(void *context, const int *processes, int count, const cJSON *message)
{
    control_send_all(processes, (size_t)count, message);
    for (int i = 0; i < count; i++)
        if (processes[i] == 0)
            op_send(context, 0, message);
}

/* For --verbose: "epop: committed 4 -> 1 at 'multiply', iteration 5", "epop: vacated n2". */
static void print_event(const cJSON *event)
{
    char change[64] = "", place[120] = "";
    const cJSON *made = cJSON_GetObjectItem(event, "checkpoint");
    const char *element = json_text(made ? made : event, "element"), *reason = json_text(event, "reason");
    const char *host = json_text(event, "host");
    if (cJSON_HasObjectItem(event, "adaptation"))
        snprintf(change, sizeof change, "%s %d -> %d", json_true(event, "balance") ? " balance" : "",
                 json_int(event, "from", 0), json_int(event, "to", 0));
    if (element)
        snprintf(place, sizeof place, " at '%s', iteration %lld", element,
                 (long long)json_int64(made ? made : event, "iteration", 0));
    say_line("%s%s%s%s%s%s%s", json_text(event, "event"), host ? " " : "", host ? host : "", change, place,
             reason ? ": " : "", reason ? reason : "");
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
    ending_abort(text);
}

static void op_fault(void *context, int rank)
{
    (void)context;
    by_fault = true;
    supervisor_lost(rank);
}

static void op_hosts(void *context, const char *hosts)
{
    (void)context;
    supervised_hosts(hosts);
}

static void op_lost_companion(void *context, int slurm_job)
{
    (void)context;
    beside_companion_lost(slurm_job);
}

static void op_say(void *context, const char *text, bool failing)
{
    (void)context;
    if (failing)
        ending_say_failing(text);
    else
        ending_say(text);
}

static void op_show(void *context, const struct bar_state *state)
{
    (void)context;
    bar_draw(state);
}

static double op_pace(void *context, uint64_t *count)
{
    struct member *member = ((struct plane *)context)->member;
    *count = ceiling_count(&member->ceiling);
    return tally_pace(&member->live.tally, &member->live.iteration);
}

static void op_note(void *context, const epop_adaptation_t *adaptation, const char *reason)
{
    (void)context;
    records_note(adaptation, reason);
}

static void op_note_checkpoint(void *context, const epop_checkpoint_t *checkpoint)
{
    (void)context;
    records_note_checkpoint(checkpoint);
}

static bool op_saves(void *context, enum save_level level, struct error *why)
{
    (void)context;
    return checkpoints_possible(level, why);
}

static void op_forget(void *context, const char *path)
{
    (void)context;
    checkpoints_forget(path);
}

static int op_ended(void *context, const char *stopped_by)
{
    (void)context;
    control_tell_end();
    return epop__records_finish(stopped_by) ? EXIT_FAILURE : EXIT_SUCCESS;
}

static const struct coordinator_ops coordinator_ops = {.send = op_send,
                                                       .send_all = op_send_all,
                                                       .publish = op_publish,
                                                       .answer = op_answer,
                                                       .fatal = op_fatal,
                                                       .fault = op_fault,
                                                       .hosts = op_hosts,
                                                       .lost_companion = op_lost_companion,
                                                       .say = op_say,
                                                       .pace = op_pace,
                                                       .note = op_note,
                                                       .note_checkpoint = op_note_checkpoint,
                                                       .saves = op_saves,
                                                       .forget = op_forget,
                                                       .ended = op_ended};

static void on_lost(void *context, int process)
{
    coordinator_lost(((struct plane *)context)->coordinator, process);
}

static void on_closed(void *context, int process)
{
    coordinator_closed(((struct plane *)context)->coordinator, process);
}

static void on_clock(int process, const struct report_clock *report)
{
    cJSON *time = clock_answer(report->said);
    control_send(process, time);
    cJSON_Delete(time);
}

#define TAKES_REPORT(name, function)                                                                                   \
    static void take_##name(int process, const void *report)                                                           \
    {                                                                                                                  \
        function(process, (const struct report_##name *)report);                                                       \
    }
TAKES_REPORT(clock, on_clock)
TAKES_REPORT(record, records_take_part)
TAKES_REPORT(recorded, records_take_answer)
TAKES_REPORT(write, records_take_failure)

typedef void (*taker)(int process, const void *report);

/* What is not the coordinator's. */
static const taker server_rows[MESSAGE_IDS] = {
    [report_clock_id] = take_clock,
    [report_record_id] = take_record,
    [report_recorded_id] = take_recorded,
    [report_write_id] = take_write,
};

static void on_member_message(void *context, const int *processes, int count, const cJSON *json)
{
    enum message_id id = message_named(KIND_REPORT, json);
    struct message message;
    struct error why;
    if (id == MESSAGE_NONE || !server_rows[id]) {
        coordinator_messages(((struct plane *)context)->coordinator, processes, count, json);
        return;
    }
    if (!message_decode(&message, KIND_REPORT, json, &why))
        message_refuse(&why);
    for (int i = 0; message.is && i < count; i++)
        server_rows[id](processes[i], message.is);
    message_free(&message);
}

static void on_request(void *context, struct wire_request *handle, const cJSON *request)
{
    coordinator_request(((struct plane *)context)->coordinator, handle, request);
}

static void on_abandoned(void *context, struct wire_request *handle)
{
    coordinator_abandoned(((struct plane *)context)->coordinator, handle);
}

static const struct wire_server_ops server_ops = {.lost = on_lost,
                                                  .closed = on_closed,
                                                  .message = on_member_message,
                                                  .request = on_request,
                                                  .abandoned = on_abandoned};

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

/* Process numbers of different hosts meet in the directory that these share. */
static void name_job(char *id, size_t size, const char *program)
{
    if (batch_job())
        snprintf(id, size, "%.40s-%.40s-%ld", program, batch_job(), (long)getpid());
    else
        snprintf(id, size, "%.60s-%ld", program, (long)getpid());
    for (char *p = id; *p; p++)
        if (*p == '/' || *p == ' ' || *p == ':')
            *p = *p == ':' ? '-' : '_';
}

/* Each process of this host has a connection to this one, and all of another host one. */
static void look_at_descriptors(int maximum)
{
    char line[240];
    int room = wire_server_room();
    if (room >= maximum)
        return;
    snprintf(line, sizeof line,
             "the job may have %d processes, and this one %d connections at most, of which each process of its host "
             "takes one, and each other host one: raise the hard limit of open files (ulimit -Hn)",
             maximum, room);
    ending_say(line);
}

static int serve(struct plane *plane, struct coordinator_config *config, struct error *error)
{
    char job_id[96];
    name_job(job_id, sizeof job_id, config->program->name);
    config->job = job_id;
    checkpoints_config(job_id, &config->checkpoint);
    config->ops = choose_ops(plane);
    config->context = plane;
    plane->coordinator = coordinator_start(config);
    if (!plane->coordinator) {
        return error_set(error, ERROR_FAILED, "cannot start the coordinator: out of memory or threads");
    }
    signals_install(plane->coordinator); /* before anybody sees the job */
    epop__records_begin(
        &(struct records_job){job_id, config->path, coordinator_backend_name(plane->coordinator), config->size});
    if (control_serve(&server_ops, plane, plane->uri, plane->token, error))
        return -1;
    serving = true;
    look_at_descriptors(config->maximum);
    cJSON *message = hello(plane);
    coordinator_message(plane->coordinator, 0, message);
    cJSON_Delete(message);
    return supervised_begin(plane->member, error);
}

int plane_open(const struct plane *plane, const epop_program_t *program, struct error *error)
{
    cJSON *about = cJSON_CreateObject();
    cJSON_AddStringToObject(about, "program", program->name);
    int failed = control_advertise(coordinator_job(plane->coordinator), about, error);
    cJSON_Delete(about);
    if (!failed)
        beside_attend(control_address_file());
    if (!failed && !plane->no_gateway)
        beside_gateway(control_address_file(), plane->verbose);
    return failed;
}

/* ---- Every other process: the attachment -------------------------------------------- */

/* The reason has been printed. Where process 0 is about to end, one that ended earlier would disturb it. */
static void on_abort(void *context, const struct order_abort *order)
{
    struct plane *plane = context;
    if (order->wait)
        plane->aborting = true;
    else
        ending_end(NULL, order->status);
}

static void on_clock_answer(void *context, const struct order_clock *order)
{
    (void)context;
    clock_answered(order->said);
}

static void on_records_wanted(void *context, const struct order_record *order)
{
    (void)context;
    records_give(order);
}

static void on_records_written(void *context, const struct order_written *order)
{
    (void)context, (void)order;
    records_are_written();
}

TAKES(order, abort, on_abort)
TAKES(order, clock, on_clock_answer)
TAKES(order, record, on_records_wanted)
TAKES(order, written, on_records_written)

static const struct message_row follower_rows[] = {
    {order_abort_id, order_abort_taken},
    {order_clock_id, order_clock_taken},
    {order_record_id, order_record_taken},
    {order_written_id, order_written_taken},
};

static void on_message(void *context, const cJSON *message)
{
    member_receive(((struct plane *)context)->member, message);
}

static void on_server_lost(void *context)
{
    const struct plane *plane = context;
    if (plane->aborting)
        ending_end(NULL, 1);
    if (!member_is_finished(plane->member))
        ending_abort("the connection to rank 0's control plane is lost; this process ends");
}

static const struct control_member_ops member_ops = {.message = on_message, .lost = on_server_lost};

static void attach(struct plane *plane)
{
    struct error error = {0};
    if (control_attach(plane->uri, plane->token, plane->member->process, &member_ops, plane, ATTACH_TIMEOUT_MS, &error))
        ending_abort(error.text);
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

static void plane_init(struct plane *plane, struct member *member)
{
    cpu_set_t cores;
    if (binding_own(&cores))
        binding_text(&cores, plane->cores);
    MPI_Comm_size(MPI_COMM_WORLD, &launch);
    ending_set(&ending_hooks);
    plane->member = member;
    pthread_mutex_init(&plane->lock, NULL);
    plane->undelivered = cJSON_CreateArray();
}

static int follow(struct plane *plane, struct error *error)
{
    member_understand(plane->member, follower_rows, sizeof follower_rows / sizeof *follower_rows, plane);
    if (!plane->uri[0] || !plane->token[0]) {
        return error_set(error, ERROR_FAILED, "cannot attach to the control plane");
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

int plane_start(struct plane *plane, struct member *member, struct coordinator_config *config, struct error *error)
{
    int failed = 0;
    plane_init(plane, member);
    bool other_hosts = spans_hosts();
    if (member->process == 0 &&
        (other_hosts || batch_job() || config->maximum > config->processes)) /* who joins, or asks, may be anywhere */
        control_reach_hosts();
    if (member->process == 0)
        failed = serve(plane, config, error);
    MPI_Bcast(plane->uri, sizeof plane->uri, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Bcast(plane->token, sizeof plane->token, MPI_CHAR, 0, MPI_COMM_WORLD);
    return member->process == 0 ? failed : follow(plane, error);
}

int plane_follow(struct plane *plane, struct member *member, const char *uri, const char *token, struct error *error)
{
    plane_init(plane, member);
    snprintf(plane->uri, sizeof plane->uri, "%s", uri);
    snprintf(plane->token, sizeof plane->token, "%s", token);
    return follow(plane, error);
}

bool plane_stop(struct plane *plane, char *stuck, size_t size)
{
    bool all = true;
    if (plane->member->process == 0) {
        all = coordinator_wait(plane->coordinator, stuck, size);
        bar_close();
        beside_end();
        if (all) {
            serving = false;
            control_unserve(DETACH_TIMEOUT_MS);
            coordinator_destroy(plane->coordinator);
        }
    } else {
        control_detach(member_is_finished(plane->member));
    }
    pthread_mutex_destroy(&plane->lock);
    return all;
}
