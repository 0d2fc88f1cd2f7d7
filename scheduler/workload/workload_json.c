/* The document: its machine, its jobs, and those that are drawn: see workload_json.h. */
#include "scheduler/workload/workload_json.h"

#include <stdlib.h>
#include <string.h>

#include "scheduler/workload/fill.h"
#include "scheduler/workload/json_jobs.h"
#include "scheduler/workload/json_random.h"
#include "scheduler/workload/place.h"

#define MOST_NODES 1000000

/* ---- Document and machine ------------------------------------------------------------------ */

static int check_document(const struct json_reader *reader)
{
    static const char *const keys[] = {"schema", "version", "name", "machine", "applications", "jobs", "random", NULL};
    static const char *const schemas[] = {"epop.workload", NULL};
    int schema, version = 1;
    if (place_object(&reader->document, keys, reader->error) ||
        place_word(&reader->document, "schema", true, schemas, &schema, reader->error) ||
        place_int(&reader->document, "version", true, 1, 1, &version, reader->error))
        return -1;
    if (!place_in(&reader->document, "jobs").item && !place_in(&reader->document, "random").item)
        return place_error(&reader->document, reader->error, "has no jobs: give jobs, random or both");
    return 0;
}

static int read_machine(struct json_reader *reader)
{
    static const char *const keys[] = {"nodes", "idle_watts", "busy_watts", "power_cap", NULL};
    struct workload *workload = reader->workload;
    struct place machine = place_in(&reader->document, "machine");
    int nodes = workload->nodes;
    if (place_object(&machine, keys, reader->error) ||
        place_int(&machine, "nodes", nodes == 0, 1, MOST_NODES, &nodes, reader->error) ||
        place_number(&machine, "idle_watts", false, 0, 1e9, &workload->idle_watts, reader->error) ||
        place_number(&machine, "busy_watts", false, workload->idle_watts, 1e9, &workload->busy_watts, reader->error) ||
        place_number(&machine, "power_cap", false, 0, 1e15, &workload->power_cap, reader->error))
        return -1;
    workload->nodes = workload->nodes ? workload->nodes : nodes;
    if (workload->power_cap > 0 && workload->busy_watts <= 0)
        return place_error(&machine, reader->error, "has a power_cap without idle_watts and busy_watts of a node");
    return 0;
}

static int finish(struct json_reader *reader)
{
    int64_t id;
    if (workload_has_twins(reader->workload, &id))
        return place_error(&reader->document, reader->error, "two jobs have the id %lld: number them anew",
                           (long long)id);
    workload_sort(reader->workload);
    return 0;
}

static int read_document(struct json_reader *reader, const uint64_t *seed)
{
    return check_document(reader) || read_machine(reader) || json_applications(reader) || json_jobs(reader) ||
                   json_random(reader, seed) || finish(reader)
               ? -1
               : 0;
}

static int line_of(const struct input *input, const char *place)
{
    int line = 1;
    for (const char *at = input->text; at < place && at < input->text + input->size; at++)
        line += *at == '\n';
    return line;
}

static int refuse(struct workload *workload, const struct input *input, const char *place, const char *what,
                  struct error *error)
{
    workload_free(workload);
    return error_set(error, ERROR_REFUSED, "%s:%d: %s", input->name, line_of(input, place), what);
}

int workload_json_read(struct workload *workload, const struct input *input, int nodes, const uint64_t *seed,
                       struct error *error)
{
    const char *end = input->text;
    struct json_reader reader = {.workload = workload, .error = error};
    *workload = (struct workload){.nodes = nodes, .notes = strdup("")};
    const char *wrong = input_no_utf8(input);
    if (wrong)
        return refuse(workload, input, wrong, "this is not UTF-8", error);
    cJSON *json = cJSON_ParseWithLengthOpts(input->text, input->size + 1, &end, 1);
    if (!json)
        return refuse(workload, input, end, "no JSON from here on", error);
    reader.document = (struct place){.key = input->name, .item = json};
    const char *name = basename(input->name);
    int failed = place_text(&reader.document, "name", false, &name, error) || read_document(&reader, seed) ? -1 : 0;
    workload->name = strdup(name);
    if (!failed && (!workload->name || !workload->notes))
        failed = error_memory(error);
    cJSON_Delete(json);
    if (failed)
        workload_free(workload);
    return failed;
}
