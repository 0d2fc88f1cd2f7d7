/* Lists of hosts: see hosts_list.h. */
#include "scheduler/hosts/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NODES_MAX = 4096, SLOTS_MAX = 1024 };

static int add(struct hosts *hosts, const char *name, const char *host, int slots, struct error *error)
{
    struct hosts_node *grown = realloc(hosts->nodes, ((size_t)hosts->node_count + 1) * sizeof *hosts->nodes);
    if (!grown)
        return error_memory(error);
    hosts->nodes = grown;
    grown += hosts->node_count;
    *grown = (struct hosts_node){.name = strdup(name), .host = strdup(host), .slots = slots, .up = true, .job = -1};
    hosts->node_count++;
    return grown->name && grown->host ? 0 : error_memory(error);
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

static int check(const struct hosts *hosts, const char *host, int slots, struct error *error)
{
    for (int i = 0; i < hosts->node_count; i++)
        if (!strcmp(hosts->nodes[i].host, host))
            return error_set(error, ERROR_REFUSED, "--hosts: '%.100s' stands there twice; give its slots as %.100s:%d",
                             host, host, slots + hosts->nodes[i].slots);
    if (hosts->node_count && hosts->nodes[0].slots != slots)
        return error_set(error, ERROR_REFUSED,
                         "--hosts: %.100s has %d slots, and %.100s %d; all nodes of a daemon have the same number",
                         hosts->nodes[0].host, hosts->nodes[0].slots, host, slots);
    if (hosts->node_count == NODES_MAX)
        return error_set(error, ERROR_REFUSED, "--hosts: more than %d hosts", NODES_MAX);
    return 0;
}

static int read_entry(struct hosts *hosts, char *entry, struct error *error)
{
    char *colon = strchr(entry, ':');
    int slots = colon ? read_slots(colon + 1, entry, error) : 1;
    if (slots < 0)
        return -1;
    if (colon)
        *colon = '\0';
    if (!*entry || *entry == '-' || strpbrk(entry, " \t\n/"))
        return error_set(error, ERROR_REFUSED, "--hosts: '%.100s' is no name of a host", entry);
    return check(hosts, entry, slots, error) ? -1 : add(hosts, entry, entry, slots, error);
}

int hosts_list_read(struct hosts *hosts, const char *text, struct error *error)
{
    char *copy = strdup(text), *rest = copy, *entry;
    int failed = copy ? 0 : error_memory(error);
    while (!failed && (entry = strsep(&rest, ",")))
        failed = read_entry(hosts, entry, error);
    free(copy);
    return failed;
}

int hosts_list_local(struct hosts *hosts, int count, struct error *error)
{
    char host[256] = "localhost", name[32];
    if (count < 1 || count > NODES_MAX)
        return error_set(error, ERROR_REFUSED, "--local %d: give 1 to %d nodes", count, NODES_MAX);
    gethostname(host, sizeof host - 1);
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "local%d", i + 1);
        if (add(hosts, name, host, 1, error))
            return -1;
    }
    hosts->local = true;
    return 0;
}

void hosts_list_free(struct hosts *hosts)
{
    for (int i = 0; i < hosts->node_count; i++) {
        free(hosts->nodes[i].name);
        free(hosts->nodes[i].host);
        free(hosts->nodes[i].known);
    }
    free(hosts->nodes);
    hosts->nodes = NULL;
    hosts->node_count = 0;
}
