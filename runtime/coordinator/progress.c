/* How far the program is: see progress.h. */
#include "runtime/coordinator/progress.h"

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/coordinator/job_state.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/state.h"
#include "runtime/wire/messages.h"

#define SHOW_PERIOD    0.5 /* seconds */
#define LEAST_MPI_TIME 0.2

/* Between two looks that are not too close, at the same rank 0. */
void progress_mpi(struct coordinator *c, double seconds, double now)
{
    double time = now - c->progress.mpi_clock, spent = seconds - c->progress.mpi_seconds;
    if (seconds < 0 || (time >= 0 && time < LEAST_MPI_TIME))
        return;
    if (c->progress.mpi_clock > 0 && time > 0 && spent >= 0 && spent <= time)
        c->progress.mpi_share = spent / time;
    c->progress.mpi_seconds = seconds;
    c->progress.mpi_clock = now;
}

void progress_came(struct coordinator *c, const struct position *at, int64_t bound, double age)
{
    double time = monotonic_seconds() - age;
    if (time < c->progress.time)
        return;
    c->progress.last.iteration = at->iteration;
    c->progress.last.bound = bound;
    c->progress.at = (struct position){.pc = at->pc, .visit = at->visit};
    c->progress.known = true;
    c->progress.time = time;
    estimate_add(&c->progress.estimate, c->progress.time, c->progress.last.iteration, c->progress.last.bound,
                 c->processes.size);
}

double progress_left(const struct coordinator *c)
{
    return c->pause.on ? -1 : estimate_left(&c->progress.estimate, monotonic_seconds());
}

cJSON *progress_json(const struct coordinator *c)
{
    double rate = estimate_rate(&c->progress.estimate), left = progress_left(c);
    if (!c->progress.known)
        return cJSON_CreateNull();
    cJSON *json = cJSON_CreateObject();
    if (c->progress.at.pc >= 0)
        cJSON_AddNumberToObject(json, "pc", c->progress.at.pc);
    cJSON_AddNumberToObject(json, "iteration", (double)c->progress.last.iteration);
    cJSON_AddNumberToObject(json, "bound", (double)c->progress.last.bound);
    cJSON_AddNumberToObject(json, "age", monotonic_seconds() - c->progress.time);
    if (rate > 0)
        cJSON_AddNumberToObject(json, "rate", rate);
    if (left >= 0)
        cJSON_AddNumberToObject(json, "left", left);
    return json;
}

/* ---- For the user at the terminal ------------------------------------------------ */

/* In a pause nobody would answer. */
static void show(void *context)
{
    struct coordinator *c = context;
    timers_set(&c->timers, &c->progress.show, SHOW_PERIOD);
    if (c->progress.known && c->progress.last.bound > 0) {
        const struct bar_state state = {
            .program = c->config.program->name,
            .size = c->processes.size,
            .iteration = c->progress.last.iteration,
            .bound = c->progress.last.bound,
            .left = estimate_left(&c->progress.estimate, monotonic_seconds()),
            .running = job_state(c) == JOB_IS_RUNNING,
            .state = job_state_name(job_state(c)),
        };
        c->config.ops->show(c->config.context, &state);
    }
    if (!c->pause.on && process_of_rank(c, 0)->attached)
        processes_send(c, c->processes.world[0], json_message(ORDER(progress)));
}

void progress_stood(struct coordinator *c, double seconds)
{
    estimate_skip(&c->progress.estimate, seconds);
}

void progress_init(struct coordinator *c)
{
    c->progress.mpi_share = -1;
    timer_init(&c->progress.show, show, c, NULL);
    if (c->config.ops->show)
        timers_set(&c->timers, &c->progress.show, 0);
}
