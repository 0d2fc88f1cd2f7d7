/* The daemon's tables as JSON: see rows.h. What is not known is left out. */
#include "scheduler/epoprm/rows.h"

#include <math.h>

/* No member: it is not known. */
static bool add_time(cJSON *object, const char *name, double value)
{
    return value < 0 || !isfinite(value) || cJSON_AddNumberToObject(object, name, value);
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

static cJSON *whole(cJSON *object, bool complete)
{
    if (complete)
        return object;
    cJSON_Delete(object);
    return NULL;
}

cJSON *row_job(const struct daemon_job *job)
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
                    add_time(object, "left", job->left) && add_time(object, "reserved", job->reserved);
    return whole(object, complete);
}

cJSON *row_node(const struct daemon_node *node)
{
    cJSON *object = cJSON_CreateObject();
    bool complete = object && add_text(object, "node", node->name) && add_text(object, "host", node->host) &&
                    add_number(object, "slots", node->slots) && add_text(object, "state", node->state) &&
                    (node->job < 0 || add_number(object, "job", (double)node->job)) &&
                    add_some_text(object, "reason", node->reason) && add_time(object, "since", node->since);
    return whole(object, complete);
}

cJSON *row_event(const struct journal_event *event)
{
    cJSON *object = cJSON_CreateObject();
    bool complete = object && add_text(object, "event", event->kind) && add_number(object, "time", event->time) &&
                    (event->job <= 0 || add_number(object, "job", (double)event->job)) &&
                    add_text(object, "text", event->text) && add_some_text(object, "state", event->state) &&
                    (!event->to || (add_number(object, "from", event->from) && add_number(object, "to", event->to))) &&
                    add_some_text(object, "nodes", event->nodes);
    return whole(object, complete);
}
