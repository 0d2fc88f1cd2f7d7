/* Policies: found by their names or loaded, checked, set, and called so that a bad one cannot end its host silently. */
#include "scheduler/core/policy.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "scheduler/core/piped.h"

/* ---- Guarding the host -------------------------------------------------------------------------- */

#define STACK_BYTES 65536 /* the policy may have used up its own */

static struct {
    bool installed;
    struct itimerval busy, alone;
    volatile sig_atomic_t inside, rung;
    const struct piped *piped; /* ends with the host */
    char who[256], doing[128]; /* written before `inside` is set */
} guard;

static void put_text(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return; /* nobody reads it */
}

/* Safe in a signal handler. */
static void end_host(const char *did, const char *detail)
{
    const char *const parts[] = {
        program_invocation_short_name, ": policy ", guard.who, " ", did, detail, " ", guard.doing, "\n"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        put_text(parts[i]);
    if (piped_process(guard.piped) > 0)
        kill(piped_process(guard.piped), SIGKILL);
    _exit(1);
}

static const struct {
    int number;
    const char *name;
} crashes[] = {
    {SIGSEGV, "(SIGSEGV)"}, {SIGBUS, "(SIGBUS)"}, {SIGFPE, "(SIGFPE)"}, {SIGILL, "(SIGILL)"}, {SIGABRT, "(SIGABRT)"}};
#define CRASHES (sizeof crashes / sizeof *crashes)

/* Not the policy's: it comes again when this returns, with its usual effect. */
static void raise_again(int number)
{
    signal(number, SIG_DFL);
    raise(number);
}

static void on_crash(int number)
{
    if (!guard.inside) {
        raise_again(number);
        return;
    }
    for (size_t i = 0; i < CRASHES; i++) {
        if (crashes[i].number == number)
            end_host("crashed ", crashes[i].name);
    }
}

static void on_busy(int number)
{
    (void)number;
    if (guard.inside)
        end_host("does not return", ",");
}

/* At half of the time, and at all of it: a host that was stopped meanwhile hears one ring when it goes on. */
static void on_alone(int number)
{
    (void)number;
    if (guard.inside && guard.rung++)
        end_host("does nothing, and does not return", ",");
}

static void on_exit_of_host(void)
{
    if (guard.inside)
        end_host("called exit()", "");
}

static void handle_signal(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK | SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

static struct itimerval timer_of(double seconds)
{
    struct timeval time = {.tv_sec = (time_t)seconds};
    time.tv_usec = (suseconds_t)((seconds - (double)time.tv_sec) * 1e6);
    return (struct itimerval){time, time};
}

void policy_guard_install(double busy, double alone)
{
    static char stack[STACK_BYTES];
    guard.busy = timer_of(busy);
    guard.alone = timer_of(alone / 2);
    if (guard.installed)
        return;
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    for (size_t i = 0; i < CRASHES; i++)
        handle_signal(crashes[i].number, on_crash);
    handle_signal(SIGPROF, on_busy);
    handle_signal(SIGALRM, on_alone);
    atexit(on_exit_of_host);
    guard.installed = true;
}

__attribute__((format(printf, 2, 3))) static void guard_enter(const struct policy *policy, const char *doing, ...)
{
    const char *who = policy_called(policy);
    va_list arguments;
    if (!guard.installed)
        return;
    snprintf(guard.who, sizeof guard.who, "%s", who ? who : "");
    guard.piped = policy->piped;
    va_start(arguments, doing);
    vsnprintf(guard.doing, sizeof guard.doing, doing, arguments);
    va_end(arguments);
    guard.rung = 0;
    guard.inside = 1;
    setitimer(ITIMER_PROF, &guard.busy, NULL);
    setitimer(ITIMER_REAL, &guard.alone, NULL);
}

static void guard_leave(void)
{
    static const struct itimerval never;
    if (!guard.installed)
        return;
    setitimer(ITIMER_PROF, &never, NULL);
    setitimer(ITIMER_REAL, &never, NULL);
    guard.inside = 0;
}

/* ---- Finding a policy, opening and calling it
 * ------------------------------------------------------------------------ */

/* The first policy interface ended with `close`; a table that is shorter is broken. */
#define SMALLEST_TABLE (offsetof(epop_policy_t, close) + sizeof(((epop_policy_t *)0)->close))
#define LIST_TEXT_MAX  400

static bool is_object(const char *name)
{
    size_t length = strlen(name);
    return length > 3 && !strcmp(name + length - 3, ".so");
}

static bool is_program(const char *name)
{
    return strchr(name, '/') && !is_object(name);
}

/* dlopen would look for a name without a slash where the libraries are. */
static void *load_object(const char *path, struct error *error)
{
    char here[4096];
    void *handle;
    snprintf(here, sizeof here, "%s%s", strchr(path, '/') ? "" : "./", path);
    handle = dlopen(here, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        error_set(error, ERROR_FAILED, "policy %s: %s", path, dlerror());
    return handle;
}

static const epop_policy_t *table_of(void *handle, const char *path, struct error *error)
{
    const epop_policy_t *(*get)(void), *table;
    *(void **)&get = dlsym(handle, "epop_get_policy");
    if (!get) {
        error_set(error, ERROR_FAILED, "policy %s: it has no function epop_get_policy; is it a policy?", path);
        return NULL;
    }
    table = get();
    if (!table)
        error_set(error, ERROR_FAILED, "policy %s: its epop_get_policy returned NULL instead of a policy", path);
    return table;
}

static void add_name(char *list, const char *name)
{
    size_t length = strlen(list);
    snprintf(list + length, LIST_TEXT_MAX - length, "%s%s", length ? ", " : "", name);
}

static const epop_policy_t *find_builtin(const epop_policy_t *const *builtin, const char *name, struct error *error)
{
    char list[LIST_TEXT_MAX] = "";
    for (; *builtin; builtin++) {
        if (!strcmp((*builtin)->name, name))
            return *builtin;
        add_name(list, (*builtin)->name);
    }
    error_set(error, ERROR_FAILED,
              "no policy '%s'; there are %s, and one of your own is named by its path, as ./mine.py or ./mine.so", name,
              list);
    return NULL;
}

/* What every policy must be, built in or not. */
static int check_table(const char *given, const epop_policy_t *table, struct error *error)
{
    if (table->abi_version != EPOP_POLICY_ABI_VERSION)
        return error_set(
            error, ERROR_FAILED,
            "policy %s: it has version %u of the policy interface, but this program has version %u; compile "
            "it against the epop/policy.h of this version",
            given, table->abi_version, EPOP_POLICY_ABI_VERSION);
    if (table->struct_size < SMALLEST_TABLE)
        return error_set(error, ERROR_FAILED,
                         "policy %s: its struct_size is %u, less than the %zu of the smallest table", given,
                         table->struct_size, SMALLEST_TABLE);
    if (!table->name || !table->name[0])
        return error_set(error, ERROR_FAILED, "policy %s: its table has no name", given);
    if (!table->decide)
        return error_set(error, ERROR_FAILED, "policy %s: its table has no decide", given);
    return 0;
}

const char *policy_called(const struct policy *policy)
{
    return policy->spec ? policy->spec : policy->table.name;
}

bool policy_follows_easy(const struct policy *policy)
{
    return policy->table.follows_easy && policy->table.follows_easy(policy->settings);
}

static const epop_policy_option_t *find_option(const epop_policy_t *table, const char *name, char *list)
{
    for (const epop_policy_option_t *option = table->options; option && option->name; option++) {
        if (!strcmp(option->name, name))
            return option;
        add_name(list, option->name);
    }
    return NULL;
}

/* One "name=value", which is cut in two. */
static int set_option(const struct policy *policy, char *setting, struct error *error)
{
    const epop_policy_t *table = &policy->table;
    char list[LIST_TEXT_MAX] = "", *value = strchr(setting, '=');
    const epop_policy_option_t *option;
    if (!value)
        return error_set(error, ERROR_FAILED, "policy %s: '%s' is no option, which has the form name=value",
                         policy_called(policy), setting);
    *value++ = '\0';
    option = find_option(table, setting, list);
    if (!option)
        return error_set(error, ERROR_FAILED, "policy %s: it has no option %s; it has %s", policy_called(policy),
                         setting, list[0] ? list : "none");
    if (table->option && !table->option(policy->settings, setting, value))
        return 0;
    return error_set(error, ERROR_FAILED, "policy %s: it refuses %s=%s (%s; default %s)", policy_called(policy),
                     setting, value, option->help ? option->help : "no help", option->value ? option->value : "none");
}

static int set_options(const struct policy *policy, char *settings, struct error *error)
{
    char *setting;
    while ((setting = strsep(&settings, ","))) {
        if (set_option(policy, setting, error))
            return -1;
    }
    return 0;
}

static int open_table(struct policy *policy, const char *name, const epop_policy_t *table, struct error *error)
{
    int result;
    if (check_table(name, table, error))
        return -1;
    memcpy(&policy->table, table,
           table->struct_size < sizeof policy->table ? table->struct_size : sizeof policy->table);
    result = table->open ? table->open(&policy->settings) : 0;
    if (!result)
        return 0;
    policy->table.close = NULL; /* there is nothing to close */
    return error_set(error, ERROR_FAILED, "policy %s: it cannot be opened (its open returned %d)",
                     policy_called(policy), result);
}

/* From here on the program ends with the host. */
static const epop_policy_t *start_program(struct policy *policy, const char *path, struct error *error)
{
    policy->piped = piped_start(path, error);
    guard.piped = policy->piped;
    policy->settings = policy->piped;
    return policy->piped ? piped_table(policy->piped, path, error) : NULL;
}

static const epop_policy_t *find_table(struct policy *policy, const char *name, const epop_policy_t *const *builtin,
                                       struct error *error)
{
    if (is_program(name))
        return start_program(policy, name, error);
    if (!is_object(name))
        return find_builtin(builtin, name, error);
    policy->handle = load_object(name, error);
    return policy->handle ? table_of(policy->handle, name, error) : NULL;
}

/* `words`: the name, and behind a comma the options. */
static int open_words(struct policy *policy, char *words, const epop_policy_t *const *builtin, struct error *error)
{
    const char *name = strsep(&words, ",");
    const epop_policy_t *table = find_table(policy, name, builtin, error);
    if (!table || open_table(policy, name, table, error))
        return -1;
    return set_options(policy, words, error);
}

int policy_open(struct policy *policy, const char *spec, const epop_policy_t *const *builtin, struct error *error)
{
    char *words = strdup(spec);
    int result;
    *policy = (struct policy){.spec = strdup(spec)};
    guard_enter(policy, "when it is opened");
    result = words && policy->spec ? open_words(policy, words, builtin, error) : error_memory(error);
    guard_leave();
    free(words);
    if (result)
        policy_close(policy);
    return result;
}

void policy_decide(const struct policy *policy, const epop_policy_state_t *state, epop_plan_t *plan)
{
    guard_enter(policy, "deciding at %.3f", state->now);
    policy->table.decide(policy->settings, state, plan);
    guard_leave();
}

void policy_close(struct policy *policy)
{
    guard_enter(policy, "when it is closed");
    if (policy->piped)
        piped_close(policy->piped);
    else if (policy->table.close)
        policy->table.close(policy->settings);
    if (policy->handle)
        dlclose(policy->handle);
    guard_leave();
    free((char *)policy->spec);
    *policy = (struct policy){0};
}
