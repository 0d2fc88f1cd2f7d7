/* The answers to what is measured: see gauge.h. */
#include "runtime/job/gauge.h"

#include <stdio.h>
#include <unistd.h>

#include "runtime/base/json.h"
#include "runtime/base/ticks.h"
#include "runtime/job/state.h"
#include "runtime/job/stopwatch.h"
#include "runtime/job/tell.h"
#include "runtime/wire/messages.h"

void gauge_start(void)
{
    ticks_start();
    job.meter.mpi_ticks = stopwatch_ticks;
}

/* Of the present round of measuring: a better estimate in between would make sums shrink. */
static double tick;

/* ---- The answer -------------------------------------------------------------------------------- */

/* Bytes; 0: not known. */
static double resident(void)
{
    double pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file)
        return 0;
    if (fscanf(file, "%*s %lf", &pages) != 1)
        pages = 0;
    fclose(file);
    return pages * (double)sysconf(_SC_PAGESIZE);
}

static cJSON *element_json(const struct meter_reading *reading)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "pc", reading->pc);
    cJSON_AddNumberToObject(json, "size", reading->size);
    cJSON_AddNumberToObject(json, "life", (double)reading->life);
    cJSON_AddNumberToObject(json, "iterations", (double)reading->iterations);
    cJSON_AddNumberToObject(json, "loop", reading->loop);
    cJSON_AddNumberToObject(json, "mpi", reading->mpi);
    cJSON_AddItemToObject(json, "mtct", spread_to_message(&reading->mtct));
    return json;
}

static void add_elements(cJSON *json)
{
    cJSON *list = cJSON_AddArrayToObject(json, "elements");
    struct meter_reading reading;
    for (int i = 0; i < METER_CELLS; i++)
        if (meter_read(&job.meter, i, tick, &reading))
            cJSON_AddItemToArray(list, element_json(&reading));
}

static void add_progress(cJSON *json)
{
    struct meter_progress recorded;
    int64_t when;
    if (!meter_read_progress(&job.meter, &when, &recorded))
        return;
    cJSON *progress = cJSON_AddObjectToObject(json, "progress");
    cJSON_AddNumberToObject(progress, "pc", recorded.pc);
    cJSON_AddNumberToObject(progress, "visit", (double)recorded.visit);
    cJSON_AddNumberToObject(progress, "iteration", (double)recorded.iteration);
    cJSON_AddNumberToObject(progress, "bound", (double)recorded.bound);
    cJSON_AddNumberToObject(progress, "age", (double)(ticks() - when) * tick);
}

/* The wrappers first: an iteration that is measured has its MPI calls measured. */
static void begin(void)
{
    if (meter_is_on(&job.meter))
        return;
    tick = ticks_seconds();
    stopwatch_watch(true);
    meter_switch(&job.meter, true, tick);
}

void gauge_take_question(void *context, const struct order_gauge *order)
{
    (void)context;
    begin();
    cJSON *answer = json_message(REPORT(gauge));
    cJSON_AddNumberToObject(answer, "round", order->round);
    cJSON_AddNumberToObject(answer, "memory", resident());
    add_elements(answer);
    add_progress(answer);
    job_tell(NULL, answer);
    cJSON_Delete(answer);
}

void gauge_take_end(void *context, const struct order_gauge_off *order)
{
    (void)context, (void)order;
    meter_switch(&job.meter, false, tick);
    stopwatch_watch(false);
}
