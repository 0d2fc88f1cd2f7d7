/* What the process tree and command lines say of this process's launch. */
#include "runtime/hydra/hydra.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/paths.h"
#include "runtime/base/proctree.h"

#define ANCESTORS 8 /* a script or two may stand between the proxy and this process */

static bool is_proxy(void *context, const struct proc *proc)
{
    char *words = proctree_words(proc->id.number);
    const char *slash = words ? strrchr(words, '/') : NULL;
    bool is = words && !strcmp(slash ? slash + 1 : words, "hydra_pmi_proxy");
    (void)context;
    free(words);
    return is;
}

static int take_options(const char *words, char *options[HYDRA_OPTIONS_MAX])
{
    static char *const wanted[] = {"--launcher", "--launcher-exec", "--iface"};
    int count = 0;
    for (const char *word = words; *word; word += strlen(word) + 1)
        for (size_t i = 0; i < sizeof wanted / sizeof wanted[0] && count < HYDRA_OPTIONS_MAX; i++)
            if (!strcmp(word, wanted[i]) && word[strlen(word) + 1]) {
                options[count++] = wanted[i] + 1; /* mpiexec wants one dash */
                options[count++] = strdup(word + strlen(word) + 1);
            }
    return count;
}

static bool find_proxy(struct proc *proxy)
{
    return proctree_upwards(getppid(), ANCESTORS, is_proxy, NULL, proxy);
}

struct proc_id hydra_proxy(void)
{
    struct proc proxy;
    return find_proxy(&proxy) ? proxy.id : (struct proc_id){0};
}

int hydra_options(char *options[HYDRA_OPTIONS_MAX])
{
    struct proc proxy;
    char *words = find_proxy(&proxy) ? proctree_words(proxy.id.number) : NULL;
    int count = words ? take_options(words, options) : 0;
    free(words);
    return count;
}

/* Where the value of an option stands, or NULL. */
static char **value_of(char **options, int count, const char *name)
{
    for (int i = 0; i + 1 < count; i += 2)
        if (!strcmp(options[i], name))
            return &options[i + 1];
    return NULL;
}

static int set_option(char **options, int *count, char *name, char *value)
{
    char **present = value_of(options, *count, name);
    if (!present && *count + 2 > HYDRA_OPTIONS_MAX)
        return -1;
    if (!present) {
        options[*count] = name;
        present = &options[*count + 1];
        *count += 2;
    }
    *present = value;
    return 0;
}

int hydra_launch_by(char *options[HYDRA_OPTIONS_MAX], int *count, char *launcher, char *program)
{
    static char by[] = "-launcher", with[] = "-launcher-exec";
    return set_option(options, count, by, launcher) || set_option(options, count, with, program) ? -1 : 0;
}

/* What mpiexec reaches other hosts with, by the tether from now on; NULL: nothing, or not in this way. */
static const char *tether_command(char **options, int *count, char *tether)
{
    static char with[] = "-launcher-exec";
    char **launcher = value_of(options, *count, "-launcher"), **command = value_of(options, *count, with);
    bool reaches = launcher && (!strcmp(*launcher, "ssh") || !strcmp(*launcher, "rsh"));
    if (!reaches)
        return NULL;
    const char *before = command ? *command : *launcher;
    return set_option(options, count, with, tether) ? NULL : before;
}

char *hydra_tether(const char *mpiexec, char *options[HYDRA_OPTIONS_MAX], int *count, char *path, size_t size)
{
    char *tether, *variable = NULL;
    if (helper_find("tether", path, size) || !(tether = strdup(path)))
        return NULL;
    const char *command = tether_command(options, count, tether);
    if (!command)
        free(tether);
    if (asprintf(&variable, HYDRA_TETHERED "=%s%s%s", mpiexec, command ? "\n" : "", command ? command : "") < 0)
        return NULL;
    return variable;
}

static bool has_failed(void *context, const struct proc *proc)
{
    struct proc *failed = context;
    *failed = *proc;
    return proc->ended && proc->status != 0;
}

bool hydra_failed(pid_t mpiexec, char *name, size_t name_size, int *status)
{
    struct proc failed;
    if (!proctree_child(mpiexec, has_failed, &failed))
        return false;
    snprintf(name, name_size, "%s", failed.name);
    *status = WIFEXITED(failed.status) ? WEXITSTATUS(failed.status) : 128 + WTERMSIG(failed.status);
    return true;
}

bool hydra_loses_statuses(const char *version)
{
    int major = 0, minor = 0, patch = 0;
    if (sscanf(version, "%d.%d.%d", &major, &minor, &patch) < 2)
        return false;
    return major == 4 && (minor == 1 || (minor == 2 && patch <= 2));
}

static bool is_any(void *context, const struct proc *proc)
{
    (void)context, (void)proc;
    return true;
}

bool hydra_is_alone(pid_t mpiexec)
{
    return !proctree_child(mpiexec, is_any, NULL);
}

static bool is_terminal(pid_t process, int fd, char *path, size_t size)
{
    proctree_leads_to(process, fd, path, size);
    return !strncmp(path, "/dev/pts/", 9) || !strncmp(path, "/dev/tty", 8);
}

bool hydra_terminal(char *path, size_t size)
{
    char other[64];
    struct proc proxy;
    pid_t mpiexec = find_proxy(&proxy) ? proxy.parent : 0;
    return mpiexec && is_terminal(mpiexec, 1, path, size) && is_terminal(mpiexec, 2, other, sizeof other) &&
           !strcmp(path, other);
}

void hydra_stay_in_sight(void)
{
    struct pollfd self = {.fd = pidfd_open(getpid(), 0), .events = POLLIN};
    if ((getenv("PMI_FD") || getenv("PMI_PORT")) && _Fork() == 0) {
        poll(&self, 1, 3000);
        close_range(STDERR_FILENO, ~0U, 0);
        usleep(50000);
        _exit(0);
    }
}
