/*
 * How far the program is. Its thread is asked at rank 0's next probe, and only while somebody looks: a client that
 * wants the status (see position.c), or the user at the terminal.
 */
#include "runtime/coordinator/state.h"
#include "runtime/member/json.h"
#include "runtime/member/member.h"

#define SHOW_PERIOD    0.5 /* seconds */
#define LEAST_MPI_TIME 0.2

/* Between two looks that are not too close, at the same rank 0. */
static void look_at_mpi(struct coordinator *c, const cJSON *message)
{
    double seconds = json_number(message, "mpi_seconds", -1), now = json_number(message, "clock", 0);
    double time = now - c->mpi_clock, spent = seconds - c->mpi_seconds;
    if (seconds < 0 || (time >= 0 && time < LEAST_MPI_TIME))
        return;
    if (c->mpi_clock > 0 && time > 0 && spent >= 0 && spent <= time)
        c->mtct = spent / time;
    c->mpi_seconds = seconds;
    c->mpi_clock = now;
}

void progress_came(struct coordinator *c, const cJSON *message)
{
    c->progress.iteration = json_int64(message, "iteration", 0);
    c->progress.bound = json_int64(message, "bound", 0);
    c->progress_known = true;
    c->progress_time = monotonic_seconds();
    look_at_mpi(c, message);
    estimate_add(&c->estimate, c->progress_time, c->progress.iteration, c->progress.bound, c->size);
    position_progress_came(c);
}

cJSON *progress_json(const struct coordinator *c)
{
    double rate = estimate_rate(&c->estimate), left = estimate_left(&c->estimate, monotonic_seconds());
    if (!c->progress_known)
        return cJSON_CreateNull();
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "iteration", (double)c->progress.iteration);
    cJSON_AddNumberToObject(json, "bound", (double)c->progress.bound);
    cJSON_AddNumberToObject(json, "age", monotonic_seconds() - c->progress_time);
    if (rate > 0)
        cJSON_AddNumberToObject(json, "rate", rate);
    if (left >= 0 && !c->paused)
        cJSON_AddNumberToObject(json, "left", left);
    return json;
}

/* ---- For the user at the terminal ------------------------------------------------ */

double progress_wait(const struct coordinator *c)
{
    return c->config.ops->show && !c->finished ? c->show - monotonic_seconds() : 3600;
}

/* In a pause nobody would answer. */
void progress_show(struct coordinator *c)
{
    double now = monotonic_seconds();
    if (!c->config.ops->show || now < c->show)
        return;
    c->show = now + SHOW_PERIOD;
    if (c->progress_known && c->progress.bound > 0) {
        const struct bar_state state = {
            .program = c->config.program->name,
            .size = c->size,
            .iteration = c->progress.iteration,
            .bound = c->progress.bound,
            .left = estimate_left(&c->estimate, now),
            .state = job_state(c),
        };
        c->config.ops->show(c->config.context, &state);
    }
    if (!c->paused && c->processes[c->world[0]].here)
        send_to(c, c->world[0], json_message("progress"));
}
