/* The jobs of this user: which one a command means, all of them asked at once, and epopctl list. */
#include "epopctl/jobs.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "epopctl/client.h"
#include "epopctl/command.h"
#include "runtime/base/batch.h"
#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/wire/link.h"
#include "runtime/wire/loop.h"
#include "runtime/wire/messages.h"
#include "runtime/wire/socket.h"
#include "terminal/output.h"

/* ---- Which ones can be reached ------------------------------------------------------------------ */

#define LISTEN_LIMIT_MS 1000

/* Whether something listens where a job said that it does: for those of other hosts, whose processes cannot be looked
 * at. Takes a second at most. */
static bool job_listens(const struct control_job *job)
{
    struct wire_target target;
    if (wire_target_of(job->uri, &target))
        return true; /* not known */
    int fd = target.path[0] ? wire_connect_path(target.path)
                            : wire_connect_address((const struct sockaddr *)&target.address, sizeof target.address);
    int error = 0;
    socklen_t size = sizeof error;
    struct pollfd done = {.fd = fd, .events = POLLOUT};
    if (fd < 0)
        return errno == EAGAIN; /* many others ask it just now */
    bool listens =
        poll(&done, 1, LISTEN_LIMIT_MS) == 1 && !getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) && !error;
    close(fd);
    return listens;
}

/* ---- Which one is meant ------------------------------------------------------------------------- */

static bool is_named(const struct control_job *job, const char *name)
{
    return !strcmp(job->id, name) || !strcmp(job->batch, name);
}

static bool begins_so(const struct control_job *job, const char *name)
{
    return !strncmp(job->id, name, strlen(name));
}

static bool is_of_our_batch_job(const struct control_job *job, const char *name)
{
    (void)name;
    return batch_job() && !strcmp(job->batch, batch_job());
}

/* A file of another host may be that of a job which was killed there; it is not ours to remove. */
static bool is_reachable(const struct control_job *job, const char *name)
{
    (void)name;
    return job->here || job_listens(job);
}

/* Keeps those that are so, if there are any. How many there are then. */
static int keep_if_any(struct control_job *jobs, int count, bool (*are)(const struct control_job *, const char *),
                       const char *name)
{
    int kept = 0;
    for (int i = 0; i < count; i++)
        kept += are(&jobs[i], name);
    if (!kept)
        return count;
    kept = 0;
    for (int i = 0; i < count; i++)
        if (are(&jobs[i], name))
            jobs[kept++] = jobs[i];
    return kept;
}

static int matching_jobs(struct control_job *jobs, int count, const char *name)
{
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (!name || is_named(&jobs[i], name) || begins_so(&jobs[i], name))
            jobs[kept++] = jobs[i];
    if (kept > 1 && name)
        kept = keep_if_any(jobs, kept, is_named, name); /* the whole name, though others may begin with it */
    if (kept > 1 && !name)
        kept = keep_if_any(jobs, kept, is_of_our_batch_job, name);
    return kept > 1 ? keep_if_any(jobs, kept, is_reachable, name) : kept;
}

/* Every job whose id begins so, in one line. */
static void complain_of_many(const char *name, const struct control_job *jobs, int count)
{
    char text[1024] = "";
    size_t used = 0;
    for (int i = 0; i < count && used < sizeof text - 160; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, " %s", jobs[i].id);
    if (!name)
        term_complain("which job?%s", text);
    else
        term_complain("\"%s\" may be any of%s", name, text);
}

int ctl_job_select(const char *name, struct control_job *job)
{
    struct control_job *jobs;
    int count = control_jobs(&jobs), matches = matching_jobs(jobs, count, name), code = COMMAND_DONE;
    if (matches == 1) {
        *job = jobs[0];
    } else if (matches > 1) {
        complain_of_many(name, jobs, matches);
        code = COMMAND_USAGE;
    } else {
        if (!name)
            term_complain("no job is running (of this user, on this host)");
        else
            term_complain("there is no job \"%s\" (see epopctl list)", name);
        code = COMMAND_NO_JOB;
    }
    free(jobs);
    return code;
}

/* ---- Jobs that are about to come ----------------------------------------------------------------- */

#define LOOK_AGAIN_NS 50000000

double ctl_deadline(const struct options *arguments)
{
    return monotonic_seconds() + arguments->timeout_ms / 1e3;
}

bool ctl_may_look_again(double until)
{
    if (monotonic_seconds() >= until)
        return false;
    nanosleep(&(struct timespec){.tv_nsec = LOOK_AGAIN_NS}, NULL);
    return true;
}

static bool is_there(const char *name)
{
    struct control_job *jobs;
    int count = control_jobs(&jobs), matches = matching_jobs(jobs, count, name);
    free(jobs);
    return matches > 0;
}

int ctl_job_await(const char *name, double until)
{
    while (!is_there(name))
        if (!ctl_may_look_again(until)) {
            term_complain("no job%s%s has come up in time (of this user, on this host)", name ? " " : "",
                          name ? name : "");
            return COMMAND_TIMEOUT;
        }
    return COMMAND_DONE;
}

bool ctl_is_starting(const cJSON *status)
{
    return !strcmp(term_text(status, "state", ""), "starting");
}

/* ---- All at once: one that does not answer holds up none of the others -------------------------- */

#define ANSWER_LIMIT_S 5

struct round {
    struct event_base *base;
    double keep;
    int open; /* jobs that are still asked */
    bool over;
};

struct question {
    struct round *round;
    struct wire_link *link;
    cJSON *status; /* NULL: the job does not answer */
};

static void question_finish(struct question *question)
{
    struct round *round = question->round;
    round->over = !--round->open;
    if (round->over)
        wire_wake(round->base);
}

/* Takes the request. */
static void question_ask(struct question *question, cJSON *request,
                         void (*answered)(void *context, cJSON *answer, const struct error *why))
{
    if (wire_link_ask(question->link, request, ANSWER_LIMIT_S, answered, question))
        question_finish(question);
    cJSON_Delete(request);
}

/* One that cannot measure, or not now, has a status all the same. */
static void on_measure(void *context, cJSON *answer, const struct error *why)
{
    struct question *question = context;
    cJSON *measure = why ? NULL : cJSON_DetachItemFromObject(answer, "measure");
    if (measure)
        cJSON_AddItemToObject(question->status, "measure", measure);
    cJSON_Delete(answer);
    question_finish(question);
}

/* Tops of one terminal are one asker. */
static cJSON *measure_request(double keep)
{
    char asker[48];
    cJSON *request = json_message(REQUEST(measure));
    snprintf(asker, sizeof asker, "top-%ld", (long)getsid(0));
    cJSON_AddStringToObject(request, "asker", asker);
    cJSON_AddNumberToObject(request, "keep", keep);
    return request;
}

static void on_status(void *context, cJSON *answer, const struct error *why)
{
    struct question *question = context;
    question->status = why ? NULL : cJSON_DetachItemFromObject(answer, "job");
    cJSON_Delete(answer);
    if (question->status && question->round->keep > 0)
        question_ask(question, measure_request(question->round->keep), on_measure);
    else
        question_finish(question);
}

/* The line for a job that is not reached says all there is to say. */
static void on_job_attached(void *context, const struct error *why_not)
{
    if (why_not)
        question_finish(context);
    else
        question_ask(context, json_message(REQUEST(status)), on_status);
}

static void ignore_event(void *context, const cJSON *event)
{
    (void)context, (void)event;
}

static void ask_all_at_once(struct round *round, const struct control_job *jobs, struct question *questions, int count)
{
    static const struct wire_link_ops ops = {on_job_attached, ignore_event, NULL};
    struct error error;
    for (int i = 0; i < count; i++) {
        questions[i].round = round;
        questions[i].link = wire_link_open(round->base, jobs[i].uri, jobs[i].token, WIRE_TOOL, 0, &ops, &questions[i],
                                           ANSWER_LIMIT_S, &error);
        round->open += !!questions[i].link;
    }
    if (round->open)
        wire_wait(round->base, &round->over, -1); /* links and requests have limits */
    for (int i = 0; i < count; i++)
        if (questions[i].link)
            wire_link_close(questions[i].link);
}

/* What is known of a job that does not answer. */
static cJSON *unreachable_status(const struct control_job *job)
{
    cJSON *status = cJSON_CreateObject();
    cJSON_AddStringToObject(status, "job", job->id);
    cJSON_AddStringToObject(status, "program", job->program);
    cJSON_AddStringToObject(status, "state", "unreachable");
    return status;
}

int ctl_ask_all(struct control_job **all, cJSON ***answers, double keep)
{
    struct control_job *jobs;
    struct round round = {.base = wire_base_new(), .keep = keep};
    int count = control_jobs(&jobs), shown = 0;
    struct question *questions = calloc((size_t)count + 1, sizeof *questions);
    cJSON **statuses = calloc((size_t)count + 1, sizeof(cJSON *));
    if (round.base && questions && statuses)
        ask_all_at_once(&round, jobs, questions, count);
    else
        term_complain("out of memory");
    for (int i = 0; questions && statuses && i < count; i++) {
        if (!questions[i].status && !control_job_alive(&jobs[i]))
            continue; /* it ended while it was asked */
        jobs[shown] = jobs[i];
        statuses[shown++] = questions[i].status ? questions[i].status : unreachable_status(&jobs[i]);
    }
    shown = round.base && questions && statuses ? shown : -1;
    if (round.base)
        event_base_free(round.base);
    free(questions);
    *all = jobs;
    *answers = statuses;
    return shown;
}

/* ---- epopctl list ------------------------------------------------------------------------------- */

static void add_job_row(struct term_table *table, const cJSON *status, const struct control_job *job)
{
    char size[32] = "-", standby[32] = "-", uptime[32] = "-", iteration[32] = "-", place[CONTROL_PLACE_MAX];
    const cJSON *element = cJSON_GetObjectItem(status, "element");
    if (cJSON_HasObjectItem(status, "size")) {
        snprintf(size, sizeof size, "%.0f", json_number(status, "size", 0));
        snprintf(standby, sizeof standby, "%.0f", json_number(status, "standby", 0));
        term_duration(json_number(status, "uptime", 0), uptime);
    }
    if (cJSON_HasObjectItem(element, "iteration"))
        snprintf(iteration, sizeof iteration, "%.0f", json_number(element, "iteration", 0));
    control_job_place(job, place);
    term_table_add(table, (const char *[]){job->id, term_text(status, "state", "?"), size, standby,
                                           term_text(element, "name", "-"), iteration, place, uptime});
}

static void print_jobs(const struct control_job *jobs, cJSON **statuses, int count, bool json)
{
    static const char *const titles[] = {"JOB", "STATE", "SIZE", "STANDBY", "ELEMENT", "ITERATION", "HOST", "UPTIME"};
    struct term_table *table = json ? NULL : term_table_new(8, titles);
    cJSON *array = cJSON_CreateArray();
    for (int i = 0; i < count; i++) {
        if (!json)
            add_job_row(table, statuses[i], &jobs[i]);
        cJSON_AddStringToObject(statuses[i], "host", jobs[i].host);
        cJSON_AddNumberToObject(statuses[i], "pid", jobs[i].process.number);
        if (jobs[i].apart)
            cJSON_AddBoolToObject(statuses[i], "apart", true);
        cJSON_AddItemToArray(array, statuses[i]);
    }
    if (json)
        term_print_json(array);
    else
        term_table_print(table);
    cJSON_Delete(array);
}

static void free_answers(struct control_job *jobs, cJSON **statuses, int count)
{
    for (int i = 0; i < count; i++)
        cJSON_Delete(statuses[i]);
    free(jobs);
    free(statuses);
}

static bool one_is_starting(cJSON **statuses, int count)
{
    for (int i = 0; i < count; i++)
        if (ctl_is_starting(statuses[i]))
            return true;
    return false;
}

int ctl_list(const struct options *arguments)
{
    struct control_job *jobs;
    cJSON **statuses;
    double until = ctl_deadline(arguments);
    int code = arguments->wait ? ctl_job_await(NULL, until) : COMMAND_DONE;
    if (code != COMMAND_DONE)
        return code;
    int count = ctl_ask_all(&jobs, &statuses, 0);
    while (arguments->wait && one_is_starting(statuses, count) && ctl_may_look_again(until)) {
        free_answers(jobs, statuses, count);
        count = ctl_ask_all(&jobs, &statuses, 0);
    }
    if (arguments->wait && one_is_starting(statuses, count))
        code = COMMAND_TIMEOUT;
    if (count == 0 && !arguments->json && term_for_people())
        puts("no job is running (of this user, on this host)");
    else if (count >= 0)
        print_jobs(jobs, statuses, count, arguments->json);
    free_answers(jobs, statuses, 0); /* what has been printed is gone */
    return count < 0 ? COMMAND_REFUSED : code;
}
