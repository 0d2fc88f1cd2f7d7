/*
 * The profile driver: the program's structure, annotated with times by world size, and what its adaptations cost. One
 * JSON file by schema/profile.schema.json and a table on stderr; ranks that left are in it.
 */
#include <cjson/cJSON.h>
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/common/builtin.h"
#include "driver/common/output.h"
#include "driver/profile/measure.h"
#include "driver/profile/merge.h"
#include "driver/profile/table.h"
#include "runtime/backends/device.h"
#include "runtime/base/clock.h"
#include "runtime/base/error.h"
#include "runtime/base/say.h"
#include "terminal/places.h"

static struct {
    const char *path; /* NULL: no file */
    double checkpoint;
    cJSON *structure;
    char mpi[128];
    struct error error;
    bool opened;
    bool told; /* that a checkpoint could not be written */
} profile = {.checkpoint = 5};

static int profile_option(void *state, const char *name, const char *value)
{
    (void)state;
    if (!strcmp(name, "output")) {
        profile.path = value;
        return value[0] ? 0 : EPOP_ERR_ARGUMENT;
    }
    char *end;
    profile.checkpoint = decimal_read(value, &end);
    return value[0] && !*end && profile.checkpoint >= 0 && isfinite(profile.checkpoint) ? 0 : EPOP_ERR_ARGUMENT;
}

static void note_mpi_library(void)
{
    int up;
    PMPI_Initialized(&up);
    if (up)
        snprintf(profile.mpi, sizeof profile.mpi, "%s", device_read().library);
}

static int profile_loaded(void *state, const epop_program_t *program, int process)
{
    (void)state;
    if (process == 0 && profile.path && output_check(profile.path, &profile.error))
        return EPOP_ERR_SYSTEM;
    if (process == 0) {
        char *text = epop_program_to_json(program);
        profile.structure = text ? cJSON_Parse(text) : NULL;
        free(text);
        if (!profile.structure)
            return EPOP_ERR_MEMORY;
        note_mpi_library();
    }
    measure_start();
    profile.opened = true;
    return 0;
}

static const char *profile_explain(void *state)
{
    (void)state;
    return profile.error.text[0] ? profile.error.text : NULL;
}

/* ---- The result --------------------------------------------------------------------------------- */

static int write_profile_file(const cJSON *merged, struct error *error)
{
    char *text = cJSON_Print(merged);
    int result = text ? output_write(profile.path, text, error) : -1;
    if (!text)
        error_memory(error);
    free(text);
    return result;
}

/* Takes a moment: another process reads the debug information. */
static void name_loops(const cJSON *merged)
{
    cJSON *all = cJSON_CreateArray(), *element, *world, *loop;
    cJSON_ArrayForEach(element, cJSON_GetObjectItem(merged, "elements"))
        cJSON_ArrayForEach(world, cJSON_GetObjectItem(element, "worlds"))
            cJSON_ArrayForEach(loop, cJSON_GetObjectItem(world, "loops")) cJSON_AddItemReferenceToArray(all, loop);
    places_name_loops(all);
    cJSON_Delete(all);
}

static int profile_write(void *state, const epop_job_t *job)
{
    struct error error = {0};
    (void)state;
    bool over = job->end != EPOP_JOB_RUNNING;
    if (!over && !job->record_count)
        return EPOP_OK; /* no process has come to INIT yet */
    cJSON *merged = merge_profile(job, profile.structure, profile.mpi[0] ? profile.mpi : NULL);
    if (over)
        name_loops(merged);
    if (over && !job->quiet)
        table_print(merged, stderr);
    int result = profile.path ? write_profile_file(merged, &error) : 0;
    if (result && (over || !profile.told))
        say_line("driver 'profile': %s", error.text);
    profile.told |= result != 0;
    cJSON_Delete(merged);
    return result ? EPOP_ERR_SYSTEM : EPOP_OK;
}

static double profile_checkpoint(void *state)
{
    (void)state;
    return profile.path ? profile.checkpoint : 0;
}

static void profile_close(void *state)
{
    (void)state;
    if (profile.opened)
        measure_stop();
    cJSON_Delete(profile.structure);
    profile.structure = NULL;
    profile.opened = false;
}

static const epop_driver_option_t options[] = {{"output", "FILE", "write the profile as JSON"},
                                               {"checkpoint", "SECONDS", "how often while it runs (5; 0: never)"},
                                               {NULL, NULL, NULL}};

const epop_driver_t driver_profile = {
    .abi_version = EPOP_DRIVER_ABI_VERSION,
    .struct_size = sizeof(epop_driver_t),
    .name = "profile",
    .summary = "runs it; times by element and world size, costs of resizes",
    .options = options,
    .option = profile_option,
    .loaded = profile_loaded,
    .element_enter = measure_enter,
    .element_leave = measure_leave,
    .iteration_begin = measure_iteration,
    .adaptation_begin = measure_adaptation_begin,
    .failed = measure_failed,
    .close = profile_close,
    .hold_begin = measure_hold_begin,
    .hold_end = measure_hold_end,
    .adapted = measure_adapted,
    .explain = profile_explain,
    .record = measure_record,
    .write = profile_write,
    .checkpoint = profile_checkpoint,
};
