/* A process that crashed dumps its memory: see dump.h. */
#include "runtime/coordinator/dump.h"

#include "runtime/base/json.h"
#include "runtime/coordinator/fatal.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/state.h"
#include "runtime/wire/messages.h"

#define DUMP_TIMEOUT 10  /* seconds */
#define HEAR_TIMEOUT 1.5 /* seconds; less than crash.c waits before it goes on by itself */

/* What a process gets is in order: who answers the ping has heard what came before. */
static void tell_others(struct coordinator *c)
{
    for (int p = 1; p < c->processes.count; p++) {
        cJSON *message = json_message(ORDER(abort));
        cJSON_AddBoolToObject(message, "wait", 1);
        processes_send(c, p, message);
        process_at(c, p)->heard = false;
        processes_send(c, p, json_message(ORDER(ping)));
    }
}

static bool others_have_heard(const struct coordinator *c)
{
    for (int p = 1; p < c->processes.count; p++) {
        enum process_state state = process_at(c, p)->state;
        bool there = process_at(c, p)->attached && state != PROCESS_GONE && state != PROCESS_LOST;
        if (there && !process_at(c, p)->heard)
            return false;
    }
    return true;
}

static void let_it_dump(struct coordinator *c)
{
    c->dump.begun = true;
    timers_set(&c->timers, &c->dump.limit, DUMP_TIMEOUT);
    processes_send(c, c->dump.process, json_message(ORDER(dump)));
}

void dump_begin(struct coordinator *c, int process)
{
    c->dump.process = process;
    timers_set(&c->timers, &c->dump.limit, HEAR_TIMEOUT);
    if (process == 0)
        tell_others(c);
    else
        let_it_dump(c);
}

void dump_pong(struct coordinator *c, int process)
{
    process_at(c, process)->heard = true;
}

bool dump_is_on(const struct coordinator *c)
{
    return c->dump.process >= 0;
}

bool dump_is_of(const struct coordinator *c, int process)
{
    return c->dump.process == process;
}

void dump_advance(struct coordinator *c)
{
    if (dump_is_on(c) && !c->dump.begun && others_have_heard(c))
        let_it_dump(c);
}

static void timeout(void *context)
{
    struct coordinator *c = context;
    if (c->dump.begun)
        fatal_fault(c, NULL);
    else
        let_it_dump(c);
}

void dump_init(struct coordinator *c)
{
    c->dump.process = -1;
    timer_init(&c->dump.limit, timeout, c, NULL);
}
