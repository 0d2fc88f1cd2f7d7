/* Reading, defaults of each kind of input, and the options: see load.h. */
#include "scheduler/epopsim/load.h"

#include <string.h>

#include "scheduler/workload/input.h"
#include "scheduler/workload/swf.h"
#include "scheduler/workload/transform.h"
#include "scheduler/workload/workload_json.h"

/* A trace says nothing of these; see docs/reference/simulator.md. */
#define TRACE_BYTES_PER_NODE 1e9
static const struct speedup_rule trace_speedup = {
    .set = true, .relative = true, .speedup = {.model = SPEEDUP_DOWNEY, .parallelism = 2, .sigma = 0.5}};

/* By its first character: no number and no comment of SWF begins so. */
static bool is_json(const struct input *input)
{
    return input->text[strspn(input->text, " \t\r\n")] == '{';
}

static int read_workload(struct workload *workload, struct input *input, const struct options *options,
                         struct transform *how, struct error *error)
{
    if (is_json(input))
        return workload_json_read(workload, input, options->nodes, options->seeded ? &how->seed : NULL, error);
    if (!how->speedup.set)
        how->speedup = trace_speedup;
    if (how->bytes_per_node < 0)
        how->bytes_per_node = TRACE_BYTES_PER_NODE;
    return swf_read(workload, input, options->nodes, error);
}

static int set_power(struct workload *workload, const struct options *options, struct error *error)
{
    if (options->busy_watts >= 0) {
        workload->idle_watts = options->idle_watts;
        workload->busy_watts = options->busy_watts;
    }
    if (options->power_cap >= 0)
        workload->power_cap = options->power_cap;
    if (workload->power_cap > 0 && workload->busy_watts <= 0)
        return error_set(error, ERROR_REFUSED, "--power-cap %g: the watts of a node are not known: give --watts",
                         workload->power_cap);
    double idle = workload->nodes * workload->idle_watts;
    if (workload->power_cap > 0 && workload->power_cap < idle)
        return error_set(error, ERROR_REFUSED,
                         "a power cap of %g W: %d idle nodes draw %g W already: give --power-cap above that",
                         workload->power_cap, workload->nodes, idle);
    return 0;
}

int load_workload(struct workload *workload, const struct options *options, struct error *error)
{
    struct input input;
    struct transform how = options->transform;
    if (input_read(&input, options->workload, error))
        return -1;
    int failed = read_workload(workload, &input, options, &how, error);
    input_free(&input);
    if (failed)
        return -1;
    if (!transform(workload, &how, error) && !set_power(workload, options, error))
        return 0;
    workload_free(workload);
    return -1;
}
