/* What a daemon of epoprm answers: jobs, nodes and events as JSON, and each request by a row of the table at the end.
 */
#include "scheduler/daemon/answers.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/batch.h"
#include "runtime/base/json.h"

/* ---- Jobs, nodes and events --------------------------------------------------------------------- */

/* What is not known is left out. */
static bool add_time(cJSON *object, const char *name, double value)
{
    return value < 0 || !isfinite(value) || cJSON_AddNumberToObject(object, name, value);
}

static bool add_known(cJSON *object, const char *name, double value)
{
    return !(value > 0) || cJSON_AddNumberToObject(object, name, value);
}

static bool add_number(cJSON *object, const char *name, double value)
{
    return cJSON_AddNumberToObject(object, name, value);
}

static bool add_text(cJSON *object, const char *name, const char *text)
{
    return cJSON_AddStringToObject(object, name, text ? text : "");
}

static bool add_some_text(cJSON *object, const char *name, const char *text)
{
    return !text || !*text || cJSON_AddStringToObject(object, name, text);
}

static cJSON *whole_or_none(cJSON *object, bool complete)
{
    if (complete)
        return object;
    cJSON_Delete(object);
    return NULL;
}

cJSON *answers_job(const struct daemon_job *job)
{
    cJSON *object = cJSON_CreateObject();
    bool complete = object && add_number(object, "job", (double)job->number) && add_text(object, "name", job->name) &&
                    add_text(object, "kind", job->kind) && add_text(object, "state", job->state) &&
                    add_some_text(object, "reason", job->reason) && add_number(object, "ranks_min", job->ranks_min) &&
                    add_number(object, "ranks_max", job->ranks_max) &&
                    add_number(object, "nodes_min", job->nodes_min) &&
                    add_number(object, "nodes_max", job->nodes_max) && add_number(object, "nodes", job->nodes) &&
                    add_number(object, "target", job->target) && add_number(object, "ranks", job->ranks) &&
                    add_text(object, "hosts", job->hosts) && add_number(object, "submitted", job->submitted) &&
                    add_time(object, "started", job->started) && add_time(object, "limit", job->limit) &&
                    add_time(object, "left", job->left) && add_time(object, "reserved", job->reserved) &&
                    add_known(object, "joules", job->joules) && add_known(object, "leaves", job->leaves) &&
                    (!job->priority || add_number(object, "priority", job->priority)) &&
                    add_known(object, "deadline", job->deadline) &&
                    (!job->drop_late || cJSON_AddTrueToObject(object, "drop_late")) &&
                    add_some_text(object, "account", job->account) && add_time(object, "usage", job->usage) &&
                    (!job->held || cJSON_AddTrueToObject(object, "held"));
    return whole_or_none(object, complete);
}

static cJSON *answers_node(const struct daemon_node *node)
{
    cJSON *object = cJSON_CreateObject();
    bool complete = object && add_text(object, "node", node->name) && add_text(object, "host", node->host) &&
                    add_number(object, "slots", node->slots) && add_text(object, "state", node->state) &&
                    (node->job < 0 || add_number(object, "job", (double)node->job)) &&
                    add_some_text(object, "reason", node->reason) && add_time(object, "since", node->since) &&
                    add_known(object, "watts", node->watts) && add_some_text(object, "leaf", node->leaf) &&
                    add_known(object, "speed", node->speed);
    return whole_or_none(object, complete);
}

cJSON *answers_event(const struct journal_event *event)
{
    cJSON *object = cJSON_CreateObject();
    bool complete = object && add_text(object, "event", event->kind) && add_number(object, "time", event->time) &&
                    (event->job <= 0 || add_number(object, "job", (double)event->job)) &&
                    add_text(object, "text", event->text) && add_some_text(object, "state", event->state) &&
                    (!event->to || (add_number(object, "from", event->from) && add_number(object, "to", event->to))) &&
                    add_some_text(object, "nodes", event->nodes);
    return whole_or_none(object, complete);
}

/* ---- Answers to requests ----------------------------------------------------------------------------------- */

cJSON *answers_refusal(const char *code, const char *reason)
{
    cJSON *answer = cJSON_CreateObject();
    cJSON_AddFalseToObject(answer, "ok");
    cJSON_AddStringToObject(answer, "code", code);
    cJSON_AddStringToObject(answer, "reason", reason);
    return answer;
}

static cJSON *accepted(void)
{
    cJSON *answer = cJSON_CreateObject();
    cJSON_AddTrueToObject(answer, "ok");
    return answer;
}

static cJSON *answer_to(int failed, bool unknown, const struct error *error)
{
    return failed ? answers_refusal(unknown ? "unknown" : "refused", error->text) : accepted();
}

static cJSON *not_here(const char *op)
{
    struct error error;
    error_set(&error, ERROR_REFUSED, "%s: this daemon has no such request", op);
    return answers_refusal("refused", error.text);
}

/* ---- Submitting ------------------------------------------------------------------------------- */

/* An array of texts as words that end with NULL; they are the array's. NULL: it is none, or no memory. */
static const char **words_of(const cJSON *array)
{
    const char **words = cJSON_IsArray(array) ? calloc((size_t)cJSON_GetArraySize(array) + 1, sizeof *words) : NULL;
    size_t count = 0;
    for (const cJSON *item = words ? array->child : NULL; item; item = item->next)
        if (cJSON_IsString(item))
            words[count++] = item->valuestring;
    return words;
}

/* A pair of numbers; true where it is not there. */
static bool take_range(const cJSON *request, const char *name, int *least, int *most)
{
    const cJSON *range = cJSON_GetObjectItemCaseSensitive(request, name);
    const cJSON *first = cJSON_GetArrayItem(range, 0), *second = cJSON_GetArrayItem(range, 1);
    if (!range)
        return true;
    if (!cJSON_IsNumber(first) || !cJSON_IsNumber(second))
        return false;
    *least = first->valueint;
    *most = second->valueint;
    return *least >= 1 && *least <= *most;
}

/* Numbers of jobs, and 0 behind them; to be freed. NULL: they are none, or no memory. */
static int64_t *numbers_of(const cJSON *array)
{
    int64_t *numbers = calloc((size_t)cJSON_GetArraySize(array) + 1, sizeof *numbers);
    size_t count = 0;
    for (const cJSON *item = array ? array->child : NULL; numbers && item; item = item->next) {
        if (!cJSON_IsNumber(item) || !(item->valuedouble >= 1 && item->valuedouble < 9e15)) {
            free(numbers);
            return NULL;
        }
        numbers[count++] = (int64_t)item->valuedouble;
    }
    return numbers;
}

/* True where it is not there. */
static bool take_priority(const cJSON *request, int *priority)
{
    const cJSON *given = cJSON_GetObjectItemCaseSensitive(request, "priority");
    double number = cJSON_IsNumber(given) ? given->valuedouble : 0;
    *priority = (int)fmax(-DAEMON_PRIORITY_MAX, fmin(number, DAEMON_PRIORITY_MAX));
    return !given || (cJSON_IsNumber(given) && *priority >= number && *priority <= number);
}

/* True where it is not there. */
static bool take_account(const cJSON *request, const char **account)
{
    *account = json_text(request, "account");
    if (!*account)
        return !cJSON_HasObjectItem(request, "account");
    return batch_account(*account) && strlen(*account) <= DAEMON_ACCOUNT_MAX;
}

/* True where it is not there. */
static bool take_deadline(const cJSON *request, double *deadline)
{
    const cJSON *given = cJSON_GetObjectItemCaseSensitive(request, "deadline");
    *deadline = json_number(request, "deadline", 0);
    return !given || (cJSON_IsNumber(given) && *deadline >= 0 && isfinite(*deadline));
}

static bool read_submission(struct submission *submission, const cJSON *request)
{
    submission->name = json_text(request, "name");
    submission->cwd = json_text(request, "cwd");
    submission->output = json_text(request, "output");
    submission->limit = json_number(request, "limit", 0);
    submission->once = json_true(request, "once");
    submission->held = json_true(request, "held");
    submission->drop_late = json_true(request, "drop_late");
    return take_priority(request, &submission->priority) && take_account(request, &submission->account) &&
           take_deadline(request, &submission->deadline) && submission->after && submission->argv &&
           submission->argv[0] && submission->environment && submission->cwd && submission->cwd[0] == '/' &&
           submission->limit >= 0 && isfinite(submission->limit) &&
           (!submission->output || submission->output[0] == '/') &&
           take_range(request, "ranks", &submission->ranks_min, &submission->ranks_max) &&
           take_range(request, "nodes", &submission->nodes_min, &submission->nodes_max);
}

static cJSON *do_submit(const struct daemon_table *table, void *context, const struct submission *submission)
{
    struct error error;
    int64_t number = 0;
    int failed = table->submit(context, submission, &number, &error);
    cJSON *answer = answer_to(failed, false, &error);
    if (!failed)
        cJSON_AddNumberToObject(answer, "job", (double)number);
    return answer;
}

static cJSON *op_submit(const struct daemon_table *table, void *context, const cJSON *request)
{
    const char **argv = words_of(cJSON_GetObjectItemCaseSensitive(request, "argv"));
    const char **environment = words_of(cJSON_GetObjectItemCaseSensitive(request, "environment"));
    int64_t *after = numbers_of(cJSON_GetObjectItemCaseSensitive(request, "after"));
    struct submission submission = {.argv = argv, .environment = environment, .after = after};
    cJSON *answer =
        read_submission(&submission, request)
            ? do_submit(table, context, &submission)
            : answers_refusal("usage",
                              "submit: argv, environment, cwd, ranks, nodes, limit, after, priority, account or "
                              "deadline make no sense");
    free(after);
    free(argv);
    free(environment);
    return answer;
}

/* ---- The other requests --------------------------------------------------------------------------- */

static void append_job(void *to, const struct daemon_job *job)
{
    cJSON_AddItemToArray(to, answers_job(job));
}

static cJSON *op_queue(const struct daemon_table *table, void *context, const cJSON *request)
{
    (void)request;
    cJSON *answer = accepted();
    table->jobs(context, append_job, cJSON_AddArrayToObject(answer, "jobs"));
    return answer;
}

static void append_node(void *to, const struct daemon_node *node)
{
    cJSON_AddItemToArray(to, answers_node(node));
}

static cJSON *op_nodes(const struct daemon_table *table, void *context, const cJSON *request)
{
    (void)request;
    cJSON *answer = accepted();
    table->nodes(context, append_node, cJSON_AddArrayToObject(answer, "nodes"));
    return answer;
}

/* 0: it names none. */
static int64_t job_of(const cJSON *request)
{
    double job = json_number(request, "job", -1);
    return job >= 1 && job < 9e15 ? (int64_t)job : 0;
}

static cJSON *op_cancel(const struct daemon_table *table, void *context, const cJSON *request)
{
    struct error error;
    bool unknown = false;
    int64_t job = job_of(request);
    if (!job)
        return answers_refusal("usage", "cancel: which job?");
    int failed = table->cancel(context, job, &unknown, &error);
    return answer_to(failed, unknown, &error);
}

/* What keeps a job from the nodes, or not. */
static cJSON *put_off(int (*how)(void *context, int64_t job, bool held, bool *unknown, struct error *error),
                      void *context, const cJSON *request, bool held)
{
    struct error error;
    bool unknown = false;
    int64_t job = job_of(request);
    if (!job) {
        error_set(&error, ERROR_REFUSED, "%s: which job?", json_text(request, "op"));
        return answers_refusal("usage", error.text);
    }
    int failed = how(context, job, held, &unknown, &error);
    return answer_to(failed, unknown, &error);
}

static cJSON *op_hold(const struct daemon_table *table, void *context, const cJSON *request)
{
    return put_off(table->hold, context, request, !json_true(request, "undo"));
}

static cJSON *op_requeue(const struct daemon_table *table, void *context, const cJSON *request)
{
    return put_off(table->requeue, context, request, json_true(request, "held"));
}

static cJSON *op_change(const struct daemon_table *table, void *context, const cJSON *request)
{
    struct error error;
    bool unknown = false;
    int priority;
    double deadline;
    struct daemon_change change = {.drop_late = json_true(request, "drop_late")};
    int64_t job = job_of(request);
    bool sense = job && take_priority(request, &priority) && take_account(request, &change.account) &&
                 take_deadline(request, &deadline);
    change.priority = cJSON_HasObjectItem(request, "priority") ? &priority : NULL;
    change.deadline = cJSON_HasObjectItem(request, "deadline") ? &deadline : NULL;
    if (!sense || !(change.priority || change.account || change.deadline))
        return answers_refusal("usage", "change: which job, and its priority, from -1000000 to 1000000, its account or "
                                        "its deadline?");
    int failed = table->change(context, job, &change, &unknown, &error);
    return answer_to(failed, unknown, &error);
}

static cJSON *op_drain(const struct daemon_table *table, void *context, const cJSON *request)
{
    struct error error;
    bool unknown = false;
    const char *node = json_text(request, "node");
    if (!node)
        return answers_refusal("usage", "drain: which node?");
    int failed = table->drain(context, node, json_true(request, "undo"), &unknown, &error);
    return answer_to(failed, unknown, &error);
}

static cJSON *op_stop(const struct daemon_table *table, void *context, const cJSON *request)
{
    static const char *const names[] = {
        [DAEMON_STOP_IDLE] = "idle", [DAEMON_STOP_JOBS] = "jobs", [DAEMON_STOP_LEAVE] = "leave"};
    const char *how = json_text(request, "how");
    struct error error;
    for (int i = 0; how && i <= DAEMON_STOP_LEAVE; i++)
        if (!strcmp(how, names[i]))
            return answer_to(table->stop(context, (enum daemon_stop)i, &error), false, &error);
    return answers_refusal("usage", "stop: how? idle, jobs or leave");
}

static cJSON *op_about(const struct daemon_table *table, void *context, const cJSON *request)
{
    (void)table, (void)context, (void)request;
    cJSON *answer = accepted();
    cJSON_AddStringToObject(answer, "version", EPOP_VERSION);
    cJSON_AddNumberToObject(answer, "pid", getpid());
    return answer;
}

static cJSON *op_watch(const struct daemon_table *table, void *context, const cJSON *request)
{
    (void)table, (void)context, (void)request;
    return accepted();
}

/* ---- The table of requests ---------------------------------------------------------------------------- */

static bool has_function(const struct daemon_table *table, size_t slot)
{
    void (*function)(void);
    memcpy(&function, (const char *)table + slot, sizeof function);
    return function;
}

static const struct op {
    const char *name;
    cJSON *(*answer)(const struct daemon_table *table, void *context, const cJSON *request);
    size_t slot; /* of the daemon's table; SIZE_MAX: none */
} ops[] = {
    {"submit", op_submit, offsetof(struct daemon_table, submit)},
    {"queue", op_queue, offsetof(struct daemon_table, jobs)},
    {"nodes", op_nodes, offsetof(struct daemon_table, nodes)},
    {"cancel", op_cancel, offsetof(struct daemon_table, cancel)},
    {"drain", op_drain, offsetof(struct daemon_table, drain)},
    {"stop", op_stop, offsetof(struct daemon_table, stop)},
    {"hold", op_hold, offsetof(struct daemon_table, hold)},
    {"requeue", op_requeue, offsetof(struct daemon_table, requeue)},
    {"change", op_change, offsetof(struct daemon_table, change)},
    {"about", op_about, SIZE_MAX},
    {"watch", op_watch, SIZE_MAX},
};

static cJSON *answer_request(const struct daemon_table *table, void *context, const cJSON *request, bool *watches)
{
    const char *name = json_text(request, "op");
    for (const struct op *op = ops; name && op < ops + sizeof ops / sizeof *ops; op++)
        if (!strcmp(name, op->name)) {
            *watches = op->answer == op_watch;
            return op->slot == SIZE_MAX || has_function(table, op->slot) ? op->answer(table, context, request)
                                                                         : not_here(name);
        }
    return answers_refusal(
        "usage", "no such request: submit, queue, nodes, cancel, hold, requeue, change, drain, stop, about, watch");
}

cJSON *answers_to(const struct daemon_table *table, void *context, const cJSON *request, bool *watches)
{
    *watches = false;
    return request ? answer_request(table, context, request, watches)
                   : answers_refusal("usage", "a request is one JSON object on a line");
}
