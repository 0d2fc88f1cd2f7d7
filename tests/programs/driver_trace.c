/* A driver that prints every hook, with an option, and with the fault that EPOP_TEST_FAULT names. */
#include <inttypes.h>
#include <stdio.h>

#include <epop/driver.h>

#include "parts.h"

static const char *word = "trace";

static int trace_open(void **state)
{
    *state = &word;
    puts("trace open");
    return fault_is("open") ? EPOP_ERR_SYSTEM : 0;
}

static int trace_option(void *state, const char *name, const char *value)
{
    (void)name;
    *(const char **)state = value;
    return strcmp(value, "bad") == 0;
}

static int trace_loaded(void *state, const epop_program_t *program, int rank)
{
    (void)rank;
    printf("%s loaded %s\n", *(const char **)state, program->name);
    return fault_is("loaded") ? 51 : fault_is("done") ? EPOP_DRIVER_DONE : 0;
}

static void print(void *state, const char *hook, const epop_position_t *position)
{
    printf("%s %s pc %d visit %" PRId64 " iteration %" PRId64 "\n", *(const char **)state, hook, position->pc,
           position->visit, position->iteration);
}

#define TRACE(hook)                                                                                                    \
    static void trace_##hook(void *state, const epop_position_t *position)                                             \
    {                                                                                                                  \
        print(state, #hook, position);                                                                                 \
    }
TRACE(element_enter)
TRACE(element_leave)
TRACE(iteration_begin)
TRACE(iteration_end)
TRACE(adaptation_begin)
TRACE(adaptation_end)
TRACE(finished)

static void trace_failed(void *state, const epop_position_t *position, int error)
{
    print(state, "failed", position);
    printf("%s error %d\n", *(const char **)state, error);
}

static void trace_close(void *state)
{
    printf("%s close\n", *(const char **)state);
}

static const epop_driver_option_t options[] = {{"word", "TEXT", "what every line begins with"}, {NULL, NULL, NULL}};

/* What a later epop might add behind the table that this one knows. */
static struct {
    epop_driver_t known;
    void (*later)(void);
} driver = {{
                .abi_version = EPOP_DRIVER_ABI_VERSION,
                .struct_size = sizeof driver,
                .name = "trace",
                .summary = "prints every hook",
                .options = options,
                .open = trace_open,
                .option = trace_option,
                .loaded = trace_loaded,
                .element_enter = trace_element_enter,
                .element_leave = trace_element_leave,
                .iteration_begin = trace_iteration_begin,
                .iteration_end = trace_iteration_end,
                .adaptation_begin = trace_adaptation_begin,
                .adaptation_end = trace_adaptation_end,
                .finished = trace_finished,
                .failed = trace_failed,
                .close = trace_close,
            },
            NULL};

const epop_driver_t *epop_get_driver(void)
{
    if (fault_is("driver-abi"))
        driver.known.abi_version = EPOP_DRIVER_ABI_VERSION + 41;
    if (fault_is("driver-short"))
        driver.known.struct_size = 16;
    if (fault_is("driver-no-name"))
        driver.known.name = NULL;
    return fault_is("driver-null") ? NULL : &driver.known;
}
