/* Who sent how much to whom, which only both ends together say: see events.h. */
#include <stdlib.h>

#include "driver/trace/clock.h"
#include "driver/trace/events.h"
#include "driver/trace/lanes.h"

struct flow_end {
    const struct trace_header *process;
    const struct trace_record *record;
    int from, to;
};

struct flow_ends {
    size_t count;
    struct flow_end *list;
};

/* Of one move the sender's end comes first. */
static int by_move(const void *left, const void *right)
{
    const struct flow_end *a = left, *b = right;
    const int keys[2][5] = {{a->record->c, a->record->name, a->from, a->to, a->record->kind},
                            {b->record->c, b->record->name, b->from, b->to, b->record->kind}};
    for (int i = 0; i < 5; i++)
        if (keys[0][i] != keys[1][i])
            return keys[0][i] < keys[1][i] ? -1 : 1;
    return 0;
}

static bool is_end(const struct trace_record *r)
{
    return r->kind == TRACE_SENT || r->kind == TRACE_RECEIVED;
}

static void collect_ends(struct flow_ends *ends, const struct trace_buffers *all)
{
    size_t most = 1;
    for (int i = 0; i < all->count; i++)
        most += all->buffers[i]->lanes[TRACE_STRUCTURE].used;
    *ends = (struct flow_ends){.list = malloc(most * sizeof *ends->list)};
    for (int i = 0; ends->list && i < all->count; i++) {
        const struct trace_header *p = all->buffers[i];
        const struct trace_record *r = lane_records(p, TRACE_STRUCTURE), *end = r + p->lanes[TRACE_STRUCTURE].used;
        for (; r < end; r++)
            if (is_end(r) && r->kind == TRACE_SENT)
                ends->list[ends->count++] = (struct flow_end){p, r, p->process, r->b};
            else if (is_end(r))
                ends->list[ends->count++] = (struct flow_end){p, r, r->b, p->process};
    }
    if (ends->list)
        qsort(ends->list, ends->count, sizeof *ends->list, by_move);
}

static void write_end(struct trace_out *out, const struct flow_end *end, bool sends, int id)
{
    char more[200];
    snprintf(more, sizeof more, "\"id\":%d,%s\"args\":{\"bytes\":%lld,\"from\":%d,\"to\":%d,\"adaptation\":%d}", id,
             sends ? "" : "\"bp\":\"e\",", (long long)end->record->a, end->from, end->to, end->record->c);
    out_event(out, &(struct trace_event){sends ? 's' : 'f', end->process->process, end->process->process,
                                         clock_common(end->process, end->record->begin), -1, "data", "redistribution",
                                         more});
}

static bool same_move(const struct flow_end *sent, const struct flow_end *received)
{
    return sent->record->kind == TRACE_SENT && received->record->kind == TRACE_RECEIVED &&
           sent->record->c == received->record->c && sent->record->name == received->record->name &&
           sent->from == received->from && sent->to == received->to;
}

void events_of_flows(struct trace_out *out, const struct trace_buffers *all)
{
    struct flow_ends ends;
    int id = 0;
    collect_ends(&ends, all);
    for (size_t i = 0; i + 1 < ends.count; i++) {
        if (!same_move(&ends.list[i], &ends.list[i + 1]))
            continue;
        write_end(out, &ends.list[i], true, ++id);
        write_end(out, &ends.list[++i], false, id);
    }
    free(ends.list);
}
