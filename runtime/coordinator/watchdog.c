/* The watchdog: see watchdog.h. */
#include "runtime/coordinator/watchdog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/coordinator/adaptation.h"
#include "runtime/coordinator/behind.h"
#include "runtime/coordinator/checkpoint.h"
#include "runtime/coordinator/fatal.h"
#include "runtime/coordinator/job_state.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/state.h"
#include "runtime/coordinator/stops.h"
#include "runtime/coordinator/survey.h"
#include "runtime/wire/messages.h"

#define LOOKS        4  /* while it would have to say something */
#define LONGEST_WAIT 10 /* seconds between two looks */

static double period(const struct coordinator *c)
{
    double wait = c->config.watchdog / LOOKS;
    return wait < LONGEST_WAIT ? wait : LONGEST_WAIT;
}

/* Is there a reason why nothing moves? */
static bool excused(const struct coordinator *c)
{
    bool other_world = c->watchdog.world_id != c->processes.world_id;
    return !c->watchdog.moved || c->pause.on || checkpoint_is_on(c) || behind_is_awaited(c) || stops_are_on(c) ||
           adaptation_is(c, ADAPTATION_WINDOW) || other_world || job_state(c) == JOB_IS_STARTING;
}

static void note_moved(struct coordinator *c)
{
    c->watchdog.moved = monotonic_seconds();
    c->watchdog.world_id = c->processes.world_id;
    c->watchdog.stalled = false;
}

/* Has any rank moved since the last look? Notes where they are now. */
static bool any_moved(struct coordinator *c)
{
    bool moved = false;
    for (int r = 0; r < c->processes.size; r++) {
        struct process *p = process_of_rank(c, r);
        const struct report_located *place = p->survey_answer.is;
        if (!place)
            continue;
        const struct position at = POSITION_OF(place);
        moved |= at.visit != p->seen_visit || at.iteration != p->seen_iteration;
        p->seen_visit = at.visit;
        p->seen_iteration = at.iteration;
    }
    return moved;
}

/* ---- What it says ------------------------------------------------------------------------- */

#define ROW_MAX 256

/* "  2     exchange  417        12 s  MPI_Recv          12 s  node3 pid 4711" */
static void row(char text[ROW_MAX], const cJSON *process)
{
    const cJSON *element = cJSON_GetObjectItemCaseSensitive(process, "element");
    const char *mpi = json_text(process, "mpi"), *name = json_text(element, "name"), *host = json_text(process, "host");
    char rank[16] = "-", iteration[32] = "-", here[32] = "-", call[32] = "-";
    if (json_int(process, "rank", -1) >= 0)
        snprintf(rank, sizeof rank, "%d", json_int(process, "rank", 0));
    if (cJSON_IsObject(element))
        snprintf(iteration, sizeof iteration, "%lld", (long long)json_int64(element, "iteration", 0));
    if (cJSON_HasObjectItem(process, "seconds"))
        snprintf(here, sizeof here, "%.0f s", json_number(process, "seconds", 0));
    if (mpi)
        snprintf(call, sizeof call, "%.0f s", json_number(process, "mpi_seconds", 0));
    snprintf(text, ROW_MAX, "\n  %-5s %-10s %-16.40s %-10s %-8s %-20s %-8s %.60s, pid %d", rank,
             json_text(process, "activity"), name ? name : "-", iteration, here, mpi ? mpi : "-", call,
             host ? host : "?", json_int(process, "pid", 0));
}

static void say_stalled(struct coordinator *c)
{
    char line[ROW_MAX];
    cJSON *json = survey_json(c), *process, *list = cJSON_GetObjectItemCaseSensitive(json, "processes");
    size_t size = (size_t)(cJSON_GetArraySize(list) + 2) * ROW_MAX;
    char *text = calloc(1, size);
    if (text) {
        snprintf(text, size, "watchdog: no rank has come to its next iteration for %.0f s; where they are:",
                 monotonic_seconds() - c->watchdog.moved);
        snprintf(line, sizeof line, "\n  %-5s %-10s %-16s %-10s %-8s %-20s %-8s %s", "RANK", "STATE", "PHASE",
                 "ITERATION", "FOR", "IN MPI", "FOR", "HOST");
        strncat(text, line, size - strlen(text) - 1);
        cJSON_ArrayForEach(process, list)
        {
            row(line, process);
            strncat(text, line, size - strlen(text) - 1);
        }
        c->config.ops->say(c->config.context, text, false);
    }
    free(text);
    cJSON_Delete(json);
}

static void say_moves(struct coordinator *c)
{
    char text[120];
    snprintf(text, sizeof text, "watchdog: the ranks go on, after %.0f s", monotonic_seconds() - c->watchdog.moved);
    c->config.ops->say(c->config.context, text, false);
}

static void stalled(struct coordinator *c)
{
    c->watchdog.stalled = true;
    say_stalled(c);
    if (c->config.watchdog_abort)
        fatal(c, "watchdog: the job is ended, as --watchdog-abort wants it");
}

static void surveyed(struct coordinator *c)
{
    if (c->ending.finished)
        return;
    bool moved = any_moved(c);
    if (moved && c->watchdog.stalled)
        say_moves(c);
    if (moved || excused(c)) {
        note_moved(c);
    } else if (!c->watchdog.stalled && monotonic_seconds() >= c->watchdog.moved + c->config.watchdog) {
        stalled(c);
    }
}

static void look(void *context)
{
    struct coordinator *c = context;
    timers_set(&c->timers, &c->watchdog.look, period(c));
    if (excused(c))
        note_moved(c);
    else
        survey_begin(c);
}

void watchdog_init(struct coordinator *c)
{
    timer_init(&c->watchdog.look, look, c, NULL);
    if (!c->config.watchdog)
        return;
    survey_tell(c, surveyed);
    timers_set(&c->timers, &c->watchdog.look, 0);
}
