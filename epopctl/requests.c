/* The commands that tell a job to do something: they send a request, and print what the job answers. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "epopctl/client.h"
#include "epopctl/command.h"
#include "epopctl/jobs.h"
#include "runtime/base/child.h"
#include "runtime/base/clock.h"
#include "runtime/base/host.h"
#include "runtime/base/json.h"
#include "runtime/base/paths.h"
#include "runtime/wire/messages.h"
#include "terminal/output.h"

/* ---- epopctl pause, resume, cancel and note ----------------------------------------------------- */

/* What to say of an answer that is not the expected one, and its exit code. */
static int conclude_request(const cJSON *answer, const struct options *arguments, const char *done)
{
    int code = ctl_code_of(answer);
    if (arguments->json)
        term_print_json(answer);
    else if (code != COMMAND_DONE)
        term_complain("%s", term_text(answer, "reason", "refused, without a reason"));
    else if (cJSON_HasObjectItem(answer, "element"))
        printf("%s at %s, iteration %.0f\n", done, term_text(answer, "element", "?"),
               json_number(answer, "iteration", 0));
    else
        printf("%s\n", done);
    return code;
}

/* Takes the request. NULL with the exit code in *code. */
static cJSON *ask_selected_job(const struct options *arguments, cJSON *request, int *code)
{
    struct control_job job;
    *code = ctl_job_select(arguments->job, &job);
    cJSON *answer = *code == COMMAND_DONE ? ctl_ask_job(&job, request, arguments->timeout_ms, code) : NULL;
    cJSON_Delete(request);
    return answer;
}

static int ask_simply(const struct options *arguments, cJSON *request, const char *done)
{
    int code;
    cJSON *answer = ask_selected_job(arguments, request, &code);
    if (answer)
        code = conclude_request(answer, arguments, done);
    cJSON_Delete(answer);
    return code;
}

static int ask_bare(const struct options *arguments, const char *op, const char *done)
{
    return ask_simply(arguments, json_message(op), done);
}

int ctl_pause(const struct options *arguments)
{
    return ask_bare(arguments, REQUEST(pause), "paused");
}

int ctl_resume(const struct options *arguments)
{
    return ask_bare(arguments, REQUEST(resume), "resumed");
}

int ctl_cancel(const struct options *arguments)
{
    return ask_bare(arguments, REQUEST(cancel), "cancelled");
}

int ctl_note(const struct options *arguments)
{
    cJSON *request = json_message(REQUEST(note));
    cJSON_AddStringToObject(request, "text", arguments->text);
    return ask_simply(arguments, request, "said");
}

/* ---- epopctl resize --companions ---------------------------------------------------------------- */

/*
 * With +N --companions N one-node Slurm jobs that lend their nodes wait in the queue from then on. It is
 * lib/epop/companion that submits them, from here: the job hears of each when Slurm has started it.
 */

#define MANY 10000

/* Each is to bring as many ranks as the job's first node has. */
static int ranks_per_node(const cJSON *status)
{
    const cJSON *processes = cJSON_GetObjectItemCaseSensitive(status, "processes"), *one;
    const char *host = "";
    int ranks = 0;
    cJSON_ArrayForEach(one, processes) if (json_number(one, "rank", -1) == 0) host = term_text(one, "host", "");
    cJSON_ArrayForEach(one, processes) ranks +=
        json_number(one, "rank", -1) >= 0 && !strcmp(term_text(one, "host", ""), host);
    return ranks > 0 ? ranks : 1;
}

static int submit_companions(const char *job, const char *count, int ranks, const char *of)
{
    char helper[PATH_MAX], each[16];
    int status = 0;
    pid_t pid;
    snprintf(each, sizeof each, "%d", ranks);
    const struct spawn what = {.argv = (char *[]){helper, "queue", (char *)job, (char *)count, each, (char *)of, NULL},
                               .in = SPAWN_NOTHING,
                               .out = STDOUT_FILENO,
                               .err = STDERR_FILENO};
    if (tree_path("lib/epop/companion", helper, sizeof helper) || spawn_program(&what, &pid)) {
        term_complain("resize: lib/epop/companion cannot be started");
        return COMMAND_REFUSED;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? COMMAND_DONE : COMMAND_REFUSED;
}

static int queue_companions(const struct options *arguments)
{
    struct control_job job;
    long count = arguments->size && arguments->size[0] == '+' ? strtol(arguments->size + 1, NULL, 10) : 0;
    int code = COMMAND_USAGE;
    if (count < 1 || count > MANY || arguments->hosts || arguments->release || arguments->release_ranks ||
        arguments->slurm_job || arguments->wait || arguments->json) {
        term_complain("resize: --companions goes with +N alone, the one-node jobs to be queued");
        return code;
    }
    if ((code = ctl_job_select(arguments->job, &job)) != COMMAND_DONE)
        return code;
    if (strncmp(job.batch, "slurm:", 6)) {
        term_complain("resize: %s is not in Slurm, so it has no companions", job.id);
        return COMMAND_REFUSED;
    }
    cJSON *request = json_message(REQUEST(status));
    cJSON *status = ctl_ask_job(&job, request, arguments->timeout_ms, &code);
    cJSON_Delete(request);
    if (status)
        code = submit_companions(job.id, arguments->size + 1, ranks_per_node(status), job.batch + 6);
    cJSON_Delete(status);
    return code;
}

/* ---- epopctl resize ----------------------------------------------------------------------------- */

static int add_wanted_size(cJSON *request, const char *text)
{
    char *end;
    if (!text)
        return 0;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (*end || errno != 0 || number < INT_MIN || number > INT_MAX) {
        term_complain("resize: %s is out of range", text);
        return -1;
    }
    cJSON_AddNumberToObject(request, text[0] == '+' || text[0] == '-' ? "delta" : "size", (double)number);
    return 0;
}

static int add_released_ranks(cJSON *request, const char *text)
{
    if (!text)
        return 0;
    cJSON *ranks = cJSON_AddArrayToObject(request, "release_ranks");
    for (const char *at = text;; at++) {
        char *end;
        errno = 0;
        long rank = strtol(at, &end, 10);
        if (end == at || (*end != ',' && *end) || errno != 0 || rank < 0 || rank > INT_MAX) {
            term_complain("resize: --release-ranks: \"%s\" is no list of ranks, as 3,5", text);
            return -1;
        }
        cJSON_AddItemToArray(ranks, cJSON_CreateNumber((double)rank));
        if (!*end)
            return 0;
        at = end;
    }
}

/* The number of a Slurm job, which ends at a comma or the text's end; 0: it is none. */
static int slurm_number(const char *text)
{
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && (!*end || *end == ',') && !errno && number <= INT_MAX ? (int)number : 0;
}

/* JOB, or HOST=JOB,... */
static int add_slurm_jobs(cJSON *request, const char *text)
{
    if (!text)
        return 0;
    if (slurm_number(text) && !strchr(text, ',')) {
        cJSON_AddNumberToObject(request, "slurm_job", slurm_number(text));
        return 0;
    }
    cJSON *jobs = cJSON_AddObjectToObject(request, "slurm_jobs");
    for (const char *at = text; *at; at += strcspn(at, ","), at += *at == ',') {
        char host[HOST_MAX];
        size_t length = strcspn(at, "=,");
        int number = at[length] == '=' ? slurm_number(at + length + 1) : 0;
        if (!number || !length || length >= sizeof host) {
            term_complain(
                "resize: --slurm-job: \"%s\" is neither a job's number, as 17, nor hosts with theirs, as n2=17,n3=18",
                text);
            return -1;
        }
        snprintf(host, sizeof host, "%.*s", (int)length, at);
        cJSON_AddNumberToObject(jobs, host, number);
    }
    return 0;
}

/* NULL after one line on stderr. */
static cJSON *resize_request(const struct options *arguments)
{
    cJSON *request = json_message(REQUEST(resize));
    if (arguments->vacated)
        cJSON_AddStringToObject(request, "wait", "vacated");
    else if (arguments->wait)
        cJSON_AddTrueToObject(request, "wait");
    if (arguments->hosts)
        cJSON_AddStringToObject(request, "add_hosts", arguments->hosts);
    if (arguments->release)
        cJSON_AddStringToObject(request, "release_hosts", arguments->release);
    if (arguments->pset)
        cJSON_AddStringToObject(request, "pset", arguments->pset);
    if (!add_wanted_size(request, arguments->size) && !add_released_ranks(request, arguments->release_ranks) &&
        !add_slurm_jobs(request, arguments->slurm_job))
        return request;
    cJSON_Delete(request);
    return NULL;
}

static void describe_resize(const cJSON *answer, char text[400])
{
    const char *note = term_text(answer, "note", "");
    const char *verb = !strcmp(term_text(answer, "code", ""), "done") ? "done" : "accepted";
    char change[64] = "";
    if (cJSON_HasObjectItem(answer, "from"))
        snprintf(change, sizeof change, "%.0f -> %.0f", json_number(answer, "from", 0), json_number(answer, "size", 0));
    else
        snprintf(change, sizeof change, "%.0f", json_number(answer, "size", 0));
    const cJSON *vacated = cJSON_GetObjectItemCaseSensitive(answer, "vacated");
    const char *left = cJSON_IsFalse(vacated) ? "; processes that left still run" : "";
    snprintf(text, 400, "%s: %s%s%.200s%s", verb, change, !note[0] ? "" : "; ", note, left);
}

int ctl_resize(const struct options *arguments)
{
    if (arguments->companions)
        return queue_companions(arguments);
    cJSON *request = resize_request(arguments), *answer = NULL;
    char text[400];
    struct control_job job;
    int code = COMMAND_USAGE;
    if (request)
        code = ctl_job_select(arguments->job, &job);
    if (request && code == COMMAND_DONE)
        answer = ctl_ask_job(&job, request, arguments->timeout_ms, &code);
    if (answer) {
        describe_resize(answer, text);
        code = conclude_request(answer, arguments, text);
    } else if (code == COMMAND_TIMEOUT) {
        term_complain("the resize may still happen: epopctl cancel withdraws it");
    }
    cJSON_Delete(answer);
    cJSON_Delete(request);
    return code;
}

/* ---- epopctl balance ---------------------------------------------------------------------------- */

int ctl_balance(const struct options *arguments)
{
    cJSON *request = json_message(REQUEST(balance)), *answer;
    char done[80] = "accepted";
    int code;
    if (arguments->wait)
        cJSON_AddTrueToObject(request, "wait");
    answer = ask_selected_job(arguments, request, &code);
    if (cJSON_HasObjectItem(answer, "imbalance"))
        snprintf(done, sizeof done, "done: the imbalance was %.3f", json_number(answer, "imbalance", 0));
    if (answer)
        code = conclude_request(answer, arguments, done);
    else if (code == COMMAND_TIMEOUT)
        term_complain("the balance may still happen: epopctl cancel withdraws it");
    cJSON_Delete(answer);
    return code;
}

/* ---- epopctl stop ------------------------------------------------------------------------------- */

/* The connection ends before the process does, so its process is looked at too. */
static int wait_gone(const struct control_job *job, int timeout_ms)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    double end = monotonic_seconds() + timeout_ms / 1e3;
    if (ctl_wait_end(timeout_ms))
        return -1;
    ctl_disconnect();
    while (job->here && control_job_alive(job)) {
        if (monotonic_seconds() > end)
            return -1;
        nanosleep(&pause, NULL);
    }
    return 0;
}

/* "stopping; it waits for rank 1 in MPI_Recv for 12 s ..." */
static int conclude_stop(const cJSON *answer, const struct options *arguments)
{
    char text[1200];
    const char *note = term_text(answer, "note", "");
    snprintf(text, sizeof text, "stopping%s%s", note[0] ? "; " : "", note);
    return conclude_request(answer, arguments, text);
}

/* The program has come to its end on all ranks. */
static void note_finished_event(void *context, const cJSON *event)
{
    bool *finished = context;
    *finished = *finished || !strcmp(term_text(event, "event", ""), "finished");
}

/* What happens is told before it is asked to stop. */
static cJSON *ask_to_stop(const struct options *arguments, const struct control_job *job, bool *finished, int *code)
{
    cJSON *watch = json_message(REQUEST(watch)), *stop = json_message(REQUEST(stop)), *answer = NULL;
    *code = ctl_connect(job, note_finished_event, finished, arguments->timeout_ms);
    if (*code == COMMAND_DONE && (answer = ctl_ask(watch, arguments->timeout_ms, code))) {
        cJSON_Delete(answer);
        answer = ctl_ask(stop, arguments->timeout_ms, code);
    }
    if (!strcmp(term_text(answer, "code", ""), "done"))
        *finished = true;
    cJSON_Delete(watch);
    cJSON_Delete(stop);
    return answer;
}

static int conclude_end(const struct control_job *job, bool finished)
{
    if (finished)
        puts("stopped");
    else
        term_complain("%s was told to stop, and died before it had: its output says why", job->id);
    return finished ? COMMAND_DONE : COMMAND_REFUSED;
}

static int stop_and_wait(const struct options *arguments, const struct control_job *job)
{
    bool finished = false;
    int code;
    cJSON *answer = ask_to_stop(arguments, job, &finished, &code);
    if (!answer)
        return code;
    const char *note = json_text(answer, "note");
    code = ctl_code_of(answer);
    if (code == COMMAND_DONE && note)
        term_complain("%s", note);
    if (code == COMMAND_REFUSED || code == COMMAND_TIMEOUT) {
        code = conclude_request(answer, arguments, "");
        ctl_disconnect();
    } else if (wait_gone(job, arguments->timeout_ms)) {
        term_complain("%s is still there after %g s; epopctl stop --force ends it at once", job->id,
                      arguments->timeout_ms / 1e3);
        code = COMMAND_TIMEOUT;
    } else {
        code = conclude_end(job, finished);
    }
    cJSON_Delete(answer);
    return code;
}

static int stop_only(const struct options *arguments)
{
    int code;
    cJSON *answer = ask_selected_job(arguments, json_message(REQUEST(stop)), &code);
    if (answer)
        code = conclude_stop(answer, arguments);
    cJSON_Delete(answer);
    return code;
}

int ctl_stop(const struct options *arguments)
{
    struct control_job job;
    int code;
    if (arguments->force)
        return ctl_force(arguments);
    if (!arguments->wait)
        return stop_only(arguments);
    if ((code = ctl_job_select(arguments->job, &job)) != COMMAND_DONE)
        return code;
    return stop_and_wait(arguments, &job);
}

/* ---- epopctl break, step and continue: a job that runs under the debug driver ------------------- */

/* "stopped before work, iteration 5", and for each rank how to get at it. */
static void print_stop(const cJSON *answer)
{
    const cJSON *rank;
    printf("stopped before %s, iteration %.0f\n", term_text(answer, "element", "?"),
           json_number(answer, "iteration", 0));
    cJSON_ArrayForEach(rank, cJSON_GetObjectItem(answer, "ranks"))
    {
        const char *block = term_text(rank, "block", "");
        printf("rank %.0f on %s: gdb -p %.0f%s%s%s\n", json_number(rank, "rank", 0), term_text(rank, "host", "?"),
               json_number(rank, "pid", 0), !block[0] ? "" : " -ex 'tbreak *", block, !block[0] ? "" : "'");
    }
}

static void print_done(const cJSON *answer, const char *done)
{
    const char *note = term_text(answer, "note", "");
    if (cJSON_HasObjectItem(answer, "ranks"))
        print_stop(answer);
    else
        printf("%s%s%s\n", done, !note[0] ? "" : "; ", note);
}

/* Takes the request. */
static int ask_debugged_job(const struct options *arguments, cJSON *request, const char *done)
{
    struct control_job job;
    int code = ctl_job_select(arguments->job, &job);
    cJSON *answer = code == COMMAND_DONE ? ctl_ask_job(&job, request, arguments->timeout_ms, &code) : NULL;
    if (answer && (code = ctl_code_of(answer)) == COMMAND_DONE && !arguments->json)
        print_done(answer, done);
    else if (answer && !arguments->json)
        term_complain("%s", term_text(answer, "reason", "refused, without a reason"));
    else if (answer)
        term_print_json(answer);
    cJSON_Delete(answer);
    cJSON_Delete(request);
    return code;
}

int ctl_break(const struct options *arguments)
{
    cJSON *request = json_message(REQUEST(break));
    cJSON_AddStringToObject(request, "at", arguments->breakpoint);
    if (arguments->remove)
        cJSON_AddTrueToObject(request, "remove");
    if (arguments->wait)
        cJSON_AddTrueToObject(request, "wait");
    return ask_debugged_job(arguments, request, arguments->remove ? "removed" : "set");
}

int ctl_step(const struct options *arguments)
{
    return ask_debugged_job(arguments, json_message(REQUEST(step)), "going on");
}

int ctl_continue(const struct options *arguments)
{
    return ask_debugged_job(arguments, json_message(REQUEST(continue)), "going on");
}

/* ---- epopctl checkpoint: the job saves its described data --------------------------------------- */

/* "/scratch/heat-17-0003.h5  1.00 MiB in 0.251 s, at iterate, iteration 120; the ranks stood still for 0.253 s" */
static void print_checkpoint_for_people(const cJSON *made)
{
    char bytes[32];
    term_bytes(json_number(made, "bytes", 0), bytes);
    printf("%s  %s in %.3f s, at %s, iteration %.0f; the ranks stood still for %.3f s\n", term_text(made, "path", "?"),
           bytes, json_number(made, "seconds", 0), term_text(made, "element", "?"), json_number(made, "iteration", 0),
           json_number(made, "stall", 0));
}

/* path, bytes, seconds, stall, element, iteration */
static void print_checkpoint_for_programs(const cJSON *made)
{
    printf("%s\t%.0f\t%.6f\t%.6f\t%s\t%.0f\n", term_text(made, "path", "?"), json_number(made, "bytes", 0),
           json_number(made, "seconds", 0), json_number(made, "stall", 0), term_text(made, "element", "?"),
           json_number(made, "iteration", 0));
}

static void print_checkpoint_answer(const cJSON *answer, const struct options *arguments)
{
    const cJSON *made = cJSON_GetObjectItem(answer, "checkpoint");
    if (arguments->json)
        term_print_json(answer);
    else if (!json_true(answer, "ok"))
        term_complain("%s", term_text(answer, "reason", "refused, without a reason"));
    else if (!made)
        puts("accepted");
    else if (term_for_people())
        print_checkpoint_for_people(made);
    else
        print_checkpoint_for_programs(made);
}

int ctl_checkpoint(const struct options *arguments)
{
    struct control_job job;
    int code = ctl_job_select(arguments->job, &job);
    if (code != COMMAND_DONE)
        return code;
    cJSON *request = json_message(REQUEST(checkpoint));
    if (arguments->wait)
        cJSON_AddTrueToObject(request, "wait");
    cJSON *answer = ctl_ask_job(&job, request, arguments->timeout_ms, &code);
    cJSON_Delete(request);
    if (answer) {
        print_checkpoint_answer(answer, arguments);
        code = ctl_code_of(answer);
    } else if (code == COMMAND_TIMEOUT) {
        term_complain("the checkpoint may still be made: epopctl watch shows it");
    }
    cJSON_Delete(answer);
    return code;
}
