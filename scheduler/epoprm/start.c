/* epoprm start: the daemon in the background, or in the foreground; epoprm stop: back when the daemon has ended. */
#include "scheduler/epoprm/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "scheduler/core/shares.h"
#include "scheduler/epoprm/client.h"
#include "scheduler/hosts/hosts.h"
#include "scheduler/journal/journal.h"
#include "scheduler/slurm/adviser.h"
#include "terminal/output.h"

/* ---- How the daemon before was started, which the next one goes by where nothing else is said ---- */

/* NULL, or 0: there was none, or it was not told. */
struct before {
    char *hosts, *policy, *launcher, *launcher_exec, *watts, *energy, *suspend, *resume, *topology, *speeds, *shares;
    int local;
    double power_cap, suspend_after, preempt_after, spread_cost, half_life;
};

/* The daemon writes "" for what it was not told. */
static int read_word(struct journal *journal, const char *key, char **word, struct error *error)
{
    if (journal_meta_get(journal, key, word, error))
        return -1;
    if (*word && !**word) {
        free(*word);
        *word = NULL;
    }
    return 0;
}

static int read_words(struct journal *journal, struct before *before, struct error *error)
{
    char *local = NULL, *cap = NULL, *after = NULL, *preempt = NULL, *spread = NULL, *half = NULL;
    int failed =
        read_word(journal, "hosts", &before->hosts, error) || read_word(journal, "local", &local, error) ||
        read_word(journal, "policy", &before->policy, error) ||
        read_word(journal, "launcher", &before->launcher, error) ||
        read_word(journal, "launcher-exec", &before->launcher_exec, error) ||
        read_word(journal, "watts", &before->watts, error) || read_word(journal, "power-cap", &cap, error) ||
        read_word(journal, "energy", &before->energy, error) ||
        read_word(journal, "topology", &before->topology, error) ||
        read_word(journal, "speeds", &before->speeds, error) || read_word(journal, "spread-cost", &spread, error) ||
        read_word(journal, "shares", &before->shares, error) || read_word(journal, "half-life", &half, error) ||
        read_word(journal, "suspend", &before->suspend, error) ||
        read_word(journal, "resume", &before->resume, error) || read_word(journal, "suspend-after", &after, error) ||
        read_word(journal, "preempt-after", &preempt, error);
    before->local = local ? atoi(local) : 0;
    before->power_cap = cap ? atof(cap) : 0;
    before->suspend_after = after ? atof(after) : 0;
    before->preempt_after = preempt ? atof(preempt) : 0;
    before->spread_cost = spread ? atof(spread) : 0;
    before->half_life = half ? atof(half) : before->half_life;
    free(half);
    free(spread);
    free(local);
    free(cap);
    free(after);
    free(preempt);
    return failed ? -1 : 0;
}

/* No journal is no failure. */
static int read_before(struct before *before, struct error *error)
{
    char path[RM_PATH_MAX];
    struct journal *journal;
    *before = (struct before){.half_life = SHARES_HALF_LIFE};
    if (rm_file(path, "journal.db", error))
        return -1;
    if (access(path, F_OK))
        return 0;
    if (journal_open_reading(&journal, path, error))
        return -1;
    int failed = read_words(journal, before, error);
    journal_close(journal);
    return failed;
}

static void free_before(struct before *before)
{
    free(before->hosts);
    free(before->policy);
    free(before->launcher);
    free(before->launcher_exec);
    free(before->watts);
    free(before->energy);
    free(before->topology);
    free(before->speeds);
    free(before->shares);
    free(before->suspend);
    free(before->resume);
}

/* ---- What it is to rule ------------------------------------------------------------------------- */

/* One of both has a directory. */
struct site {
    struct hosts_options hosts;
    struct slurm_options slurm;
};

static int live_there(const struct site *site, void (*ready)(void *context), void *context, struct error *error)
{
    return site->slurm.directory ? slurm_run(&site->slurm, ready, context, error)
                                 : hosts_run(&site->hosts, ready, context, error);
}

static void print_names(const cJSON *nodes)
{
    int count = cJSON_GetArraySize(nodes), shown = 0;
    for (const cJSON *node = nodes->child; node && shown < 8; node = node->next, shown++)
        printf("%s%s", shown ? ", " : "", json_text(node, "node"));
    printf("%s", count > shown ? ", ...)" : ")");
}

static int show_nodes(const struct site *site)
{
    const char *directory = site->hosts.directory;
    int code;
    cJSON *answer = client_request(json_message("nodes"), &code);
    const cJSON *nodes = cJSON_GetObjectItem(answer, "nodes");
    if (nodes && nodes->child && !site->slurm.directory) {
        int count = cJSON_GetArraySize(nodes), slots = json_int(nodes->child, "slots", 1);
        printf("epoprm rules %d node%s of %d slot%s (", count, count == 1 ? "" : "s", slots, slots == 1 ? "" : "s");
        print_names(nodes);
        printf("; its state is in %s\n", directory);
    }
    if (site->slurm.directory)
        printf("epoprm advises jobs of Slurm; its state is in %s\n", site->slurm.directory);
    cJSON_Delete(answer);
    return code;
}

/* ---- The daemon --------------------------------------------------------------------------------- */

static void say_ready(void *context)
{
    int *told = context;
    if (*told >= 0 && write(*told, "r", 1) == 1)
        close(*told);
    *told = -1;
}

static void say_ready_here(void *context)
{
    (void)context;
    puts("epoprm takes requests");
    fflush(stdout);
}

static int run_here(const struct site *site)
{
    struct error error;
    if (!live_there(site, say_ready_here, NULL, &error))
        return COMMAND_DONE;
    term_complain("%s", error.text);
    return COMMAND_REFUSED;
}

static int open_log(const char *directory)
{
    char path[RM_PATH_MAX];
    snprintf(path, sizeof path, "%.4080s/log", directory);
    return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

/* Nothing of the caller's: no terminal, no directory, no descriptor. */
static void detach_from_caller(int log)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    setsid();
    dup2(nothing, STDIN_FILENO);
    dup2(log >= 0 ? log : nothing, STDOUT_FILENO);
    dup2(log >= 0 ? log : nothing, STDERR_FILENO);
    close(nothing);
    if (chdir("/"))
        term_complain("/: %s", strerror(errno));
}

/* What it cannot do before it takes requests is told to who started it, later failures to the log. */
static void be_the_daemon(const struct site *site, int told)
{
    struct error error;
    detach_from_caller(open_log(site->slurm.directory ? site->slurm.directory : site->hosts.directory));
    int failed = live_there(site, say_ready, &told, &error);
    if (failed && told >= 0) {
        size_t length = strlen(error.text);
        _exit(write(told, error.text, length) == (ssize_t)length ? COMMAND_REFUSED : COMMAND_USAGE);
    }
    if (failed)
        term_complain("%s", error.text);
    _exit(failed ? COMMAND_REFUSED : COMMAND_DONE);
}

/* "r" when it is ready; else a line, or nothing if it died. */
static int hear_beginning(int from, pid_t pid)
{
    char text[ERROR_TEXT_MAX] = "";
    size_t used = 0;
    for (ssize_t got; used < sizeof text - 1 && (got = read(from, text + used, sizeof text - 1 - used)) != 0;)
        if (got > 0)
            used += (size_t)got;
        else if (errno != EINTR)
            break;
    if (!strcmp(text, "r"))
        return COMMAND_DONE;
    waitpid(pid, NULL, 0);
    term_complain("start: %s", used ? text : "the daemon died; its log may say why");
    return COMMAND_REFUSED;
}

static int run_behind(const struct site *site)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) {
        term_complain("start: %s", strerror(errno));
        return COMMAND_REFUSED;
    }
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        be_the_daemon(site, ends[1]);
    }
    close(ends[1]);
    int code = pid > 0 ? hear_beginning(ends[0], pid) : COMMAND_REFUSED;
    if (pid < 0)
        term_complain("start: %s", strerror(errno));
    close(ends[0]);
    return code ? code : show_nodes(site);
}

/* ---- The command -------------------------------------------------------------------------------- */

enum { MOST_LOCAL = 4096 };

static bool is_slurm(const struct options *arguments)
{
    return arguments->site && !strcmp(arguments->site, "slurm");
}

static int check_arguments(const struct options *arguments)
{
    if (arguments->hosts && arguments->local)
        term_complain("start: --hosts or --local, not both");
    else if (arguments->site && strcmp(arguments->site, "hosts") && !is_slurm(arguments))
        term_complain("start: --site: \"%s\" is none: hosts or slurm", arguments->site);
    else if (is_slurm(arguments) && (arguments->hosts || arguments->local || arguments->launcher))
        term_complain("start: --site slurm: the nodes are Slurm's, and who starts processes there");
    else if (is_slurm(arguments) &&
             (arguments->watts || arguments->energy || arguments->power_cap || arguments->suspend ||
              arguments->resume || arguments->suspend_after || arguments->preempt_after || arguments->topology ||
              arguments->speeds || arguments->spread_cost || arguments->shares || arguments->half_life))
        term_complain("start: --watts, --power-cap, --energy, --suspend, --preempt-after, --topology, "
                      "--spread-cost, --speeds, --shares and --half-life are of nodes that epoprm rules itself");
    else if (arguments->energy && strcmp(arguments->energy, "watts") && strcmp(arguments->energy, "rapl"))
        term_complain("start: --energy: \"%s\" is none: watts or rapl", arguments->energy);
    else if (!is_slurm(arguments) && (arguments->port || arguments->address_file || arguments->reader))
        term_complain("start: --port, --address-file and --reader are of --site slurm");
    else
        return 0;
    return -1;
}

static int take_local(const char *text, int *local)
{
    char *end;
    long number = strtol(text, &end, 10);
    *local = number > 0 && number <= MOST_LOCAL ? (int)number : 0;
    if (end != text && !*end && *local)
        return 0;
    term_complain("start: --local: \"%s\" is no number of nodes from 1 to %d", text, MOST_LOCAL);
    return -1;
}

static int take_cap(const char *text, double *cap)
{
    char *end;
    *cap = strtod(text, &end);
    if (end != text && !*end && *cap >= 0 && *cap <= 1e15)
        return 0;
    term_complain("start: --power-cap: \"%s\" is no number of watts, as 4200, or 0 for none", text);
    return -1;
}

/* NULL: that of the daemon before. */
static int take_after(const char *option, const char *text, double before, double *after)
{
    *after = text ? rm_seconds(text) : before;
    if (*after >= 0)
        return 0;
    term_complain("start: --%s: \"%s\" is no time: 600, 10m or 1h, or 0 for never", option, text);
    return -1;
}

static int take_power(struct hosts_options *options, const struct options *arguments, const struct before *before)
{
    options->watts = arguments->watts ? arguments->watts : before->watts;
    options->energy = arguments->energy ? arguments->energy : before->energy;
    options->suspend = arguments->suspend ? arguments->suspend : before->suspend;
    options->resume = arguments->resume ? arguments->resume : before->resume;
    options->power_cap = before->power_cap;
    if (arguments->power_cap && take_cap(arguments->power_cap, &options->power_cap))
        return -1;
    return take_after("suspend-after", arguments->suspend_after, before->suspend_after, &options->suspend_after) ||
                   take_after("preempt-after", arguments->preempt_after, before->preempt_after, &options->preempt_after)
               ? -1
               : 0;
}

/* A file is found from where the command was given: the daemon is elsewhere. To be freed. */
static char *from_here(const char *path)
{
    char cwd[RM_PATH_MAX], *whole = NULL;
    if (*path == '/' || !getcwd(cwd, sizeof cwd))
        return strdup(path);
    return asprintf(&whole, "%s/%s", cwd, path) < 0 ? NULL : whole;
}

/* To be freed. */
static char *policy_of(const struct options *arguments)
{
    const char *policy = arguments->policy;
    if (!policy)
        return NULL;
    return memchr(policy, '/', strcspn(policy, ",")) ? from_here(policy) : strdup(policy);
}

static int take_spread(const char *text, double *cost)
{
    char *end;
    *cost = decimal_read(text, &end);
    if (end != text && !*end && *cost >= 0 && *cost <= 1000)
        return 0;
    term_complain("start: --spread-cost: \"%s\" is no share, as 0.05, or 0", text);
    return -1;
}

/* What switches the nodes are below, and how fast they are, which may be said to be unknown again. */
static int take_nodes(struct hosts_options *options, const struct options *arguments, struct before *before)
{
    if (arguments->topology) {
        free(before->topology);
        before->topology = strcmp(arguments->topology, "none") ? from_here(arguments->topology) : NULL;
    }
    options->topology = before->topology;
    options->speeds = arguments->speeds ? arguments->speeds : before->speeds;
    if (options->speeds && !strcmp(options->speeds, "none"))
        options->speeds = NULL;
    options->spread_cost = before->spread_cost;
    return arguments->spread_cost ? take_spread(arguments->spread_cost, &options->spread_cost) : 0;
}

/* A list, a file or "none". */
static int take_shares(struct hosts_options *options, const struct options *arguments, struct before *before)
{
    if (arguments->shares) {
        bool none = !strcmp(arguments->shares, "none");
        free(before->shares);
        before->shares = none                             ? NULL
                         : strchr(arguments->shares, '=') ? strdup(arguments->shares)
                                                          : from_here(arguments->shares);
    }
    options->shares = before->shares;
    options->half_life = arguments->half_life ? rm_seconds(arguments->half_life) : before->half_life;
    if (options->half_life >= 0)
        return 0;
    term_complain("start: --half-life: \"%s\" is no time: 12h or 7d, or 0", arguments->half_life);
    return -1;
}

/* What is not given is as it was before. */
static int options_of(struct hosts_options *options, const struct options *arguments, struct before *before)
{
    options->hosts = arguments->hosts;
    if (arguments->local && take_local(arguments->local, &options->local))
        return -1;
    if (!arguments->hosts && !arguments->local) {
        char *allocated = hosts_allocated(); /* for as long as this process lives */
        options->hosts = allocated ? allocated : before->hosts;
        options->local = before->local > 0 ? before->local : (int)sysconf(_SC_NPROCESSORS_ONLN);
    }
    if (!options->policy)
        options->policy = before->policy;
    options->launcher = arguments->launcher ? arguments->launcher : before->launcher;
    options->launcher_exec = arguments->launcher_exec ? arguments->launcher_exec : before->launcher_exec;
    return take_nodes(options, arguments, before) || take_shares(options, arguments, before)
               ? -1
               : take_power(options, arguments, before);
}

static int take_port(const char *text, int *port)
{
    char *end;
    long number = strtol(text, &end, 10);
    *port = (int)number;
    if (end != text && !*end && number > 0 && number < 65536)
        return 0;
    term_complain("start: --port: \"%s\" is no number from 1 to 65535", text);
    return -1;
}

/* Files are found from where the command was given: the daemon is elsewhere. */
static int slurm_options_of(struct slurm_options *options, const struct options *arguments, const char *directory)
{
    *options = (struct slurm_options){.directory = directory,
                                      .policy = options->policy,
                                      .address_file = arguments->address_file,
                                      .reader = arguments->reader};
    if (arguments->address_file && *arguments->address_file != '/') {
        term_complain("start: --address-file: \"%s\" does not begin with /", arguments->address_file);
        return -1;
    }
    return arguments->port ? take_port(arguments->port, &options->port) : 0;
}

int rm_start(const struct options *arguments)
{
    char directory[RM_PATH_MAX];
    struct error error;
    struct before before;
    if (check_arguments(arguments))
        return COMMAND_USAGE;
    if (rm_directory(directory, &error) || rm_make_directory(directory, &error) || read_before(&before, &error)) {
        term_complain("start: %s", error.text);
        return COMMAND_REFUSED;
    }
    char *policy = policy_of(arguments);
    struct site site = {.hosts = {.directory = directory, .policy = policy}, .slurm = {.policy = policy}};
    int wrong = is_slurm(arguments) ? slurm_options_of(&site.slurm, arguments, directory)
                                    : options_of(&site.hosts, arguments, &before);
    int code = wrong ? COMMAND_USAGE : arguments->foreground ? run_here(&site) : run_behind(&site);
    free_before(&before);
    free(policy);
    return code;
}

/* ---- stop --------------------------------------------------------------------------------------- */

static const double stop_limit = 120, release_limit = 10; /* seconds: for jobs to end, and for the daemon behind that */

/* The daemon's connections end before it does: what comes next must find neither its socket nor its lock. */
static bool is_released(void)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    char path[RM_PATH_MAX];
    struct error error;
    int fd = rm_file(path, "lock", &error) ? -1 : open(path, O_RDWR | O_CLOEXEC);
    double end = monotonic_seconds() + release_limit;
    bool released = fd < 0 || !flock(fd, LOCK_SH | LOCK_NB);
    while (!released && monotonic_seconds() < end) {
        nanosleep(&pause, NULL);
        released = !flock(fd, LOCK_SH | LOCK_NB);
    }
    if (fd >= 0)
        close(fd);
    return released;
}

int rm_stop(const struct options *arguments)
{
    int code;
    if (arguments->jobs && arguments->leave) {
        term_complain("stop: --jobs or --leave, not both");
        return COMMAND_USAGE;
    }
    struct client *daemon = client_connect(stop_limit, false, &code);
    bool ended = false;
    if (!daemon)
        return code;
    cJSON *request = json_message("stop");
    cJSON_AddStringToObject(request, "how", arguments->jobs ? "jobs" : arguments->leave ? "leave" : "idle");
    cJSON *answer = client_ask(daemon, request, &code);
    if (answer)
        cJSON_Delete(client_next(daemon, &ended));
    if (answer && !(ended && is_released())) {
        term_complain("stop: the daemon has not ended after %.0f s", stop_limit);
        code = COMMAND_TIMEOUT;
    }
    cJSON_Delete(answer);
    cJSON_Delete(request);
    client_close(daemon);
    return code;
}
