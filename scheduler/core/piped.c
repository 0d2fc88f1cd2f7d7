/* Policies that are programs of their own: questions and answers, a line of JSON each. */
#include "scheduler/core/piped.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/child.h"
#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/base/paths.h"
#include "scheduler/core/plan.h"
#include "scheduler/core/text.h"

#define PACKAGES     "lib/python3/dist-packages"
#define SECONDS_LEFT 2.0 /* to end by itself */

struct piped {
    char *path;    /* from the root */
    pid_t process; /* 0: it has ended */
    FILE *file;    /* a socket, which is its input and its output */
    char *line;    /* its last answer */
    size_t room;
    cJSON *self;    /* what it says that it is: owns the texts of the table */
    cJSON *choices; /* the questions that set its options */
    epop_policy_option_t *options;
    epop_policy_t table;
};

/* ---- The process -------------------------------------------------------------------------------- */

pid_t piped_process(const struct piped *piped)
{
    return piped ? piped->process : 0;
}

/* As this process's, with the folder of the tree's packages behind what PYTHONPATH has, which is in `ours`; both are to
 * be freed. NULL: there is none, and the program has this process's. */
static char **environment_with_packages(char **ours)
{
    static const char name[] = "PYTHONPATH=";
    char packages[4096];
    const char *was = getenv("PYTHONPATH");
    size_t count = 0, kept = 1;
    while (environ[count])
        count++;
    char **all = calloc(count + 2, sizeof *all);
    if (!all || tree_path(PACKAGES, packages, sizeof packages) ||
        asprintf(ours, "%s%s%s%s", name, was ? was : "", was && was[0] ? ":" : "", packages) < 0) {
        free(all);
        return NULL;
    }
    all[0] = *ours;
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], name, strlen(name)))
            all[kept++] = environ[i];
    return all;
}

static int spawn_policy(struct piped *piped, int fd)
{
    char *argv[] = {piped->path, NULL}, *ours = NULL, **environment = environment_with_packages(&ours);
    struct spawn what = {
        .argv = argv, .environment = environment, .in = fd, .out = fd, .err = STDERR_FILENO, .session = true};
    int failed = spawn_program(&what, &piped->process);
    free(environment);
    free(ours);
    if (failed)
        piped->process = 0;
    return failed;
}

/* 0, or an error number. */
static int start_process(struct piped *piped)
{
    int ends[2];
    if (access(piped->path, X_OK) || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return errno;
    piped->file = fdopen(ends[0], "r");
    if (!piped->file)
        close(ends[0]);
    int failed = piped->file ? spawn_policy(piped, ends[1]) : ENOMEM;
    close(ends[1]);
    if (failed && piped->file) {
        fclose(piped->file);
        piped->file = NULL;
    }
    return failed;
}

static const char *hint_at(int failed)
{
    switch (failed) {
    case EACCES:
        return "; a program is executable (chmod +x), and a shared object's name ends with .so";
    case ENOEXEC:
        return "; a script begins with a line as #!/usr/bin/python3";
    default:
        return "";
    }
}

struct piped *piped_start(const char *path, struct error *error)
{
    struct piped *piped = calloc(1, sizeof *piped);
    int failed = piped ? 0 : ENOMEM;
    if (piped) {
        piped->path = realpath(path, NULL);
        piped->choices = cJSON_CreateArray();
        failed = piped->path ? start_process(piped) : errno;
    }
    if (!failed)
        return piped;
    piped_close(piped);
    error_set(error, ERROR_FAILED, "policy %s: %s%s", path, strerror(failed), hint_at(failed));
    return NULL;
}

/* Its status, or -1 if that cannot be known: a host may have asked that nobody waits for its children. */
static int end_process(struct piped *piped)
{
    double until = monotonic_seconds() + SECONDS_LEFT;
    const struct timespec nap = {.tv_nsec = 2000000};
    int status = -1;
    pid_t gone;
    fclose(piped->file);
    piped->file = NULL;
    while ((gone = waitpid(piped->process, &status, WNOHANG)) == 0 && monotonic_seconds() < until)
        nanosleep(&nap, NULL);
    if (gone == 0) {
        kill(piped->process, SIGKILL);
        gone = waitpid(piped->process, &status, 0);
    }
    piped->process = 0;
    return gone < 0 ? -1 : status;
}

void piped_close(struct piped *piped)
{
    if (!piped)
        return;
    if (piped->process > 0)
        end_process(piped);
    cJSON_Delete(piped->self);
    cJSON_Delete(piped->choices);
    free(piped->path);
    free(piped->options);
    free(piped->line);
    free(piped);
}

/* ---- Questions and answers ---------------------------------------------------------------------- */

#define WHY_MAX 300

static int send_all(int fd, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t sent = send(fd, text, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return -1;
        text += sent;
        size -= (size_t)sent;
    }
    return 0;
}

static void say_ended(struct piped *piped, char *why)
{
    int status = end_process(piped);
    if (status >= 0 && WIFSIGNALED(status))
        snprintf(why, WHY_MAX, "its program was ended by signal %d", WTERMSIG(status));
    else if (status >= 0)
        snprintf(why, WHY_MAX, "its program ended with status %d", WEXITSTATUS(status));
    else
        snprintf(why, WHY_MAX, "its program ended");
}

static cJSON *read_answer(struct piped *piped, char *why)
{
    ssize_t length = getline(&piped->line, &piped->room, piped->file);
    if (length < 0) {
        say_ended(piped, why);
        return NULL;
    }
    cJSON *answer = cJSON_ParseWithLength(piped->line, (size_t)length);
    if (cJSON_IsObject(answer))
        return answer;
    cJSON_Delete(answer);
    snprintf(why, WHY_MAX, "its answer is no object of JSON: %.200s", piped->line);
    line_text(why);
    end_process(piped); /* who answers once too often would answer the next question with this one's answer */
    return NULL;
}

/* The question is taken over. NULL, and why. */
static cJSON *ask(struct piped *piped, cJSON *question, char *why)
{
    char *text = question ? cJSON_PrintUnformatted(question) : NULL;
    cJSON *answer = NULL;
    cJSON_Delete(question);
    if (!text)
        snprintf(why, WHY_MAX, "out of memory");
    else if (send_all(fileno(piped->file), text, strlen(text)) || send_all(fileno(piped->file), "\n", 1))
        say_ended(piped, why);
    else
        answer = read_answer(piped, why);
    free(text);
    return answer;
}

/* ---- The state as JSON: members as in <epop/policy.h> -------------------------------------------- */

static void put_number(cJSON *object, const char *name, double value)
{
    cJSON_AddNumberToObject(object, name, value);
}

static void put_range(cJSON *object, const epop_policy_range_t *range)
{
    cJSON *item = cJSON_AddObjectToObject(object, "range");
    put_number(item, "min", range->min);
    put_number(item, "max", range->max);
    if (range->count > 0)
        cJSON_AddItemToObject(item, "sizes", cJSON_CreateIntArray(range->sizes, range->count));
}

static cJSON *phase_as_json(const epop_policy_phase_t *phase)
{
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "name", phase->name ? phase->name : "");
    cJSON_AddBoolToObject(item, "elastic", phase->elastic);
    put_range(item, &phase->range);
    put_number(item, "begins", phase->begins);
    return item;
}

static cJSON *sample_as_json(const epop_policy_sample_t *sample)
{
    cJSON *item = cJSON_CreateObject();
    put_number(item, "phase", sample->phase);
    put_number(item, "nodes", sample->nodes);
    put_number(item, "iterations", sample->iterations);
    put_number(item, "seconds", sample->seconds);
    put_number(item, "mtct", sample->mtct);
    put_number(item, "trend", sample->trend);
    put_number(item, "variance", sample->variance);
    put_number(item, "lo", sample->lo);
    put_number(item, "hi", sample->hi);
    put_number(item, "imbalance", sample->imbalance);
    return item;
}

static void put_what_is_known(cJSON *item, const epop_policy_job_t *job)
{
    cJSON *phases = cJSON_AddArrayToObject(item, "phases"), *samples = cJSON_AddArrayToObject(item, "samples");
    for (int i = 0; i < job->phase_count; i++)
        cJSON_AddItemToArray(phases, phase_as_json(&job->phases[i]));
    for (int i = 0; i < job->sample_count; i++)
        cJSON_AddItemToArray(samples, sample_as_json(&job->samples[i]));
    put_number(item, "phase", job->phase);
    put_number(item, "resize_cost", job->resize_cost);
    put_number(item, "resize_latency", job->resize_latency);
    put_number(item, "resizes", job->resizes);
    put_number(item, "earlier", (double)job->earlier);
}

static void put_move(cJSON *item, const epop_plan_t *plan, const epop_policy_job_t *job)
{
    epop_policy_move_t move;
    if (epop_plan_moved(plan, job, &move))
        return;
    cJSON *moved = cJSON_AddObjectToObject(item, "moved");
    put_number(moved, "nodes", move.nodes);
    put_number(moved, "leaves", move.leaves);
    put_number(moved, "saves", move.saves);
}

static cJSON *job_as_json(const epop_policy_job_t *job, const epop_plan_t *plan, bool follows)
{
    static const char *const states[] = {
        [EPOP_POLICY_WAITS] = "waits", [EPOP_POLICY_RUNS] = "runs", [EPOP_POLICY_ADAPTS] = "adapts"};
    int held = job->target > job->nodes ? job->target : job->nodes;
    cJSON *item = cJSON_CreateObject();
    put_number(item, "id", (double)job->id);
    cJSON_AddStringToObject(item, "name", job->name ? job->name : "");
    put_number(item, "user", job->user);
    cJSON_AddStringToObject(item, "kind", kind_text(job->kind));
    cJSON_AddStringToObject(item, "state", states[job->state]);
    put_number(item, "priority", job->priority);
    put_number(item, "wanted", job->wanted);
    put_range(item, &job->range);
    put_number(item, "limit", job->limit);
    put_number(item, "bytes", job->bytes);
    put_number(item, "submitted", job->submitted);
    put_number(item, "started", job->started);
    put_number(item, "resized", job->resized);
    put_number(item, "nodes", job->nodes);
    put_number(item, "target", job->target);
    cJSON_AddItemToObject(item, "node_list",
                          job->node_list ? cJSON_CreateIntArray(job->node_list, held) : cJSON_CreateArray());
    put_number(item, "left", job->left);
    put_number(item, "reserved", job->reserved);
    put_number(item, "asked", job->asked);
    if (job->leaves > 0)
        put_number(item, "leaves", job->leaves);
    put_number(item, "speed", job->speed);
    cJSON_AddBoolToObject(item, "weak", job->weak);
    if (job->deadline > 0)
        put_number(item, "deadline", job->deadline);
    if (job->account) {
        cJSON_AddStringToObject(item, "account", job->account);
        put_number(item, "usage", job->usage);
    }
    if (job->leaves > 1)
        put_move(item, plan, job);
    put_what_is_known(item, job);
    if (follows) {
        put_number(item, "easy_start", job->easy_start);
        put_number(item, "easy_end", job->easy_end);
    }
    return item;
}

static cJSON *node_as_json(const epop_policy_node_t *node)
{
    static const char *const states[] = {
        [EPOP_NODE_IDLE] = "idle", [EPOP_NODE_BUSY] = "busy", [EPOP_NODE_DOWN] = "down"};
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "state", states[node->state]);
    put_number(item, "job", (double)node->job);
    if (node->busy_watts > 0) {
        put_number(item, "idle_watts", node->idle_watts);
        put_number(item, "busy_watts", node->busy_watts);
    }
    put_number(item, "speed", node->speed);
    if (node->leaf >= 0)
        put_number(item, "leaf", node->leaf);
    return item;
}

static void put_switches(cJSON *item, const epop_policy_state_t *state)
{
    cJSON *switches = cJSON_AddArrayToObject(item, "switches");
    for (int i = 0; i < state->switch_count; i++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "name", state->switches[i].name);
        put_number(one, "parent", state->switches[i].parent);
        cJSON_AddItemToArray(switches, one);
    }
}

static void put_uses(cJSON *item, const epop_policy_state_t *state)
{
    cJSON *uses = cJSON_AddArrayToObject(item, "easy_uses");
    for (int i = 0; i < state->easy_count; i++) {
        const epop_policy_use_t *use = &state->easy_uses[i];
        cJSON *one = cJSON_CreateObject();
        put_number(one, "job", use->job ? (double)use->job->id : -1);
        put_number(one, "begin", use->begin);
        put_number(one, "end", use->end);
        put_number(one, "nodes", use->nodes);
        cJSON_AddItemToArray(uses, one);
    }
}

static void put_jobs(cJSON *item, const char *name, const epop_policy_job_t *const *jobs, int count,
                     const epop_plan_t *plan, bool follows)
{
    cJSON *list = cJSON_AddArrayToObject(item, name);
    for (int i = 0; i < count; i++)
        cJSON_AddItemToArray(list, job_as_json(jobs[i], plan, follows));
}

static cJSON *state_as_json(const epop_policy_state_t *state, const epop_plan_t *plan, bool follows)
{
    cJSON *item = cJSON_CreateObject(), *nodes = cJSON_AddArrayToObject(item, "nodes");
    put_number(item, "now", state->now);
    for (int i = 0; i < state->node_count; i++)
        cJSON_AddItemToArray(nodes, node_as_json(&state->nodes[i]));
    put_number(item, "idle", state->idle);
    put_number(item, "coming", state->coming);
    put_number(item, "down", state->down);
    put_jobs(item, "running", state->running, state->running_count, plan, follows);
    put_jobs(item, "waiting", state->waiting, state->waiting_count, plan, follows);
    put_number(item, "resize_base", state->resize_base);
    put_number(item, "resize_per_node", state->resize_per_node);
    put_number(item, "resize_per_byte", state->resize_per_byte);
    put_number(item, "power_cap", state->power_cap);
    put_number(item, "usable", state->usable);
    if (state->switch_count > 0) {
        put_switches(item, state);
        put_number(item, "spread_cost", state->spread_cost);
    }
    if (follows)
        put_uses(item, state);
    return item;
}

/* ---- Deciding ----------------------------------------------------------------------------------- */

/* The whole number that a member is, as JSON here has them exactly; -1: it is none. */
static int64_t whole(const cJSON *call, const char *member)
{
    double number = json_number(call, member, -1);
    return number >= 0 && number <= 1e15 && number == floor(number) ? (int64_t)number : -1;
}

static int nodes_of(const cJSON *call)
{
    int64_t nodes = whole(call, "nodes");
    return nodes <= INT_MAX ? (int)nodes : INT_MAX;
}

static int call_start(epop_plan_t *plan, const epop_policy_job_t *job, const cJSON *call)
{
    return epop_plan_start(plan, job, nodes_of(call), "%s", json_text(call, "reason"));
}

static int call_resize(epop_plan_t *plan, const epop_policy_job_t *job, const cJSON *call)
{
    return epop_plan_resize(plan, job, nodes_of(call), "%s", json_text(call, "reason"));
}

static int call_move(epop_plan_t *plan, const epop_policy_job_t *job, const cJSON *call)
{
    return epop_plan_move(plan, job, "%s", json_text(call, "reason"));
}

static int call_reserve(epop_plan_t *plan, const epop_policy_job_t *job, const cJSON *call)
{
    return epop_plan_reserve(plan, job, nodes_of(call), json_number(call, "time", -1), "%s", json_text(call, "reason"));
}

static const struct {
    const char *name;
    int (*make)(epop_plan_t *plan, const epop_policy_job_t *job, const cJSON *call);
} calls[] = {{"start", call_start}, {"resize", call_resize}, {"move", call_move}, {"reserve", call_reserve}};

static int make_call(epop_plan_t *plan, const cJSON *call, int number)
{
    const char *what = json_text(call, "do");
    const epop_policy_job_t job = {.id = whole(call, "job")};
    for (size_t i = 0; what && i < sizeof calls / sizeof *calls; i++) {
        if (strcmp(calls[i].name, what))
            continue;
        if (!json_text(call, "reason"))
            return plan_refuse(plan, "%s job %lld: no reason is given", what, (long long)job.id);
        return calls[i].make(plan, &job, call);
    }
    return plan_refuse(plan, "plan[%d] of its answer: \"do\" is start, resize, move or reserve, not \"%.40s\"", number,
                       what ? what : "");
}

static void take_plan(epop_plan_t *plan, const cJSON *answer)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(answer, "plan"), *call;
    int number = 0;
    if (!cJSON_IsArray(list)) {
        plan_refuse(plan, "its answer has no list \"plan\"");
        return;
    }
    cJSON_ArrayForEach(call, list)
    {
        if (make_call(plan, call, number++))
            return;
    }
    if (cJSON_GetObjectItemCaseSensitive(answer, "wake"))
        epop_plan_wake(plan, json_number(answer, "wake", -1));
}

static cJSON *opening(void)
{
    cJSON *question = json_message("open");
    put_number(question, "version", EPOP_POLICY_ABI_VERSION);
    return question;
}

/* One that has ended is started anew, as nothing that it kept is missed. 0, or -1 with why. */
static int begin_again(struct piped *piped, char *why)
{
    const cJSON *choice;
    int failed = start_process(piped);
    if (failed) {
        snprintf(why, WHY_MAX, "its program does not start again: %s", strerror(failed));
        return -1;
    }
    cJSON *answer = ask(piped, opening(), why);
    cJSON_ArrayForEach(choice, piped->choices)
    {
        if (!answer)
            break;
        cJSON_Delete(answer);
        answer = ask(piped, cJSON_Duplicate(choice, true), why);
    }
    bool begun = answer;
    cJSON_Delete(answer);
    return begun ? 0 : -1;
}

static void decide(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    struct piped *piped = (struct piped *)settings; /* its process changes, and no decision depends on that */
    cJSON *question, *answer = NULL;
    char why[WHY_MAX];
    if (piped->process || !begin_again(piped, why)) {
        question = json_message("decide");
        cJSON_AddItemToObject(question, "state", state_as_json(state, plan, piped->table.follows_easy));
        answer = ask(piped, question, why);
    }
    if (answer)
        take_plan(plan, answer);
    else
        plan_refuse(plan, "%s", why);
    cJSON_Delete(answer);
}

/* ---- What it is --------------------------------------------------------------------------------- */

static int set_option(void *settings, const char *name, const char *value)
{
    struct piped *piped = settings;
    char why[WHY_MAX];
    if (!piped->process)
        return -1;
    cJSON *question = json_message("option");
    cJSON_AddStringToObject(question, "name", name);
    cJSON_AddStringToObject(question, "value", value);
    cJSON_AddItemToArray(piped->choices, cJSON_Duplicate(question, true));
    cJSON *answer = ask(piped, question, why);
    bool taken = json_true(answer, "taken");
    cJSON_Delete(answer);
    return taken ? 0 : -1;
}

static int follow_easy(const void *settings)
{
    (void)settings;
    return 1;
}

/* Those without a name are not there. */
static int list_options(struct piped *piped)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(piped->self, "options"), *option;
    size_t count = 0;
    piped->options = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *piped->options);
    if (!piped->options)
        return -1;
    cJSON_ArrayForEach(option, list)
    {
        const char *name = json_text(option, "name");
        if (name)
            piped->options[count++] =
                (epop_policy_option_t){name, json_text(option, "value"), json_text(option, "help")};
    }
    return 0;
}

const epop_policy_t *piped_table(struct piped *piped, const char *path, struct error *error)
{
    char why[WHY_MAX] = "out of memory";
    piped->self = ask(piped, opening(), why);
    if (!piped->self || list_options(piped)) {
        error_set(error, ERROR_FAILED, "policy %s: %s, when it was asked what it is", path, why);
        return NULL;
    }
    int64_t version = whole(piped->self, "version");
    piped->table = (epop_policy_t){.abi_version = version > 0 && version < UINT_MAX ? (unsigned)version : 0,
                                   .struct_size = sizeof piped->table,
                                   .name = json_text(piped->self, "name"),
                                   .summary = json_text(piped->self, "summary"),
                                   .options = piped->options,
                                   .option = set_option,
                                   .decide = decide,
                                   .follows_easy = json_true(piped->self, "follows_easy") ? follow_easy : NULL};
    return &piped->table;
}
