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
#include "runtime/base/duration.h"
#include "runtime/base/error.h"
#include "runtime/base/say.h"

static struct {
    const char *path; /* NULL: no file */
    double checkpoint;
    cJSON *structure;
    char mpi[128];
    struct error error;
    bool opened;
    bool told; /* that a checkpoint could not be written */
} profile = {.checkpoint = 5};

static int option(void *state, const char *name, const char *value)
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

/* "MPICH 4.0.2", or the first line of what the library says of itself. */
static void name_mpi(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "", version[64];
    int up, length;
    PMPI_Initialized(&up);
    if (!up)
        return;
    PMPI_Get_library_version(text, &length);
    if (sscanf(text, "MPICH Version: %63s", version) == 1)
        snprintf(profile.mpi, sizeof profile.mpi, "MPICH %s", version);
    else
        snprintf(profile.mpi, sizeof profile.mpi, "%.*s", (int)strcspn(text, "\n"), text);
}

static int loaded(void *state, const epop_program_t *program, int process)
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
        name_mpi();
    }
    measure_start();
    profile.opened = true;
    return 0;
}

static const char *explain(void *state)
{
    (void)state;
    return profile.error.text[0] ? profile.error.text : NULL;
}

/* ---- The hooks that measure ------------------------------------------------------------ */

static void enter(void *state, const epop_position_t *position)
{
    (void)state;
    measure_enter(position);
}

static void leave(void *state, const epop_position_t *position)
{
    (void)state;
    measure_leave(position);
}

static void hold_begin(void *state, const epop_position_t *position)
{
    (void)state;
    measure_hold_begin(position);
}

static void hold_end(void *state, const epop_position_t *position)
{
    (void)state;
    measure_hold_end(position);
}

static void adaptation_begin(void *state, const epop_position_t *position)
{
    (void)state, (void)position;
    measure_adaptation_begin();
}

static void adapted(void *state, const epop_position_t *position, const epop_adapted_t *adapted)
{
    (void)state, (void)position;
    measure_adapted(adapted);
}

static void failed(void *state, const epop_position_t *position, int error)
{
    (void)state, (void)error;
    measure_failed(position);
}

/* ---- The result -------------------------------------------------------------------------- */

static char *record(void *state, int last)
{
    (void)state;
    return measure_record(last);
}

static int write_file(const cJSON *merged, struct error *error)
{
    char *text = cJSON_Print(merged);
    int result = text ? output_write(profile.path, text, error) : -1;
    if (!text)
        error_memory(error);
    free(text);
    return result;
}

static int write_profile(void *state, const epop_job_t *job)
{
    struct error error = {0};
    (void)state;
    bool over = job->end != EPOP_JOB_RUNNING;
    if (!over && !job->record_count)
        return EPOP_OK; /* no process has come to INIT yet */
    cJSON *merged = merge_profile(job, profile.structure, profile.mpi[0] ? profile.mpi : NULL);
    if (over && !job->quiet)
        table_print(merged, stderr);
    int result = profile.path ? write_file(merged, &error) : 0;
    if (result && (over || !profile.told))
        say_line("driver 'profile': %s", error.text);
    profile.told |= result != 0;
    cJSON_Delete(merged);
    return result ? EPOP_ERR_SYSTEM : EPOP_OK;
}

static double checkpoint(void *state)
{
    (void)state;
    return profile.path ? profile.checkpoint : 0;
}

static void close_profile(void *state)
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
    .option = option,
    .loaded = loaded,
    .element_enter = enter,
    .element_leave = leave,
    .adaptation_begin = adaptation_begin,
    .failed = failed,
    .close = close_profile,
    .hold_begin = hold_begin,
    .hold_end = hold_end,
    .adapted = adapted,
    .explain = explain,
    .record = record,
    .write = write_profile,
    .checkpoint = checkpoint,
};
