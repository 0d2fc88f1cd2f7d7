/* The workload: read, with the defaults of its kind of input, changed as the options say, and described. */
#include "scheduler/epopsim/load.h"

#include <math.h>
#include <string.h>

#include "scheduler/workload/input.h"
#include "scheduler/workload/swf.h"
#include "scheduler/workload/transform.h"
#include "scheduler/workload/workload.h"
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
        return workload_json_read(workload, input, options->nodes, &options->rates, options->seeded ? &how->seed : NULL,
                                  error);
    if (!how->speedup.set)
        how->speedup = trace_speedup;
    if (how->bytes_per_node < 0)
        how->bytes_per_node = TRACE_BYTES_PER_NODE;
    if (swf_read(workload, input, options->nodes, error))
        return -1;
    for (int i = 0; i < SHARED; i++)
        workload->rates.all[i] = fmax(0, options->rates.all[i]);
    workload->rates.link = fmax(0, options->rates.link);
    return 0;
}

static bool any_writes(const struct workload *workload)
{
    for (const struct work *work = workload->works; work < workload->works + workload->count; work++)
        for (int phase = 0; phase < work->phase_count; phase++)
            if (work->phases[phase].moves[SHARED_FILE_SYSTEM].bytes > 0)
                return true;
    return false;
}

/* An option for what no job does. */
static int note_rates(struct workload *workload, const struct rates *given, struct error *error)
{
    if (given->all[SHARED_FILE_SYSTEM] <= 0 || any_writes(workload))
        return 0;
    if (workload_note(workload, "no phase moves bytes in the file system: --file-system changes nothing"))
        return error_memory(error);
    return 0;
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
    if (!transform(workload, &how, error) && !set_power(workload, options, error) &&
        !note_rates(workload, &options->rates, error))
        return 0;
    workload_free(workload);
    return -1;
}

#define BAR_WIDTH 40
#define CLASSES   48 /* of powers of two */

/* ---- Histograms --------------------------------------------------------------------------------- */

struct histogram {
    const char *title;
    size_t counts[CLASSES]; /* class i: from 2^i on, below 2^(i+1) */
};

static void count_value(struct histogram *histogram, double value)
{
    int place = value < 1 ? 0 : (int)log2(value);
    histogram->counts[place < CLASSES ? place : CLASSES - 1]++;
}

static void draw_class(FILE *file, int place, size_t count, size_t most)
{
    int length = (int)((count * BAR_WIDTH + most - 1) / most);
    fprintf(file, "  %9.0f to < %-9.0f %8zu ", place == 0 ? 0 : ldexp(1, place), ldexp(1, place + 1), count);
    while (length-- > 0)
        fputc('#', file);
    fputc('\n', file);
}

/* From the first class that has something to the last. */
static void draw_histogram(FILE *file, const struct histogram *histogram)
{
    int first = CLASSES, last = -1;
    size_t most = 0;
    for (int i = 0; i < CLASSES; i++)
        if (histogram->counts[i] > 0) {
            first = i < first ? i : first;
            last = i;
            most = histogram->counts[i] > most ? histogram->counts[i] : most;
        }
    fprintf(file, "%s\n", histogram->title);
    for (int i = first; i <= last; i++)
        draw_class(file, i, histogram->counts[i], most);
}

static void draw_all(FILE *file, const struct workload *workload)
{
    struct histogram sizes = {.title = "nodes wanted"}, times = {.title = "seconds at that size"};
    struct histogram gaps = {.title = "seconds between submissions"};
    for (size_t i = 0; i < workload->count; i++) {
        const struct work *work = &workload->works[i];
        count_value(&sizes, work->wanted);
        count_value(&times, work_seconds(work, work->wanted));
        if (i > 0)
            count_value(&gaps, work->submit - work[-1].submit);
    }
    draw_histogram(file, &sizes);
    draw_histogram(file, &times);
    if (workload->count > 1)
        draw_histogram(file, &gaps);
}

/* ---- Figures ------------------------------------------------------------------------------------ */

static void describe_kinds(FILE *file, const struct workload *workload)
{
    static const char *const names[] = {"rigid", "moldable", "malleable", "evolving"};
    size_t counts[4] = {0};
    const char *comma = "kinds        ";
    for (size_t i = 0; i < workload->count; i++)
        counts[workload->works[i].kind]++;
    for (int i = 0; i < 4; i++)
        if (counts[i] > 0) {
            fprintf(file, "%s%zu %s (%.0f %%)", comma, counts[i], names[i],
                    100.0 * (double)counts[i] / (double)workload->count);
            comma = ", ";
        }
    fputc('\n', file);
}

#define MOST_NAMES 12

/* By name; nothing where there are many. */
static void describe_names(FILE *file, const struct workload *workload)
{
    struct {
        const char *name;
        size_t count;
    } names[MOST_NAMES];
    size_t known = 0, at;
    for (size_t i = 0; i < workload->count; i++) {
        for (at = 0; at < known && strcmp(names[at].name, workload->works[i].name); at++)
            ;
        if (at == MOST_NAMES)
            return;
        if (at == known) {
            names[known].name = workload->works[i].name;
            names[known++].count = 0;
        }
        names[at].count++;
    }
    for (at = 0; at < known; at++)
        fprintf(file, "%s%zu %s", at == 0 ? "names        " : ", ", names[at].count, names[at].name);
    fputc('\n', file);
}

static void describe_ranges(FILE *file, const struct workload *workload)
{
    double least = 0, most = 0, bytes = 0;
    size_t count = 0;
    for (size_t i = 0; i < workload->count; i++) {
        const struct work *work = &workload->works[i];
        if (work->kind == EPOP_RIGID)
            continue;
        count++;
        least += (double)work->range.min / work->wanted;
        most += (double)work->range.max / work->wanted;
        bytes += work->bytes;
    }
    if (count > 0)
        fprintf(file, "their sizes  %.2f to %.2f times the wanted one, %.3g GB to move, each in the mean\n",
                least / (double)count, most / (double)count, bytes / (double)count / 1e9);
}

static void describe_limits(FILE *file, const struct workload *workload)
{
    double factor = 0;
    for (size_t i = 0; i < workload->count; i++)
        factor += workload->works[i].limit / work_seconds(&workload->works[i], workload->works[i].wanted);
    if (limits_are_exact(workload))
        fputs("limits       exact\n", file);
    else
        fprintf(file, "limits       %.2f times the true time in the mean\n", factor / (double)workload->count);
}

static void describe_rates(FILE *file, const struct rates *rates)
{
    if (rates->all[SHARED_NETWORK] > 0)
        fprintf(file, ", a network of %g GB/s", rates->all[SHARED_NETWORK] / 1e9);
    if (rates->all[SHARED_FILE_SYSTEM] > 0)
        fprintf(file, ", a file system of %g GB/s", rates->all[SHARED_FILE_SYSTEM] / 1e9);
    if (rates->link > 0)
        fprintf(file, ", %g GB/s to and from a node", rates->link / 1e9);
}

static void describe_machine(FILE *file, const struct workload *workload)
{
    fprintf(file, "machine      %d nodes", workload->nodes);
    if (workload->busy_watts > 0)
        fprintf(file, ", %g W idle and %g W busy each", workload->idle_watts, workload->busy_watts);
    if (workload->power_cap > 0)
        fprintf(file, ", at most %g W", workload->power_cap);
    describe_rates(file, &workload->rates);
    fputc('\n', file);
}

void load_describe_notes(FILE *file, const struct workload *workload)
{
    size_t length;
    for (const char *line = workload->notes; *line; line += length + 1) {
        length = strcspn(line, "\n");
        fputs("note: ", file);
        fwrite(line, 1, length, file);
        fputc('\n', file);
    }
}

void load_describe(FILE *file, const struct workload *workload, const struct options *options)
{
    const struct work *works = workload->works;
    double span = works[workload->count - 1].submit - works[0].submit, load = workload_load(workload);
    fprintf(file, "workload     %s\n", workload->name);
    describe_machine(file, workload);
    fprintf(file, "jobs         %zu, submitted in %.0f s (%.1f days)\n", workload->count, span, span / 86400);
    if (isfinite(load))
        fprintf(file, "load         %.3f of the machine is asked for in that time\n", load);
    describe_kinds(file, workload);
    describe_names(file, workload);
    describe_ranges(file, workload);
    describe_limits(file, workload);
    fprintf(file, "resizes      %g s + %g s a node + %g s a byte, %g s after the decision\n", options->costs.base,
            options->costs.per_node, options->costs.per_byte, options->latency);
    fprintf(file, "seed         %llu\n", (unsigned long long)options->transform.seed);
    load_describe_notes(file, workload);
    draw_all(file, workload);
}
