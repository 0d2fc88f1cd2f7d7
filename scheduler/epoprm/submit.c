/*
 * epoprm submit, cancel, hold, release, requeue, change and drain. What of a submission can be checked at once is; the
 * daemon has it with the directory and the environment of the caller.
 */
#include "scheduler/epoprm/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "epop_api/sizes.h"
#include "runtime/base/batch.h"
#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "scheduler/daemon/daemon.h"
#include "scheduler/epoprm/client.h"
#include "terminal/output.h"

extern char **environ;

/* ---- Can the program be started? ---------------------------------------------------------------- */

static bool is_file(const char *path, int mode)
{
    struct stat status;
    return !stat(path, &status) && S_ISREG(status.st_mode) && !access(path, mode);
}

static bool in_path(const char *name)
{
    const char *at = getenv("PATH");
    bool found = false;
    while (at && *at && !found) {
        size_t length = strcspn(at, ":");
        char *path = NULL;
        if (asprintf(&path, "%.*s/%s", (int)length, at, name) >= 0)
            found = is_file(path, X_OK);
        free(path);
        at += length + (at[length] == ':');
    }
    return found;
}

/* The programs and examples that EPOP brings are found by their name. */
static bool is_ours(const char *name)
{
    static const char *const folders[] = {"lib/epop/programs", "lib/epop/examples"};
    for (int i = 0; i < 2 && !strchr(name, '/'); i++) {
        char *inside = NULL, *path = NULL;
        if (asprintf(&inside, "%s/%s", folders[i], name) >= 0)
            path = rm_beside(inside);
        free(inside);
        free(path);
        if (path)
            return true;
    }
    return false;
}

static int check_file(const char *name, int mode)
{
    struct stat status;
    if (is_file(name, mode))
        return 0;
    if (stat(name, &status))
        term_complain("submit: %s: %s", name, strerror(errno));
    else if (!S_ISREG(status.st_mode))
        term_complain("submit: %s: is no file", name);
    else
        term_complain("submit: %s: cannot be %s: chmod +%c it", name, mode == X_OK ? "executed" : "read",
                      mode == X_OK ? 'x' : 'r');
    return -1;
}

/* Can this be started: a .so that can be read, a file that can be executed, a command of the PATH? -1 after a line. */
static int check_program(const char *name)
{
    const char *end = strrchr(name, '.');
    if (end && !strcmp(end, ".so"))
        return is_ours(name) ? 0 : check_file(name, R_OK);
    if (strchr(name, '/'))
        return check_file(name, X_OK);
    if (*name && in_path(name))
        return 0;
    term_complain("submit: %s: there is no such command (a program here is ./%s)", name, name);
    return -1;
}

/* ---- What is submitted -------------------------------------------------------------------------- */

/* "4" or "1-4" */
static int take_range(cJSON *request, const char *option, const char *text)
{
    char *end;
    long least = text ? strtol(text, &end, 10) : 0, most = least;
    bool right = text && text[0] >= '0' && text[0] <= '9';
    if (right && *end == '-' && end[1] >= '0' && end[1] <= '9')
        most = strtol(end + 1, &end, 10);
    if (!text)
        return 0;
    if (!right || *end || least < 1 || most < least || most > 1000000) {
        term_complain("submit: --%s: \"%s\" is neither N nor MIN-MAX", option, text);
        return -1;
    }
    const double pair[] = {(double)least, (double)most};
    cJSON_AddItemToObject(request, option, cJSON_CreateDoubleArray(pair, 2));
    return 0;
}

static int take_time(cJSON *request, const char *text)
{
    double limit = text ? rm_seconds(text) : 0;
    if (!text)
        return 0;
    if (!(limit > 0)) {
        term_complain("submit: --time: \"%s\" is no time: 90, 90s, 10m, 2h or 1d", text);
        return -1;
    }
    cJSON_AddNumberToObject(request, "limit", limit);
    return 0;
}

/* "3" or "3,5": numbers of jobs. */
static int take_after(cJSON *request, const char *text)
{
    char *words = text ? strdup(text) : NULL, *rest = words, *word;
    cJSON *array = words ? cJSON_AddArrayToObject(request, "after") : NULL;
    int failed = 0;
    while (!failed && (word = strsep(&rest, ","))) {
        int64_t job = 0;
        failed = rm_job_number(word, &job);
        cJSON_AddItemToArray(array, cJSON_CreateNumber((double)job));
    }
    free(words);
    return failed;
}

static int take_priority(cJSON *request, const char *text)
{
    char *end;
    long priority = text ? strtol(text, &end, 10) : 0;
    if (!text)
        return 0;
    if (end == text || *end || labs(priority) > DAEMON_PRIORITY_MAX) {
        term_complain("%s: --priority: \"%s\" is no number from -%d to %d", json_text(request, "op"), text,
                      DAEMON_PRIORITY_MAX, DAEMON_PRIORITY_MAX);
        return -1;
    }
    cJSON_AddNumberToObject(request, "priority", (double)priority);
    return 0;
}

/* What a launcher told the process that this is started from is not for the job's processes. */
static bool is_of_a_launcher(const char *variable)
{
    static const char *const starts[] = {"PMI_",  "PMIX_",           "HYDRA_", "HYDI_",   "MPIEXEC_",
                                         "MPIR_", "MPI_LOCAL",       "SLURM_", "SLURMD_", "SBATCH_",
                                         "SRUN_", "EPOP_BATCH_JOB=", "EPOPRM_"};
    if (!strncmp(variable, "SLURM_CONF=", 11) || !strncmp(variable, "EPOPRM_DIR=", 11))
        return false;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (!strncmp(variable, starts[i], strlen(starts[i])))
            return true;
    return false;
}

static void add_environment(cJSON *request)
{
    cJSON *array = cJSON_AddArrayToObject(request, "environment");
    for (char **variable = environ; *variable; variable++)
        if (!is_of_a_launcher(*variable))
            cJSON_AddItemToArray(array, cJSON_CreateString(*variable));
}

/* The job would find that out when its turn comes, which may be tomorrow. */
static int check_output(char *path)
{
    struct stat status;
    bool there = !stat(path, &status);
    char *name = strrchr(path, '/') + 1, kept = *name;
    int wrong = there && S_ISDIR(status.st_mode) ? EISDIR : there && access(path, W_OK) ? errno : 0;
    *name = '\0'; /* its directory */
    if (!there && access(path, W_OK))
        wrong = errno;
    *name = kept;
    if (wrong)
        term_complain("submit: -o: %s: cannot be written: %s", path, strerror(wrong));
    return wrong ? COMMAND_REFUSED : COMMAND_DONE;
}

static int add_output(cJSON *request, const char *output, const char *cwd)
{
    char *path = NULL;
    if (!output)
        return COMMAND_DONE;
    if (!*output || asprintf(&path, "%s%s%s", output[0] == '/' ? "" : cwd, output[0] == '/' ? "" : "/", output) < 0) {
        term_complain("submit: -o: \"%s\" is no file", output);
        return COMMAND_USAGE;
    }
    int code = check_output(path);
    cJSON_AddStringToObject(request, "output", path);
    free(path);
    return code;
}

static int add_words(cJSON *request, const struct options *arguments)
{
    char cwd[4096];
    if (!getcwd(cwd, sizeof cwd)) {
        term_complain("submit: the present directory: %s", strerror(errno));
        return COMMAND_REFUSED;
    }
    cJSON_AddStringToObject(request, "cwd", cwd);
    cJSON_AddItemToObject(request, "argv",
                          cJSON_CreateStringArray((const char *const *)arguments->words, arguments->count));
    if (arguments->name)
        cJSON_AddStringToObject(request, "name", arguments->name);
    if (arguments->once)
        cJSON_AddTrueToObject(request, "once");
    if (arguments->hold)
        cJSON_AddTrueToObject(request, "held");
    return add_output(request, arguments->output, cwd);
}

/* The job finds it in its environment, and so does the daemon. */
static int take_sizes(const char *text)
{
    struct sizes_rule rule;
    const char *wrong = text ? sizes_rule_read(&rule, text) : NULL;
    if (!wrong)
        return text && setenv("EPOP_SIZES", text, 1) ? -1 : 0;
    term_complain("submit: --sizes: \"%s\" %s", text, wrong);
    return -1;
}

static int take_account(cJSON *request, const char *text)
{
    if (!text)
        return 0;
    if (!batch_account(text) || strlen(text) > DAEMON_ACCOUNT_MAX) {
        term_complain("%s: --account: \"%.120s\" is no name of at most %d letters, without blank, comma, = and #",
                      json_text(request, "op"), text, DAEMON_ACCOUNT_MAX);
        return -1;
    }
    cJSON_AddStringToObject(request, "account", text);
    return 0;
}

static int take_deadline(cJSON *request, const struct options *arguments)
{
    const char *text = arguments->deadline;
    double deadline = text && strcmp(text, "none") ? rm_time(text, wall_seconds()) : 0;
    if (!text)
        return 0;
    if (deadline < 0) {
        term_complain("%s: --deadline: \"%s\" is no time: 18:30, 2026-12-24, 2026-12-24T18:30, +90m or now+2hours",
                      json_text(request, "op"), text);
        return -1;
    }
    cJSON_AddNumberToObject(request, "deadline", deadline);
    if (arguments->drop_late)
        cJSON_AddTrueToObject(request, "drop_late");
    return 0;
}

static int complete_request(cJSON *request, const struct options *arguments)
{
    const char *ranks = arguments->ranks || arguments->nodes ? arguments->ranks : "1";
    if (take_range(request, "ranks", ranks) || take_range(request, "nodes", arguments->nodes) ||
        take_time(request, arguments->time) || take_sizes(arguments->sizes) || take_after(request, arguments->after) ||
        take_priority(request, arguments->priority) || take_account(request, arguments->account) ||
        take_deadline(request, arguments))
        return COMMAND_USAGE;
    if (check_program(arguments->words[0]))
        return COMMAND_REFUSED;
    add_environment(request);
    return add_words(request, arguments);
}

int rm_submit(const struct options *arguments)
{
    cJSON *request = json_message("submit");
    int code = complete_request(request, arguments);
    if (code != COMMAND_DONE) {
        cJSON_Delete(request);
        return code;
    }
    cJSON *answer = client_request(request, &code);
    if (answer && arguments->json)
        printf("{\"job\":%.0f}\n", json_number(answer, "job", 0));
    else if (answer)
        printf("%.0f\n", json_number(answer, "job", 0));
    cJSON_Delete(answer);
    return code;
}

/* ---- Jobs that are there ------------------------------------------------------------------------ */

/* The same request for one of them; it is copied. */
static int ask_for(const cJSON *request, const char *word)
{
    int64_t job;
    int code;
    if (rm_job_number(word, &job))
        return COMMAND_USAGE;
    cJSON *one = cJSON_Duplicate(request, true);
    cJSON_AddNumberToObject(one, "job", (double)job);
    cJSON_Delete(client_request(one, &code));
    return code;
}

/* For each job that is named, also behind one that is refused. Owns the request. */
static int ask_for_each(cJSON *request, const struct options *arguments)
{
    int code = COMMAND_DONE;
    for (int i = 0; i < arguments->count; i++) {
        int one = ask_for(request, arguments->words[i]);
        code = code ? code : one;
    }
    cJSON_Delete(request);
    return code;
}

int rm_cancel(const struct options *arguments)
{
    return ask_for_each(json_message("cancel"), arguments);
}

int rm_hold(const struct options *arguments)
{
    return ask_for_each(json_message("hold"), arguments);
}

int rm_release(const struct options *arguments)
{
    cJSON *request = json_message("hold");
    cJSON_AddTrueToObject(request, "undo");
    return ask_for_each(request, arguments);
}

int rm_requeue(const struct options *arguments)
{
    cJSON *request = json_message("requeue");
    if (arguments->hold)
        cJSON_AddTrueToObject(request, "held");
    return ask_for_each(request, arguments);
}

int rm_change(const struct options *arguments)
{
    cJSON *request = json_message("change");
    bool any = arguments->priority || arguments->account || arguments->deadline;
    if (!any)
        term_complain("change: what? --priority N, --account NAME or --deadline TIME");
    if (!any || take_priority(request, arguments->priority) || take_account(request, arguments->account) ||
        take_deadline(request, arguments)) {
        cJSON_Delete(request);
        return COMMAND_USAGE;
    }
    return ask_for_each(request, arguments);
}

/* ---- Nodes -------------------------------------------------------------------------------------- */

int rm_drain(const struct options *arguments)
{
    int code;
    cJSON *request = json_message("drain");
    cJSON_AddStringToObject(request, "node", arguments->words[0]);
    cJSON_AddBoolToObject(request, "undo", arguments->undo);
    cJSON_Delete(client_request(request, &code));
    return code;
}
