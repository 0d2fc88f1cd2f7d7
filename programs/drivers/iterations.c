#include <epop/driver.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

static const char *path = "iterations.log";
static FILE *file;

static int set_path(void *state, const char *name, const char *value)
{
    (void)state, (void)name; /* it is the only option */
    path = value;
    return value[0] ? 0 : EPOP_ERR_ARGUMENT;
}

static int open_log(void *state, const epop_program_t *program, int process)
{
    char name[1024];
    (void)state;
    snprintf(name, sizeof name, "%s.%d", path, process);
    file = fopen(name, "w");
    if (file)
        fprintf(file, "# %s\n", program->name);
    return file ? 0 : EPOP_ERR_SYSTEM;
}

static void log_iteration(void *state, const epop_position_t *p)
{
    const epop_element_t *element = &p->program->elements[p->pc];
    struct timespec now;
    (void)state;
    clock_gettime(CLOCK_REALTIME, &now);
    fprintf(file, "%s %" PRId64 " %d/%d %lld.%06ld\n", element->name ? element->name : "-", p->iteration, p->rank,
            p->size, (long long)now.tv_sec, now.tv_nsec / 1000);
}

static void close_log(void *state)
{
    (void)state;
    if (file)
        fclose(file);
}

const epop_driver_t *epop_get_driver(void)
{
    static const epop_driver_option_t options[] = {{"log", "FILE", "how the files' names begin"}, {NULL, NULL, NULL}};
    static const epop_driver_t driver = {.abi_version = EPOP_DRIVER_ABI_VERSION,
                                         .struct_size = sizeof driver,
                                         .name = "iterations",
                                         .summary = "writes a line for every iteration to a file",
                                         .options = options,
                                         .option = set_path,
                                         .loaded = open_log,
                                         .iteration_end = log_iteration,
                                         .close = close_log};
    return &driver;
}
