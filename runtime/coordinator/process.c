/* The table of the processes, and the present world. */
#include "runtime/coordinator/process.h"

#include <stdlib.h>

#include "runtime/coordinator/state.h"
#include "runtime/wire/messages.h"

int processes_init(struct processes *s, int count, int size)
{
    s->table = calloc((size_t)count, sizeof *s->table);
    s->world = calloc((size_t)count, sizeof *s->world);
    if (!s->table || !s->world)
        return -1;
    s->count = count;
    s->size = size;
    for (int p = 0; p < count; p++) {
        s->table[p].state = p < size ? PROCESS_RUNNING : PROCESS_STANDBY;
        s->table[p].rank = p < size ? p : -1;
        s->world[p] = p;
    }
    return 0;
}

bool process_keep_claim(struct process *p, const struct report_claim *claim, enum claim_by by)
{
    struct kept_claim *kept = calloc(1, sizeof *kept), **at = &p->claims;
    if (!kept || !message_keep(&kept->message, KIND_REPORT, claim->said)) {
        free(kept);
        return false;
    }
    while (*at)
        at = &(*at)->next;
    kept->by = by;
    *at = kept;
    return true;
}

void process_pass_claim(struct process *p)
{
    struct kept_claim *first = p->claims;
    p->claims = first->next;
    message_free(&first->message);
    free(first);
}

/* It is no rank any more, so its claims count no more. */
static void forget_claims(struct process *p)
{
    while (p->claims)
        process_pass_claim(p);
}

void processes_destroy(struct processes *s)
{
    for (int p = 0; p < s->count; p++) {
        forget_claims(&s->table[p]);
        free(s->table[p].told);
        message_free(&s->table[p].survey_answer);
        message_free(&s->table[p].measure_answer);
    }
    free(s->table);
    free(s->world);
}

struct process *process_at(const struct coordinator *c, int process)
{
    return &c->processes.table[process];
}

int process_number(const struct coordinator *c, const struct process *p)
{
    return (int)(p - c->processes.table);
}

struct process *process_of_rank(const struct coordinator *c, int rank)
{
    return &c->processes.table[c->processes.world[rank]];
}

void process_become(struct process *p, enum process_state state)
{
    p->state = state;
}

void process_end(struct process *p)
{
    process_become(p, PROCESS_GONE);
    p->rank = -1;
}

void process_forget_answers(struct process *p)
{
    p->answered = p->ended = p->arrived = false;
}

void process_make_world(struct coordinator *c, int id, const char *leaves, const int *joiners, int joining)
{
    struct processes *s = &c->processes;
    int size = 0;
    for (int r = 0; r < s->size; r++) {
        struct process *p = process_of_rank(c, r);
        p->rank = leaves[r] ? -1 : size;
        if (leaves[r])
            forget_claims(p);
        else
            s->world[size++] = s->world[r];
    }
    for (int j = 0; j < joining; j++) {
        struct process *p = &s->table[joiners[j]];
        process_become(p, PROCESS_RUNNING);
        p->rank = size;
        s->world[size++] = joiners[j];
    }
    s->size = size;
    s->world_id = id;
}
