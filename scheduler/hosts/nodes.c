/*
 * The nodes of the daemon: which there are, whether their hosts answer, and what happens when a job gives some back.
 */
#include "scheduler/hosts/nodes.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/child.h"
#include "runtime/base/clock.h"
#include "runtime/base/host.h"
#include "runtime/base/proctree.h"
#include "runtime/hydra/hydra.h"
#include "runtime/wire/loop.h"
#include "scheduler/core/speeds.h"
#include "scheduler/hosts/launch.h"
#include "scheduler/hosts/state.h"

/* ---- Which nodes there are ---------------------------------------------------------------------- */

enum { NODES_MAX = 4096, SLOTS_MAX = 1024 };

/* The caller gives `name` away. `part`: of the parts of its host, from 0. */
static int add_node(struct hosts *hosts, char *name, const char *host, int slots, int part, int parts,
                    struct error *error)
{
    struct hosts_node *grown = realloc(hosts->nodes, ((size_t)hosts->node_count + 1) * sizeof *hosts->nodes);
    if (!grown || !name) {
        free(name);
        hosts->nodes = grown ? grown : hosts->nodes;
        return error_memory(error);
    }
    hosts->nodes = grown;
    grown += hosts->node_count++;
    *grown = (struct hosts_node){.name = name,
                                 .host = strdup(host),
                                 .slots = slots,
                                 .first = hosts->node_count - 1 - part,
                                 .parts = parts,
                                 .up = true,
                                 .job = -1};
    return grown->host ? 0 : error_memory(error);
}

static int read_slots(const char *text, const char *entry, struct error *error)
{
    char *end;
    long slots = strtol(text, &end, 10);
    if (*text && !*end && slots >= 1 && slots <= SLOTS_MAX)
        return (int)slots;
    return error_set(error, ERROR_REFUSED, "--hosts: '%.100s': give a host as NAME or NAME:SLOTS, with 1 to %d slots",
                     entry, SLOTS_MAX);
}

/* A host of the option, which becomes a node, or several. */
struct entry {
    const char *host;
    int slots;
};

static int check_entry(const struct entry *entries, int count, const char *host, int slots, struct error *error)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(entries[i].host, host))
            return error_set(error, ERROR_REFUSED, "--hosts: '%.100s' stands there twice; give its slots as %.100s:%d",
                             host, host, slots + entries[i].slots);
    if (count == NODES_MAX)
        return error_set(error, ERROR_REFUSED, "--hosts: more than %d hosts", NODES_MAX);
    return 0;
}

static int read_entry(struct entry *entries, int count, char *text, struct error *error)
{
    char *colon = strchr(text, ':');
    int slots = colon ? read_slots(colon + 1, text, error) : 1;
    if (slots < 0)
        return -1;
    if (colon)
        *colon = '\0';
    if (!*text || *text == '-' || strpbrk(text, " \t\n/"))
        return error_set(error, ERROR_REFUSED, "--hosts: '%.100s' is no name of a host", text);
    if (check_entry(entries, count, text, slots, error))
        return -1;
    entries[count] = (struct entry){text, slots};
    return 0;
}

static int common_divisor(int one, int other)
{
    return other ? common_divisor(other, one % other) : one;
}

/* "n2", or "n2/1" of a host that is several nodes. NULL: no memory. */
static char *name_of_part(const struct entry *entry, int part, int parts)
{
    char *name;
    if (parts == 1)
        return strdup(entry->host);
    return asprintf(&name, "%s/%d", entry->host, part + 1) < 0 ? NULL : name;
}

/* All nodes have as many slots as divide those of each host; one that has more is several nodes. */
static int add_entries(struct hosts *hosts, const struct entry *entries, int count, struct error *error)
{
    int slots = 0, all = 0, failed = 0;
    for (int i = 0; i < count; i++)
        slots = common_divisor(entries[i].slots, slots);
    for (int i = 0; i < count; i++)
        all += entries[i].slots / slots;
    if (all > NODES_MAX)
        return error_set(error, ERROR_REFUSED,
                         "--hosts: these hosts are %d nodes of %d slot%s, the most that divides the slots of each, and "
                         "there may be %d; give some of them fewer slots",
                         all, slots, slots == 1 ? "" : "s", NODES_MAX);
    for (int i = 0; i < count; i++)
        for (int part = 0, parts = entries[i].slots / slots; part < parts && !failed; part++)
            failed =
                add_node(hosts, name_of_part(&entries[i], part, parts), entries[i].host, slots, part, parts, error);
    return failed;
}

int hosts_nodes_read(struct hosts *hosts, const char *text, struct error *error)
{
    char *copy = strdup(text), *rest = copy, *entry;
    struct entry *entries = calloc(NODES_MAX, sizeof *entries);
    int count = 0, failed = copy && entries ? 0 : error_memory(error);
    while (!failed && (entry = strsep(&rest, ","))) {
        failed = read_entry(entries, count, entry, error);
        count += !failed;
    }
    failed = failed || add_entries(hosts, entries, count, error);
    free(entries);
    free(copy);
    return failed ? -1 : 0;
}

int hosts_nodes_local(struct hosts *hosts, int count, struct error *error)
{
    char name[32];
    if (count < 1 || count > NODES_MAX)
        return error_set(error, ERROR_REFUSED, "--local %d: give 1 to %d nodes", count, NODES_MAX);
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "local%d", i + 1);
        if (add_node(hosts, strdup(name), host_own(), 1, 0, 1, error))
            return -1;
    }
    hosts->local = true;
    return 0;
}

static int set_speeds(struct hosts *hosts, const double *speeds)
{
    for (int i = 0; i < hosts->node_count; i++) {
        hosts->nodes[i].speed = speeds[i];
        if (core_set_speed(hosts->core, i, speeds[i]))
            return -1;
    }
    return 0;
}

static int take_topology(struct hosts *hosts, const char *const *names, struct error *error)
{
    const char *path = hosts->options->topology;
    if (!path)
        return 0;
    if (topology_read(&hosts->topology, path, names, hosts->node_count, error))
        return -1;
    return core_set_topology(hosts->core, &hosts->topology, hosts->options->spread_cost) ? error_memory(error) : 0;
}

static int take_speeds(struct hosts *hosts, const char *const *names, struct error *error)
{
    const char *text = hosts->options->speeds;
    double *speeds = NULL;
    if (!text)
        return 0;
    if (speeds_read(&speeds, text, names, hosts->node_count, error))
        return -1;
    int failed = set_speeds(hosts, speeds);
    free(speeds);
    return failed ? error_memory(error) : 0;
}

int hosts_nodes_described(struct hosts *hosts, struct error *error)
{
    const char **names = calloc((size_t)hosts->node_count, sizeof *names);
    if (!names)
        return error_memory(error);
    for (int i = 0; i < hosts->node_count; i++)
        names[i] = hosts_node_called(hosts, i);
    int failed = take_topology(hosts, names, error) || take_speeds(hosts, names, error);
    free(names);
    return failed ? -1 : 0;
}

void hosts_nodes_free(struct hosts *hosts)
{
    topology_free(&hosts->topology);
    for (int i = 0; i < hosts->node_count; i++) {
        free(hosts->nodes[i].name);
        free(hosts->nodes[i].host);
        free(hosts->nodes[i].known);
    }
    free(hosts->nodes);
    hosts->nodes = NULL;
    hosts->node_count = 0;
}

/* ---- Whether they can be reached ---------------------------------------------------------------- */

/* Seconds between two tries: the longer the less has changed. */
static const double soonest = 1, longest = 10, limit = 10;
/* Between two looks at its mpiexec, which does not notice that it reaches nobody. */
static const double look_apart = 0.2;
static const double beginning = 5; /* seconds in which the first look may keep others waiting */

struct check {
    struct hosts *hosts;
    int node;
    struct proc_id launcher; /* nobody's child any more when it has ended */
    int fd;                  /* what it says */
    struct event *said, *late, *failing;
    int failed; /* how often in a row mpiexec was seen with a launcher that had failed */
    char text[256];
    size_t count;
};

void hosts_nodes_show(struct hosts *hosts, int node)
{
    const struct hosts_node *item = &hosts->nodes[node];
    struct error error = {0};
    if (item->job < 0)
        hosts_must(hosts, core_node(hosts->core, node, item->up && !item->suspect && !item->drained, &error), &error);
    hosts_news(hosts);
}

void hosts_nodes_up(struct hosts *hosts, int number, const char *name)
{
    struct hosts_node *node = &hosts->nodes[number];
    struct error error = {0};
    node->power = HOSTS_ON;
    free(node->known);
    node->known = strdup(name);
    node->suspect = false;
    hosts_nodes_show(hosts, number);
    if (node->up)
        return;
    node->up = true;
    node->since = hosts_now(hosts);
    node->reason[0] = '\0';
    hosts_must(
        hosts,
        journal_node_set_state(hosts->journal, node->name, node->drained ? "drain" : "up", "", node->since, &error),
        &error);
    hosts_tell(hosts, 0, "node", "%s is up", node->name);
    hosts_nodes_show(hosts, number);
}

void hosts_nodes_down(struct hosts *hosts, int number, const char *reason, const char *is)
{
    struct hosts_node *node = &hosts->nodes[number];
    const char *state = node->drained ? "drain" : "down";
    struct error error = {0};
    node->up = node->suspect = false;
    node->since = hosts_now(hosts);
    snprintf(node->reason, sizeof node->reason, "%s", reason);
    hosts_must(hosts, journal_node_set_state(hosts->journal, node->name, state, reason, node->since, &error), &error);
    hosts_tell(hosts, 0, "node", "%s is %s", node->name, is);
    hosts_nodes_show(hosts, number);
}

/* A host, with all its nodes: `node` is the first of them. */
static void be_down(struct hosts *hosts, int node, const char *why)
{
    char is[HOSTS_REASON_MAX];
    snprintf(is, sizeof is, "down: %s", why);
    for (int part = node; part < node + hosts->nodes[node].parts; part++) {
        hosts->nodes[part].suspect = false;
        if (!hosts->nodes[part].up)
            continue;
        hosts->check_pause = soonest;
        hosts_nodes_down(hosts, part, why, is);
    }
}

static void be_up(struct hosts *hosts, int node, const char *name)
{
    for (int part = node; part < node + hosts->nodes[node].parts; part++)
        hosts_nodes_up(hosts, part, name);
}

static void drop_check(struct check *check)
{
    struct event *events[] = {check->said, check->late, check->failing};
    proctree_signal_group(&check->launcher, SIGKILL);
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (events[i])
            event_free(events[i]);
    close(check->fd);
    free(check);
}

/* The last line is the host's name; what comes before is the launcher's matter. */
static void finish_check(struct check *check, bool late)
{
    char *end = check->text + strcspn(check->text, "\n");
    bool named = check->count && *end == '\n' && end > check->text && !strpbrk(check->text, " \t");
    *end = '\0';
    if (named && !late)
        be_up(check->hosts, check->node, check->text);
    else
        be_down(check->hosts, check->node, late ? "it does not answer within 10 s" : "nothing can be started there");
    check->hosts->checking[check->node] = NULL;
    drop_check(check);
}

static void on_said(evutil_socket_t fd, short what, void *context)
{
    struct check *check = context;
    ssize_t n = read(fd, check->text + check->count, sizeof check->text - 1 - check->count);
    (void)what;
    if (n > 0)
        check->count += (size_t)n;
    else if (n == 0 || errno != EINTR)
        finish_check(check, false);
}

static void be_late(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    finish_check(context, true);
}

/* It is also seen for a moment when mpiexec is just ending. */
static void look_at_it(evutil_socket_t fd, short what, void *context)
{
    struct check *check = context;
    (void)fd, (void)what;
    char name[64];
    int status;
    bool failed = proctree_runs(&check->launcher) && hydra_failed(check->launcher.number, name, sizeof name, &status);
    check->failed = failed ? check->failed + 1 : 0;
    if (check->failed < 2)
        wire_timer_set(check->failing, look_apart);
    else
        finish_check(check, false);
}

static int start_check(struct check *check, int out)
{
    char **argv = hosts_launch_hostname(check->hosts, check->node);
    struct spawn what = {
        .argv = argv, .in = SPAWN_NOTHING, .out = out, .err = SPAWN_NOTHING, .session = true, .directory = "/"};
    pid_t pid = 0;
    int failed = argv ? spawn_program(&what, &pid) : ENOMEM;
    check->launcher = proctree_id(failed ? 0 : pid);
    for (size_t i = 0; argv && argv[i]; i++)
        free(argv[i]);
    free(argv);
    return failed;
}

static int watch_check(struct check *check)
{
    struct event_base *base = check->hosts->base;
    check->said = event_new(base, check->fd, EV_READ | EV_PERSIST, on_said, check);
    check->late = evtimer_new(base, be_late, check);
    check->failing = evtimer_new(base, look_at_it, check);
    return check->said && check->late && check->failing ? event_add(check->said, NULL) : -1;
}

static void look_at_node(struct hosts *hosts, int node)
{
    struct check *check = calloc(1, sizeof *check);
    int ends[2];
    if (!check || pipe(ends)) {
        free(check);
        return;
    }
    *check = (struct check){.hosts = hosts, .node = node, .fd = ends[0]};
    int failed = watch_check(check) || start_check(check, ends[1]);
    close(ends[1]);
    if (failed) {
        drop_check(check);
        be_down(hosts, node, "no mpiexec can be started");
        return;
    }
    hosts->checking[node] = check;
    wire_timer_set(check->late, limit);
    wire_timer_set(check->failing, look_apart);
}

/* In doubt, and on, or could be, as the command that switches it on has ended. */
static bool is_to_be_seen(const struct hosts *hosts, int node)
{
    bool doubt = false;
    for (int part = node; part < node + hosts->nodes[node].parts; part++)
        doubt = doubt || hosts->nodes[part].suspect || !hosts->nodes[part].up;
    return doubt && hosts->nodes[node].power != HOSTS_OFF && !hosts->nodes[node].waking;
}

static void look_at_all(evutil_socket_t fd, short what, void *context)
{
    struct hosts *hosts = context;
    (void)fd, (void)what;
    for (int i = 0; i < hosts->node_count; i += hosts->nodes[i].parts)
        if (is_to_be_seen(hosts, i) && !hosts->checking[i])
            look_at_node(hosts, i);
    hosts_timer(hosts, &hosts->checks, look_at_all, hosts, hosts->check_pause);
    hosts->check_pause = fmin(longest, 2 * hosts->check_pause);
}

/* A host is in doubt: what is to be looked at is looked at now, and again soon. */
static void check_now(struct hosts *hosts)
{
    hosts->check_pause = soonest;
    hosts_timer(hosts, &hosts->checks, look_at_all, hosts, 0);
}

int hosts_nodes_check(struct hosts *hosts, struct error *error)
{
    hosts->check_pause = soonest;
    hosts->checking = calloc((size_t)hosts->node_count, sizeof *hosts->checking);
    if (!hosts->checking)
        return error_memory(error);
    for (int i = 0; i < hosts->node_count && !hosts->local; i++) {
        hosts->nodes[i].suspect = hosts->nodes[i].power == HOSTS_ON;
        hosts_nodes_show(hosts, i);
    }
    if (!hosts->local)
        look_at_all(-1, 0, hosts);
    return 0;
}

bool hosts_nodes_unseen(const struct hosts *hosts)
{
    bool looks = false;
    for (int i = 0; i < hosts->node_count; i++)
        looks |= hosts->nodes[i].suspect && !hosts->nodes[i].known;
    return looks && monotonic_seconds() - hosts->monotonic < beginning;
}

void hosts_nodes_check_end(struct hosts *hosts)
{
    for (int i = 0; hosts->checking && i < hosts->node_count; i++)
        if (hosts->checking[i])
            drop_check(hosts->checking[i]);
    free(hosts->checking);
    hosts->checking = NULL;
}

/* ---- Nodes that a job gives back ---------------------------------------------------------------- */

void hosts_nodes_release(struct hosts_job *job, const int *nodes, int count)
{
    struct error error = {0};
    for (int i = 0; i < count; i++)
        hosts_must(job->hosts,
                   journal_release(job->hosts->journal, job->hosts->nodes[nodes[i]].name, job->number, &error), &error);
}

void hosts_nodes_give_back(struct hosts_job *job, const int *nodes, int count)
{
    hosts_jobs_give(job, nodes, count);
    for (int i = 0; i < count; i++)
        hosts_nodes_show(job->hosts, nodes[i]);
}

/* With the other nodes of the host. */
void hosts_nodes_suspect(struct hosts *hosts, const int *nodes, int count)
{
    for (int i = 0; i < count && !hosts->local; i++)
        for (int part = hosts->nodes[nodes[i]].first, end = part + hosts->nodes[part].parts; part < end; part++)
            hosts->nodes[part].suspect = true;
    if (count && !hosts->local)
        check_now(hosts);
}
