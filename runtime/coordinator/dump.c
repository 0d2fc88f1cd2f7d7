/*
 * A process that crashed dumps its memory, which the job waits for, though not for ever. While rank 0's process does so
 * nobody can tell the others anything, and then they lose it: so it waits until they have heard that the job ends.
 */
#include "runtime/coordinator/state.h"
#include "runtime/member/json.h"
#include "runtime/member/member.h"

#define DUMP_TIMEOUT 10  /* seconds */
#define HEAR_TIMEOUT 1.5 /* seconds; less than crash.c waits before it goes on by itself */

/* What a process gets is in order: who answers the ping has heard what came before. */
static void tell_others(struct coordinator *c)
{
    for (int p = 1; p < c->process_count; p++) {
        cJSON *message = json_message("abort");
        cJSON_AddBoolToObject(message, "wait", 1);
        send_to(c, p, message);
        c->processes[p].answered = false;
        send_to(c, p, json_message("ping"));
    }
}

static bool others_have_heard(const struct coordinator *c)
{
    for (int p = 1; p < c->process_count; p++) {
        enum process_state state = c->processes[p].state;
        bool there = c->processes[p].here && state != PROCESS_GONE && state != PROCESS_LOST;
        if (there && !c->processes[p].answered)
            return false;
    }
    return true;
}

static void let_it_dump(struct coordinator *c)
{
    c->dump_begun = true;
    c->dump_deadline = monotonic_seconds() + DUMP_TIMEOUT;
    send_to(c, c->dumping, json_message("dump"));
}

void dump_begin(struct coordinator *c, int process)
{
    c->dumping = process;
    c->dump_deadline = monotonic_seconds() + HEAR_TIMEOUT;
    if (process == 0)
        tell_others(c);
    else
        let_it_dump(c);
}

void dump_look(struct coordinator *c)
{
    if (c->dumping < 0)
        return;
    bool late = monotonic_seconds() > c->dump_deadline;
    if (c->dump_begun && late)
        c->config.ops->fatal(c->config.context, NULL);
    else if (!c->dump_begun && (late || others_have_heard(c)))
        let_it_dump(c);
}

double dump_wait(const struct coordinator *c)
{
    return c->dumping >= 0 ? c->dump_deadline - monotonic_seconds() : 3600;
}
