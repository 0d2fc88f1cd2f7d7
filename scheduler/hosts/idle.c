/* Switching nodes off and on. A node that is off is down for the core; one that is switched on is so until it answers.
 */
#include "scheduler/hosts/idle.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/child.h"
#include "scheduler/hosts/nodes.h"
#include "scheduler/hosts/power.h"

const char hosts_idle_off[] = "switched off, as it was idle";
static const char coming_on[] = "switched on, as jobs wait";
static const double patience = 600; /* seconds in which a node that is switched on has to answer */

/* ---- The commands ------------------------------------------------------------------------------- */

/* One that switches a node on, as long as it runs. */
struct waking {
    struct hosts *hosts;
    int node, fd;
    struct event *ended;
};

static int run_command(const char *command, const char *host, int out)
{
    char *line = NULL;
    if (asprintf(&line, "%s \"$1\"", command) < 0)
        return ENOMEM;
    char *const argv[] = {"/bin/sh", "-c", line, "epoprm", (char *)host, NULL};
    struct spawn what = {
        .argv = argv, .in = SPAWN_NOTHING, .out = out, .err = SPAWN_NOTHING, .session = true, .directory = "/"};
    pid_t pid;
    int failed = spawn_program(&what, &pid);
    free(line);
    return failed;
}

static void drop_waking(struct waking *waking)
{
    waking->hosts->nodes[waking->node].waking = NULL;
    if (waking->ended)
        event_free(waking->ended);
    close(waking->fd);
    free(waking);
}

/* Nodes that are made of this machine are there then; another host is asked until it answers. */
static void on_ended(evutil_socket_t fd, short what, void *context)
{
    struct waking *waking = context;
    struct hosts *hosts = waking->hosts;
    char unheard[256];
    int node = waking->node;
    (void)what;
    ssize_t n = read(fd, unheard, sizeof unheard);
    if (n > 0 || (n < 0 && errno == EINTR))
        return;
    drop_waking(waking);
    if (hosts->local)
        hosts_nodes_up(hosts, node, hosts->nodes[node].host);
    else
        hosts_nodes_suspect(hosts, &node, 1);
}

static int watch_end(struct waking *waking)
{
    waking->ended = event_new(waking->hosts->base, waking->fd, EV_READ | EV_PERSIST, on_ended, waking);
    return waking->ended ? event_add(waking->ended, NULL) : -1;
}

static void run_resume(struct hosts *hosts, int node)
{
    struct waking *waking = calloc(1, sizeof *waking);
    int ends[2];
    if (!waking || pipe(ends)) {
        free(waking);
        return;
    }
    *waking = (struct waking){.hosts = hosts, .node = node, .fd = ends[0]};
    hosts->nodes[node].waking = waking;
    int failed = watch_end(waking) || run_command(hosts->options->resume, hosts->nodes[node].host, ends[1]);
    close(ends[1]);
    if (failed)
        drop_waking(waking);
}

/* ---- Off and on --------------------------------------------------------------------------------- */

/* All nodes of a host together: `node` is the first of them. */
static void set_power(struct hosts *hosts, int node, enum hosts_power power, const char *why)
{
    for (int part = node; part < node + hosts->nodes[node].parts; part++) {
        hosts->nodes[part].power = power;
        hosts_nodes_down(hosts, part, why, why);
    }
}

static void switch_off(struct hosts *hosts, int node)
{
    set_power(hosts, node, HOSTS_OFF, hosts_idle_off);
    if (run_command(hosts->options->suspend, hosts->nodes[node].host, SPAWN_NOTHING))
        hosts_tell(hosts, 0, "daemon", "the command of --suspend cannot be run");
}

static void switch_on(struct hosts *hosts, int node)
{
    set_power(hosts, node, HOSTS_WAKES, coming_on);
    run_resume(hosts, node);
}

/* Down as others are, and asked now and then as they are. */
static void give_up(struct hosts *hosts, int node)
{
    set_power(hosts, node, HOSTS_ON, "down: it was switched on, and does not answer");
}

static bool is_idle(const struct hosts *hosts, int node)
{
    for (int part = node; part < node + hosts->nodes[node].parts; part++) {
        const struct hosts_node *it = &hosts->nodes[part];
        if (!it->up || it->drained || it->suspect || it->job >= 0)
            return false;
    }
    return true;
}

void hosts_idle_look(struct hosts *hosts)
{
    double now = hosts_now(hosts);
    if (!(hosts->suspend_after > 0))
        return;
    bool wanted = core_state(hosts->core, now)->waiting_count > 0;
    for (int i = 0; i < hosts->node_count; i += hosts->nodes[i].parts) {
        struct hosts_node *node = &hosts->nodes[i];
        if (!is_idle(hosts, i) || wanted || !(node->idle_since > 0))
            node->idle_since = now;
        else if (now - node->idle_since >= hosts->suspend_after)
            switch_off(hosts, i);
        if (node->power == HOSTS_WAKES && now - node->since > patience)
            give_up(hosts, i);
    }
}

/* Nodes that waiting jobs want beyond those that are idle or on their way. */
static int count_lacking(const struct hosts *hosts, const epop_policy_state_t *state)
{
    int lacking = 0, coming = state->coming;
    for (int i = 0; i < hosts->node_count; i++)
        coming += hosts->nodes[i].power == HOSTS_WAKES;
    for (int i = 0; i < state->waiting_count && lacking < hosts->node_count; i++)
        lacking += state->waiting[i]->wanted;
    return lacking - coming - state->idle;
}

void hosts_idle_wake(struct hosts *hosts)
{
    if (!(hosts->suspend_after > 0))
        return;
    int lacking = count_lacking(hosts, core_state(hosts->core, hosts_now(hosts)));
    for (int i = 0; i < hosts->node_count && lacking > 0; i += hosts->nodes[i].parts)
        if (hosts->nodes[i].power == HOSTS_OFF && !hosts->nodes[i].drained && hosts_power_allows(hosts, i)) {
            switch_on(hosts, i);
            lacking -= hosts->nodes[i].parts;
        }
}

/* ---- The beginning and the end ------------------------------------------------------------------ */

int hosts_idle_begin(struct hosts *hosts, struct error *error)
{
    const struct hosts_options *options = hosts->options;
    hosts->suspend_after = options->suspend_after;
    if (!(options->suspend_after > 0) || (options->suspend && options->resume))
        return 0;
    return error_set(error, ERROR_REFUSED,
                     "--suspend-after: give the command that switches a node off, --suspend, and the one that switches "
                     "it on again, --resume");
}

void hosts_idle_end(struct hosts *hosts)
{
    for (int i = 0; i < hosts->node_count; i++)
        if (hosts->nodes[i].waking)
            drop_waking(hosts->nodes[i].waking);
}
