/* What is known of a process, and what is sent to it. */
#include "runtime/coordinator/processes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/coordinator/process.h"
#include "runtime/coordinator/state.h"

int processes_add(struct coordinator *c, int count, int adaptation)
{
    struct processes *s = &c->processes;
    int first = s->count;
    size_t total = (size_t)first + (size_t)count;
    struct process *table = realloc(s->table, total * sizeof *table);
    if (table)
        s->table = table;
    int *world = realloc(s->world, total * sizeof *world);
    if (world)
        s->world = world;
    if (!table || !world)
        return -1;
    for (int p = first; p < first + count; p++)
        s->table[p] = (struct process){.state = PROCESS_JOINING, .rank = -1, .launch = adaptation};
    s->count = (int)total;
    return first;
}

int processes_count(const struct coordinator *c)
{
    return c->processes.count;
}

enum process_state processes_state(const struct coordinator *c, int process)
{
    return process_at(c, process)->state;
}

bool processes_is_rank(const struct coordinator *c, int process)
{
    return process_at(c, process)->rank >= 0;
}

bool processes_is_free(const struct coordinator *c, int process)
{
    const struct process *p = process_at(c, process);
    return p->state == PROCESS_STANDBY && !p->dismissed;
}

bool processes_is_attached(const struct coordinator *c, int process)
{
    return process_at(c, process)->attached;
}

const char *processes_host(const struct coordinator *c, int process)
{
    return process_at(c, process)->host;
}

struct proc_id processes_here(const struct coordinator *c, int process)
{
    return process_at(c, process)->here;
}

const cpu_set_t *processes_cores(const struct coordinator *c, int process)
{
    const struct process *p = process_at(c, process);
    return p->bound ? &p->cores : NULL;
}

int processes_launch(const struct coordinator *c, int process)
{
    return process_at(c, process)->launch;
}

void processes_gone(struct coordinator *c, int process)
{
    process_become(process_at(c, process), PROCESS_GONE);
}

int processes_of_rank(const struct coordinator *c, int rank)
{
    return c->processes.world[rank];
}

bool processes_all_attached(const struct coordinator *c)
{
    for (int r = 0; r < c->processes.size; r++)
        if (!process_of_rank(c, r)->attached)
            return false;
    return true;
}

bool processes_all_ended(const struct coordinator *c)
{
    for (int r = 0; r < c->processes.size; r++)
        if (!process_of_rank(c, r)->ended)
            return false;
    return true;
}

char *processes_hosts(const struct coordinator *c)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    for (int rank = 0, next; stream && rank < c->processes.size; rank = next) {
        const char *host = process_of_rank(c, rank)->host;
        for (next = rank + 1; next < c->processes.size && !strcmp(process_of_rank(c, next)->host, host);)
            next++;
        fprintf(stream, "%s%s:%d", rank ? "," : "", host, next - rank);
    }
    if (stream)
        fclose(stream);
    return text;
}

#define UNANSWERED 2 /* questions, twice a second, that may be so by chance */

bool processes_are_silent(const struct coordinator *c, bool ranks)
{
    for (int p = 0; p < c->processes.count; p++)
        if (process_at(c, p)->unanswered > UNANSWERED && (!ranks || process_at(c, p)->rank >= 0))
            return true;
    return false;
}

void processes_send_copy(struct coordinator *c, int process, const cJSON *message)
{
    c->config.ops->send(c->config.context, process, message);
}

void processes_send(struct coordinator *c, int process, cJSON *message)
{
    processes_send_copy(c, process, message);
    cJSON_Delete(message);
}

void processes_send_all(struct coordinator *c, const int *processes, int count, const cJSON *message)
{
    if (c->config.ops->send_all)
        c->config.ops->send_all(c->config.context, processes, count, message);
    else
        for (int i = 0; i < count; i++)
            processes_send_copy(c, processes[i], message);
}

void processes_send_where(struct coordinator *c, bool (*is)(const struct process *p), cJSON *message)
{
    int count = 0, *list = malloc(sizeof *list * (size_t)c->processes.count);
    for (int p = 0; p < c->processes.count; p++)
        if (is(process_at(c, p)) && list)
            list[count++] = p;
        else if (is(process_at(c, p)))
            processes_send_copy(c, p, message);
    processes_send_all(c, list, count, message);
    cJSON_Delete(message);
    free(list);
}

void processes_send_world(struct coordinator *c, cJSON *message)
{
    processes_send_all(c, c->processes.world, c->processes.size, message);
    cJSON_Delete(message);
}
