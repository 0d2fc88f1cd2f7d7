/* Processes that stand by under join: choosing and waking them, and calling them off. */
#include "runtime/backends/parking.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/host.h"
#include "runtime/base/json.h"
#include "runtime/base/proctree.h"
#include "runtime/coordinator/releases.h"
#include "runtime/coordinator/replies.h"
#include "runtime/member/member.h"
#include "runtime/wire/messages.h"

#define GRACE  3.0 /* seconds for coming back after a joining that was called off */
#define AGAIN  0.2 /* seconds between two attempts at ending one that does not */
#define ENOUGH 25  /* attempts: what is stopped on another host stays there until its launcher ends it */

/* Parked processes that were told to join, and then not to. */
struct recall {
    int adaptation, *processes, count;
    double due;
    int attempts;
    struct recall *next;
};

static struct recall *recalls;

/* ---- Choosing and waking ------------------------------------------------------------ */

void parking_choose(const struct coordinator *c, struct adaptation *a, const char *hosts)
{
    a->parked = 0;
    for (int p = 0; p < processes_count(c) && a->parked < a->joining; p++)
        if (processes_is_free(c, p) && (!hosts || hostlist_has(hosts, processes_host(c, p))))
            a->joiners[a->parked++] = p;
}

/* Numbers of one launch follow each other, so joiners of one launch do. */
static cJSON *groups(const struct coordinator *c, const struct adaptation *a)
{
    cJSON *sizes = cJSON_CreateArray();
    for (int j = 0, begin = 0; j < a->joining; j++)
        if (j + 1 == a->joining || processes_launch(c, a->joiners[j]) != processes_launch(c, a->joiners[j + 1])) {
            cJSON_AddItemToArray(sizes, cJSON_CreateNumber(j + 1 - begin));
            begin = j + 1;
        }
    return sizes;
}

cJSON *parking_wake(const struct coordinator *c, const struct adaptation *a)
{
    cJSON *message = json_message(ORDER(wake));
    cJSON_AddNumberToObject(message, "adaptation", a->id);
    if (!a->parked) /* then it is all of a launch that joins */
        return message;
    cJSON_AddItemToObject(message, "joiners", cJSON_CreateIntArray(a->joiners, a->joining));
    cJSON_AddItemToObject(message, "groups", groups(c, a));
    return message;
}

void parking_start(struct coordinator *c, const struct adaptation *a)
{
    cJSON *message = parking_wake(c, a);
    for (int j = 0; j < a->parked; j++)
        processes_send_copy(c, a->joiners[j], message);
    cJSON_Delete(message);
}

/* ---- Calling them off ------------------------------------------------------------------ */

static struct recall *recall_of(struct coordinator *c, const struct adaptation *a)
{
    struct recall *r = recalls;
    while (r && r->adaptation != a->id)
        r = r->next;
    if (r || !a->parked)
        return r;
    r = calloc(1, sizeof *r);
    if (r)
        r->processes = malloc(sizeof *r->processes * (size_t)a->parked);
    if (!r || !r->processes) {
        free(r);
        fatal_memory(c);
        return NULL;
    }
    memcpy(r->processes, a->joiners, sizeof *r->processes * (size_t)a->parked);
    r->adaptation = a->id;
    r->count = a->parked;
    r->next = recalls;
    return recalls = r;
}

void parking_cancel(struct coordinator *c, const struct adaptation *a)
{
    struct recall *r = recall_of(c, a);
    for (int j = 0; j < a->parked; j++)
        processes_send(c, a->joiners[j], json_message(ORDER(call_off)));
    if (r && !r->attempts)
        r->due = monotonic_seconds() + GRACE;
}

/* What merely plays this host (EPOP_HOST_NAME) may be on another one. */
void parking_kill_here(const struct coordinator *c, int process)
{
    struct proc_id here = processes_here(c, process);
    if (!strcmp(processes_host(c, process), host_own()))
        proctree_signal(&here, SIGKILL);
}

/* Is it one of those that have to end? It may have come back, and may be joining again by now. */
static bool awaited(const struct coordinator *c, const struct recall *r, int process)
{
    const struct adaptation *a = adaptation_pending(c);
    bool of_this = a && a->id == r->adaptation;
    enum process_state state = processes_state(c, process);
    return state == PROCESS_RETURNING || (of_this && state == PROCESS_JOINING);
}

/* They are asked first: a control thread hears it wherever the program's thread is. Returns how many there are still.
 */
static int end_those_left(struct coordinator *c, struct recall *r)
{
    int left = 0;
    for (int i = 0; i < r->count; i++) {
        int p = r->processes[i];
        if (!awaited(c, r, p))
            continue;
        left++;
        processes_send(c, p, json_message(ORDER(join_end)));
        if (r->attempts)
            parking_kill_here(c, p);
    }
    r->due = monotonic_seconds() + AGAIN;
    r->attempts++;
    return left;
}

void parking_kill(struct coordinator *c, const struct adaptation *a)
{
    struct recall *r = recall_of(c, a);
    if (r)
        end_those_left(c, r);
}

double parking_tick(struct coordinator *c)
{
    double now = monotonic_seconds(), wait = 3600;
    for (struct recall **link = &recalls; *link;) {
        struct recall *r = *link;
        if (now >= r->due && (!end_those_left(c, r) || r->attempts > ENOUGH)) {
            *link = r->next;
            free(r->processes);
            free(r);
            continue;
        }
        wait = r->due - now < wait ? r->due - now : wait;
        link = &r->next;
    }
    return wait > 0.01 ? wait : 0.01;
}
