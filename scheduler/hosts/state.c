/* What all parts of the daemon of hosts use: see hosts.h. */
#include "scheduler/hosts/state.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/wire/loop.h"

double hosts_now(const struct hosts *hosts)
{
    return hosts->wall + (monotonic_seconds() - hosts->monotonic);
}

void hosts_news(struct hosts *hosts)
{
    hosts->news = true;
    event_active(hosts->decide, EV_TIMEOUT, 0);
}

void hosts_over(struct hosts *hosts)
{
    hosts->ends = true;
    wire_wake(hosts->base);
}

void hosts_timer(struct hosts *hosts, struct event **timer, event_callback_fn ring, void *context, double seconds)
{
    struct error error = {0};
    if (!*timer)
        *timer = evtimer_new(hosts->base, ring, context);
    if (*timer)
        wire_timer_set(*timer, seconds);
    else
        hosts_must(hosts, error_memory(&error), &error);
}

void hosts_timer_stop(struct event *timer)
{
    if (timer)
        evtimer_del(timer);
}

void hosts_must(struct hosts *hosts, int result, const struct error *error)
{
    if (!result || hosts->error.code)
        return;
    hosts->error = *error;
    hosts_over(hosts);
}

/* By the clock, so that those of a daemon before are others; resizes have theirs from the journal, which are small. */
int64_t hosts_id(struct hosts *hosts)
{
    int64_t id = (int64_t)(wall_seconds() * 1000);
    hosts->last_id = id > hosts->last_id ? id : hosts->last_id + 1;
    return hosts->last_id;
}

struct hosts_node *hosts_node_named(struct hosts *hosts, const char *name)
{
    for (int i = 0; i < hosts->node_count; i++)
        if (!strcmp(hosts->nodes[i].name, name))
            return &hosts->nodes[i];
    return NULL;
}

char *hosts_names(const struct hosts *hosts, const int *nodes, int count)
{
    size_t length = 1;
    for (int i = 0; i < count; i++)
        length += strlen(hosts->nodes[nodes[i]].name) + 1;
    char *text = calloc(length, 1);
    for (int i = 0; text && i < count; i++) {
        strcat(text, i ? "," : "");
        strcat(text, hosts->nodes[nodes[i]].name);
    }
    return text;
}

void hosts_stop_at(const char *step)
{
    const char *at = getenv("EPOPRM_STOP_AT");
    if (at && !strcmp(at, step))
        raise(SIGSTOP);
}
