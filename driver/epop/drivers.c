/* Opens the drivers of this run, hands them their options, and calls their hooks. */
#include "driver/epop/drivers.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "driver/common/builtin.h"
#include "driver/epop/object.h"
#include "runtime/base/error.h"
#include "runtime/records/records.h"

/* ---- Finding, checking and opening -------------------------------------------------------------- */

static const epop_driver_t *const builtin[] = {&driver_run,   &driver_check, &driver_profile,
                                               &driver_debug, &driver_trace, &driver_tune};
#define BUILTIN_COUNT (sizeof builtin / sizeof *builtin)

/* The first driver interface ended with `close`; a table that is shorter is broken. */
#define SMALLEST_TABLE (offsetof(epop_driver_t, close) + sizeof(((epop_driver_t *)0)->close))

static const epop_driver_t *find_builtin_driver(const char *name)
{
    for (size_t i = 0; i < BUILTIN_COUNT; i++) {
        if (!strcmp(builtin[i]->name, name))
            return builtin[i];
    }
    return NULL;
}

static const epop_driver_t *load_driver_table(const char *path, void **handle, struct error *error)
{
    struct object_uses uses; /* of no interest: the program decides whether there is MPI */
    const epop_driver_t *(*get)(void);
    *handle = object_open("driver", path, &uses, error);
    if (!*handle)
        return NULL;
    *(void **)&get = dlsym(*handle, "epop_get_driver");
    if (!get) {
        error_set(error, ERROR_FAILED, "%s: it has no function epop_get_driver; is it a driver?", path);
        return NULL;
    }
    const epop_driver_t *table = get();
    if (!table)
        error_set(error, ERROR_FAILED, "%s: its epop_get_driver returned NULL instead of a driver", path);
    return table;
}

/* What every driver must be, built in or not. */
static int check_driver_table(const char *given, const epop_driver_t *table, struct error *error)
{
    if (table->abi_version != EPOP_DRIVER_ABI_VERSION) {
        error_set(error, ERROR_FAILED,
                  "driver %s: it has version %u of the driver interface, but this epop has version %u; compile it "
                  "against the epop/driver.h of this version",
                  given, table->abi_version, EPOP_DRIVER_ABI_VERSION);
    } else if (table->struct_size < SMALLEST_TABLE) {
        error_set(error, ERROR_FAILED, "driver %s: its struct_size is %u, less than the %zu of the smallest table",
                  given, table->struct_size, SMALLEST_TABLE);
    } else if (!table->name || !table->name[0]) {
        error_set(error, ERROR_FAILED, "driver %s: its table has no name", given);
    } else {
        return 0;
    }
    return -1;
}

static const epop_driver_option_t *find_driver_option(const epop_driver_t *table, const char *name)
{
    for (const epop_driver_option_t *option = table->options; option && option->name; option++) {
        if (!strcmp(option->name, name))
            return option;
    }
    return NULL;
}

/* Two drivers that the command line could not tell apart cannot be used together. */
static int check_conflicts(const struct drivers *drivers, const epop_driver_t *table, struct error *error)
{
    for (int i = 0; i < drivers->count; i++) {
        const epop_driver_t *other = &drivers->slots[i].table;
        if (!strcmp(other->name, table->name)) {
            return error_set(error, ERROR_FAILED, "the driver '%s' is named twice", table->name);
        }
        for (const epop_driver_option_t *option = table->options; option && option->name; option++) {
            if (find_driver_option(other, option->name)) {
                return error_set(error, ERROR_FAILED,
                                 "the drivers '%s' and '%s' both have an option --%s: use one at a time", other->name,
                                 table->name, option->name);
            }
        }
    }
    return 0;
}

static void note_hooks(struct drivers *drivers, const epop_driver_t *table)
{
    drivers->no_walk |= (table->flags & EPOP_DRIVER_NO_WALK) != 0;
    drivers->iteration_hooks |= table->iteration_begin || table->iteration_end;
    drivers->element_hooks |= table->element_enter || table->element_leave;
    drivers->adapted_hooks |= !!table->adapted;
    drivers->block_hooks |= table->block_enter || table->block_leave || table->decided;
}

/* Checks the table, copies what we know of it, and opens the driver. */
static int append_driver(struct drivers *drivers, const char *given, const epop_driver_t *table, void *handle,
                         struct error *error)
{
    if (check_driver_table(given, table, error) != 0 || check_conflicts(drivers, table, error) != 0)
        return -1;
    if (drivers->count == DRIVERS_MAX) {
        return error_set(error, ERROR_FAILED, "more than %d drivers", DRIVERS_MAX);
    }
    struct driver_slot *slot = &drivers->slots[drivers->count];
    *slot = (struct driver_slot){.handle = handle};
    memcpy(&slot->table, table, table->struct_size < sizeof slot->table ? table->struct_size : sizeof slot->table);
    int result = slot->table.open ? slot->table.open(&slot->state) : 0;
    if (result != 0) {
        return error_set(error, ERROR_FAILED, "driver '%s': cannot be opened: error %d (%s)", table->name, result,
                         epop_result_text(result));
    }
    drivers->count++;
    note_hooks(drivers, &slot->table);
    return 0;
}

static int open_driver(struct drivers *drivers, const char *name, struct error *error)
{
    void *handle = NULL;
    const epop_driver_t *table =
        strchr(name, '/') ? load_driver_table(name, &handle, error) : find_builtin_driver(name);
    if (!table && !strchr(name, '/'))
        error_set(error, ERROR_FAILED, "no driver '%s'; one of your own is named with a slash, as ./%s", name, name);
    if (table && append_driver(drivers, name, table, handle, error) == 0)
        return 0;
    if (handle)
        dlclose(handle);
    return -1;
}

int drivers_open(struct drivers *drivers, const char *names, struct error *error)
{
    char *list = strdup(names), *rest = list, *name;
    int result = list ? 0 : -1;
    if (!list)
        error_memory(error);
    while (result == 0 && (name = strsep(&rest, ",")))
        result = open_driver(drivers, name, error);
    free(list);
    return result;
}

/* ---- Options and help --------------------------------------------------------------------------- */

int drivers_option(struct drivers *drivers, const char *name, const char *value, struct error *error)
{
    for (int i = 0; i < drivers->count; i++) {
        struct driver_slot *slot = &drivers->slots[i];
        const epop_driver_option_t *option = find_driver_option(&slot->table, name);
        if (!option)
            continue;
        int result = slot->table.option ? slot->table.option(slot->state, name, value) : 0;
        if (result == EPOP_DRIVER_INIT) {
            drivers->init_only = 1;
            drivers->no_walk = 0;
        }
        if (result == 0 || result == EPOP_DRIVER_INIT)
            return 0;
        const char *why = slot->table.explain ? slot->table.explain(slot->state) : NULL;
        if (why)
            error_set(error, ERROR_FAILED, "--%s: %s", name, why);
        else
            error_set(error, ERROR_FAILED, "the driver '%s' refuses --%s %s; it takes %s", slot->table.name, name,
                      value ? value : "", option->argument ? option->argument : "no argument");
        return -1;
    }
    return error_set(error, ERROR_FAILED, "no driver has an option --%s", name);
}

void drivers_help(const struct drivers *drivers, FILE *stream)
{
    fprintf(stream, "Drivers:\n");
    for (size_t i = 0; i < BUILTIN_COUNT; i++)
        fprintf(stream, "  %-26s %s\n", builtin[i]->name, builtin[i]->summary ? builtin[i]->summary : "");
    for (int i = 0; i < drivers->count; i++) {
        const epop_driver_t *table = &drivers->slots[i].table;
        if (table->options && table->options->name)
            fprintf(stream, "\nOptions of the driver '%s' (after --driver):\n", table->name);
        for (const epop_driver_option_t *option = table->options; option && option->name; option++) {
            char left[64];
            snprintf(left, sizeof left, "--%s %s", option->name, option->argument ? option->argument : "");
            fprintf(stream, "  %-26s %s\n", left, option->help ? option->help : "");
        }
    }
}

/* ---- Hooks -------------------------------------------------------------------------------------- */

static void explain_refusal(struct drivers *drivers, const struct driver_slot *slot, int result)
{
    const char *why = slot->table.explain ? slot->table.explain(slot->state) : NULL;
    if (why)
        snprintf(drivers->refusal, sizeof drivers->refusal, "driver '%s': %s", slot->table.name, why);
    else
        snprintf(drivers->refusal, sizeof drivers->refusal, "the driver '%s' refuses the program: error %d (%s)",
                 slot->table.name, result, epop_result_text(result));
}

int drivers_loaded(struct drivers *drivers, const epop_program_t *program, int rank)
{
    int done = 0;
    for (int i = 0; i < drivers->count; i++) {
        const struct driver_slot *slot = &drivers->slots[i];
        int result = slot->table.loaded ? slot->table.loaded(slot->state, program, rank) : 0;
        if (result == EPOP_DRIVER_DONE)
            done = EPOP_DRIVER_DONE;
        if (result != 0 && result != EPOP_DRIVER_DONE) {
            explain_refusal(drivers, slot, result);
            return result;
        }
    }
    return done;
}

/* What begins is told in the order of the list, what ends in the reverse order. */
#define CALL_FORWARD(hook, ...)                                                                                        \
    for (int i = 0; i < drivers->count; i++) {                                                                         \
        if (drivers->slots[i].table.hook)                                                                              \
            drivers->slots[i].table.hook(drivers->slots[i].state, __VA_ARGS__);                                        \
    }
#define CALL_BACKWARD(hook, ...)                                                                                       \
    for (int i = drivers->count - 1; i >= 0; i--) {                                                                    \
        if (drivers->slots[i].table.hook)                                                                              \
            drivers->slots[i].table.hook(drivers->slots[i].state, __VA_ARGS__);                                        \
    }

void drivers_element_enter(struct drivers *drivers, const epop_position_t *position)
{
    CALL_FORWARD(element_enter, position)
}

void drivers_element_leave(struct drivers *drivers, const epop_position_t *position)
{
    CALL_BACKWARD(element_leave, position)
}

void drivers_iteration_begin(struct drivers *drivers, const epop_position_t *position)
{
    CALL_FORWARD(iteration_begin, position)
}

void drivers_iteration_end(struct drivers *drivers, const epop_position_t *position)
{
    CALL_BACKWARD(iteration_end, position)
}

void drivers_adaptation_begin(struct drivers *drivers, const epop_position_t *position)
{
    CALL_FORWARD(adaptation_begin, position)
}

void drivers_adaptation_end(struct drivers *drivers, const epop_position_t *position)
{
    CALL_BACKWARD(adaptation_end, position)
}

void drivers_adapted(struct drivers *drivers, const epop_position_t *position, const epop_adapted_t *adapted)
{
    CALL_BACKWARD(adapted, position, adapted)
}

void drivers_hold_begin(struct drivers *drivers, const epop_position_t *position)
{
    CALL_FORWARD(hold_begin, position)
}

void drivers_hold_end(struct drivers *drivers, const epop_position_t *position)
{
    CALL_BACKWARD(hold_end, position)
}

void drivers_block_enter(struct drivers *drivers, const epop_position_t *position, epop_block_t block, void *data)
{
    CALL_FORWARD(block_enter, position, block, data)
}

void drivers_block_leave(struct drivers *drivers, const epop_position_t *position, epop_block_t block, void *data)
{
    CALL_BACKWARD(block_leave, position, block, data)
}

void drivers_decided(struct drivers *drivers, const epop_position_t *position, int answer)
{
    CALL_BACKWARD(decided, position, answer)
}

void drivers_finished(struct drivers *drivers, const epop_position_t *position)
{
    CALL_BACKWARD(finished, position)
}

void drivers_failed(struct drivers *drivers, const epop_position_t *position, int error)
{
    CALL_BACKWARD(failed, position, error)
}

/* ---- Drivers that record ------------------------------------------------------------------------ */

static struct drivers *recording_drivers;
static int recording_slots[DRIVERS_MAX]; /* of those that record */

_Static_assert(DRIVERS_MAX <= RECORDS_MAX, "every driver may record");

static char *record_of_slot(int which, int last)
{
    const struct driver_slot *slot = &recording_drivers->slots[recording_slots[which]];
    return slot->table.record(slot->state, last);
}

static int write_by_slot(int which, const epop_job_t *job)
{
    const struct driver_slot *slot = &recording_drivers->slots[recording_slots[which]];
    return slot->table.write(slot->state, job);
}

static double checkpoint_of_slot(int which)
{
    const struct driver_slot *slot = &recording_drivers->slots[recording_slots[which]];
    return slot->table.checkpoint ? slot->table.checkpoint(slot->state) : 0;
}

void drivers_record(struct drivers *drivers, int quiet)
{
    static struct records_user user = {
        .record = record_of_slot, .write = write_by_slot, .checkpoint = checkpoint_of_slot};
    recording_drivers = drivers;
    user.quiet = quiet;
    for (int i = 0; i < drivers->count; i++)
        if (drivers->slots[i].table.record && drivers->slots[i].table.write)
            recording_slots[user.count++] = i;
    epop__records_use(&user);
}

/* ---- Closing ------------------------------------------------------------------------------------ */

void drivers_close(struct drivers *drivers)
{
    while (drivers->count > 0) {
        struct driver_slot *slot = &drivers->slots[--drivers->count];
        if (slot->table.close)
            slot->table.close(slot->state);
        if (slot->handle)
            dlclose(slot->handle);
    }
}
