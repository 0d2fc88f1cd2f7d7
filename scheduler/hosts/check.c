/* Reaching hosts: see hosts_check.h. */
#include "scheduler/hosts/check.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/spawn.h"
#include "runtime/hydra/hydra.h"
#include "runtime/wire/loop.h"
#include "scheduler/hosts/free.h"
#include "scheduler/hosts/launch.h"
#include "scheduler/hosts/tell.h"

/* Seconds between two tries: the longer the less has changed. */
static const double first = 1, longest = 10, limit = 10;
static const double look_apart =
    0.2; /* and between two looks at its mpiexec, which does not notice that it reaches nobody */
static const double beginning = 5; /* seconds in which the first look may keep others waiting */

struct check {
    struct hosts *hosts;
    int node;
    pid_t pid;
    int fd; /* what it says */
    struct event *said, *late, *failing;
    int failed; /* how often in a row mpiexec was seen with a launcher that had failed */
    char text[256];
    size_t count;
};

static void be_up(struct hosts_node *node, struct hosts *hosts, const char *name)
{
    struct error error = {0};
    free(node->known);
    node->known = strdup(name);
    node->suspect = false;
    hosts_free_show(hosts, (int)(node - hosts->nodes));
    if (node->up)
        return;
    node->up = true;
    node->since = hosts_now(hosts);
    node->reason[0] = '\0';
    hosts_must(hosts,
               journal_node_state(hosts->journal, node->name, node->drained ? "drain" : "up", "", node->since, &error),
               &error);
    hosts_tell(hosts, 0, "node", "%s is up", node->name);
    hosts_free_show(hosts, (int)(node - hosts->nodes));
}

static void be_down(struct hosts_node *node, struct hosts *hosts, const char *why)
{
    struct error error = {0};
    node->suspect = false;
    if (!node->up)
        return;
    hosts->check_pause = first;
    node->up = false;
    node->since = hosts_now(hosts);
    snprintf(node->reason, sizeof node->reason, "%s", why);
    hosts_must(
        hosts,
        journal_node_state(hosts->journal, node->name, node->drained ? "drain" : "down", why, node->since, &error),
        &error);
    hosts_tell(hosts, 0, "node", "%s is down: %s", node->name, why);
    hosts_free_show(hosts, (int)(node - hosts->nodes));
}

static void drop(struct check *check)
{
    struct event *events[] = {check->said, check->late, check->failing};
    if (check->pid > 0)
        kill(-check->pid, SIGKILL);
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (events[i])
            event_free(events[i]);
    close(check->fd);
    free(check);
}

/* The last line is the host's name; what comes before is the launcher's matter. */
static void finish(struct check *check, bool late)
{
    struct hosts_node *node = &check->hosts->nodes[check->node];
    char *end = check->text + strcspn(check->text, "\n");
    bool named = check->count && *end == '\n' && end > check->text && !strpbrk(check->text, " \t");
    *end = '\0';
    if (named && !late)
        be_up(node, check->hosts, check->text);
    else
        be_down(node, check->hosts, late ? "it does not answer within 10 s" : "nothing can be started there");
    check->hosts->checking[check->node] = NULL;
    drop(check);
}

static void on_said(evutil_socket_t fd, short what, void *context)
{
    struct check *check = context;
    ssize_t n = read(fd, check->text + check->count, sizeof check->text - 1 - check->count);
    (void)what;
    if (n > 0)
        check->count += (size_t)n;
    else if (n == 0 || errno != EINTR)
        finish(check, false);
}

static void be_late(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    finish(context, true);
}

/* It is also seen for a moment when mpiexec is just ending. */
static void look_at_it(evutil_socket_t fd, short what, void *context)
{
    struct check *check = context;
    (void)fd, (void)what;
    char name[64];
    int status;
    check->failed = hydra_failed(check->pid, name, sizeof name, &status) ? check->failed + 1 : 0;
    if (check->failed < 2)
        wire_timer_set(check->failing, look_apart);
    else
        finish(check, false);
}

static int start(struct check *check, int out)
{
    char **argv = hosts_launch_name(check->hosts, check->node);
    struct spawn what = {
        .argv = argv, .in = SPAWN_NOTHING, .out = out, .err = SPAWN_NOTHING, .session = true, .directory = "/"};
    int failed = argv ? spawn_program(&what, &check->pid) : ENOMEM;
    for (size_t i = 0; argv && argv[i]; i++)
        free(argv[i]);
    free(argv);
    return failed;
}

static int watch(struct check *check)
{
    struct event_base *base = check->hosts->base;
    check->said = event_new(base, check->fd, EV_READ | EV_PERSIST, on_said, check);
    check->late = evtimer_new(base, be_late, check);
    check->failing = evtimer_new(base, look_at_it, check);
    return check->said && check->late && check->failing ? event_add(check->said, NULL) : -1;
}

static void look(struct hosts *hosts, int node)
{
    struct check *check = calloc(1, sizeof *check);
    int ends[2];
    if (!check || pipe(ends)) {
        free(check);
        return;
    }
    *check = (struct check){.hosts = hosts, .node = node, .fd = ends[0]};
    int failed = watch(check) || start(check, ends[1]);
    close(ends[1]);
    if (failed) {
        drop(check);
        be_down(&hosts->nodes[node], hosts, "no mpiexec can be started");
        return;
    }
    hosts->checking[node] = check;
    wire_timer_set(check->late, limit);
    wire_timer_set(check->failing, look_apart);
}

static void ring(evutil_socket_t fd, short what, void *context)
{
    struct hosts *hosts = context;
    (void)fd, (void)what;
    for (int i = 0; i < hosts->node_count; i++)
        if ((hosts->nodes[i].suspect || !hosts->nodes[i].up) && !hosts->checking[i])
            look(hosts, i);
    hosts_timer(hosts, &hosts->checks, ring, hosts, hosts->check_pause);
    hosts->check_pause = fmin(longest, 2 * hosts->check_pause);
}

int hosts_check_begin(struct hosts *hosts, struct error *error)
{
    hosts->check_pause = first;
    hosts->checking = calloc((size_t)hosts->node_count, sizeof *hosts->checking);
    if (!hosts->checking)
        return error_memory(error);
    for (int i = 0; i < hosts->node_count && !hosts->local; i++) {
        hosts->nodes[i].suspect = true;
        hosts_free_show(hosts, i);
    }
    if (!hosts->local)
        ring(-1, 0, hosts);
    return 0;
}

bool hosts_check_begins(const struct hosts *hosts)
{
    bool looks = false;
    for (int i = 0; i < hosts->node_count; i++)
        looks |= hosts->nodes[i].suspect && !hosts->nodes[i].known;
    return looks && monotonic_seconds() - hosts->monotonic < beginning;
}

void hosts_check_now(struct hosts *hosts)
{
    hosts->check_pause = first;
    hosts_timer(hosts, &hosts->checks, ring, hosts, 0);
}

void hosts_check_end(struct hosts *hosts)
{
    for (int i = 0; hosts->checking && i < hosts->node_count; i++)
        if (hosts->checking[i])
            drop(hosts->checking[i]);
    free(hosts->checking);
    hosts->checking = NULL;
}
