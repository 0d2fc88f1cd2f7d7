/* Traces in the Standard Workload Format, read line by line. */
#include "scheduler/workload/swf.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "scheduler/workload/workload.h"

enum { ID, SUBMIT, WAIT, RUN, USED, CPU, MEMORY, REQUESTED, LIMIT, WANTED_MEMORY, STATUS, USER, GROUP, APPLICATION };

#define FIELDS 18

static const char *const names[FIELDS] = {
    "job number",  "submit time",          "wait time",      "run time",         "used processors", "CPU time",
    "used memory", "requested processors", "requested time", "requested memory", "status",          "user",
    "group",       "executable",           "queue",          "partition",        "preceding job",   "think time",
};

/* Status 2 to 4: a part of a job that was swapped out or checkpointed. The whole has a line of its own. */
#define PART_FIRST 2
#define PART_LAST  4

struct reader {
    struct workload *workload;
    const char *file;
    int line;
    bool asked;       /* --nodes was given */
    int procs, nodes; /* that the header says; 0: it does not */
    double last;      /* submission of the line before */
    int last_line;
    struct {
        size_t jobs, no_time, no_processors, parts;
    } counts;
    struct error *error;
};

static int refuse_field(const struct reader *reader, int field, const char *what)
{
    return error_set(reader->error, ERROR_REFUSED, "%s:%d: field %d (%s) %s", reader->file, reader->line, field + 1,
                     names[field], what);
}

/* ---- The header --------------------------------------------------------------------------------- */

/* "; MaxProcs: 128": the number. Notes of the same header may have anything behind a key. */
static int take_header(struct reader *reader, const char *line, const char *key, int *value)
{
    size_t length = strlen(key);
    while (*line == ';' || *line == ' ' || *line == '\t')
        line++;
    if (strncmp(line, key, length) || line[length] != ':')
        return 0;
    char *end;
    const char *text = line + length + 1;
    long number = strtol(text, &end, 10);
    if (end == text || number < 1 || number > INT_MAX)
        return error_set(reader->error, ERROR_REFUSED,
                         "%s:%d: %s is no number of processors: correct it, or give --nodes", reader->file,
                         reader->line, key);
    *value = (int)number;
    return 0;
}

/* Asked for on the command line, the machine needs no description. */
static int read_header(struct reader *reader, const char *line)
{
    if (reader->workload->nodes > 0)
        return 0;
    return take_header(reader, line, "MaxProcs", &reader->procs) ||
                   take_header(reader, line, "MaxNodes", &reader->nodes)
               ? -1
               : 0;
}

/* Before the first job, the machine must be known. */
static int settle_machine(struct reader *reader)
{
    struct workload *workload = reader->workload;
    if (workload->nodes > 0)
        return 0;
    workload->nodes = reader->procs > 0 ? reader->procs : reader->nodes;
    if (workload->nodes <= 0)
        return error_set(reader->error, ERROR_REFUSED,
                         "%s: says neither MaxProcs nor MaxNodes before its first job: give --nodes", reader->file);
    if (reader->nodes > 0 && reader->nodes != workload->nodes &&
        workload_note(workload, "a node here is a processor of the trace: %d processors in %d nodes", workload->nodes,
                      reader->nodes))
        return error_memory(reader->error);
    return 0;
}

/* ---- A job -------------------------------------------------------------------------------------- */

static int read_field(struct reader *reader, char *word, int field, double *value)
{
    char *end;
    char text[200];
    *value = decimal_read(word, &end);
    if (end != word && !*end && isfinite(*value))
        return 0;
    snprintf(text, sizeof text, "is \"%.60s\", which is no number: correct the line, or take it out", word);
    return refuse_field(reader, field, text);
}

static int read_fields(struct reader *reader, char *line, double values[FIELDS])
{
    char *rest = NULL;
    int count = 0;
    for (char *word = strtok_r(line, " \t\r", &rest); word; word = strtok_r(NULL, " \t\r", &rest), count++) {
        if (count == FIELDS)
            return error_set(reader->error, ERROR_REFUSED, "%s:%d: more than %d fields, the next is \"%.60s\"",
                             reader->file, reader->line, FIELDS, word);
        if (read_field(reader, word, count, &values[count]))
            return -1;
    }
    if (count < FIELDS)
        return refuse_field(reader, count, "is missing: a line has 18 fields, -1 where one is not known");
    return 0;
}

static int check_id(struct reader *reader, double id)
{
    if (id >= 0 && id <= 1e15 && id == floor(id))
        return 0;
    return refuse_field(reader, ID, "is no whole number from 0 on: number the jobs");
}

static int check_submit(struct reader *reader, double submit)
{
    char text[200];
    if (submit < 0)
        return refuse_field(reader, SUBMIT, "is negative: it counts seconds from the trace's beginning");
    if (submit < reader->last) {
        snprintf(text, sizeof text, "is %g, before line %d's %g: sort the jobs by it (sort -s -n -k2,2)", submit,
                 reader->last_line, reader->last);
        return refuse_field(reader, SUBMIT, text);
    }
    reader->last = submit;
    reader->last_line = reader->line;
    return 0;
}

static int check_size(struct reader *reader, int field, double size)
{
    char text[200];
    int most = reader->workload->nodes;
    if (size == floor(size) && size <= most)
        return 0;
    if (size != floor(size))
        return refuse_field(reader, field, "is no whole number");
    if (reader->asked)
        snprintf(text, sizeof text, "is %.0f, and the machine has %d: give --nodes %.0f or more, or leave it out", size,
                 most, size);
    else
        snprintf(text, sizeof text, "is %.0f, and the machine has %d: correct it, or give --nodes", size, most);
    return refuse_field(reader, field, text);
}

/* -1 is what is not known; any other negative number is a mistake in the trace. */
static int check_known(struct reader *reader, const double *values)
{
    static const int fields[] = {RUN, USED, REQUESTED, LIMIT};
    char text[200];
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        double value = values[fields[i]];
        if (value >= 0 || value == -1)
            continue;
        snprintf(text, sizeof text, "is %g, below 0: correct it, or write -1 if it is not known", value);
        return refuse_field(reader, fields[i], text);
    }
    return 0;
}

/* Whether it is simulated; else it is counted. */
static bool can_run(struct reader *reader, const double *values)
{
    bool part = values[STATUS] >= PART_FIRST && values[STATUS] <= PART_LAST;
    bool sized = values[REQUESTED] > 0 || values[USED] > 0;
    reader->counts.parts += part;
    reader->counts.no_time += !part && values[RUN] <= 0;
    reader->counts.no_processors += !part && values[RUN] > 0 && !sized;
    return !part && values[RUN] > 0 && sized;
}

static int add_job(struct reader *reader, const double *values)
{
    static const struct speedup linear = {.model = SPEEDUP_LINEAR};
    char name[40] = "job";
    struct work *work = workload_add(reader->workload);
    if (!work)
        return error_memory(reader->error);
    if (values[APPLICATION] >= 0)
        snprintf(name, sizeof name, "app%.0f", values[APPLICATION]);
    work->id = (int64_t)values[ID];
    work->user = fabs(values[USER]) < INT_MAX ? (int)values[USER] : -1;
    work->submit = values[SUBMIT];
    work->wanted = (int)(values[REQUESTED] > 0 ? values[REQUESTED] : values[USED]);
    work->range = (epop_policy_range_t){.min = work->wanted, .max = work->wanted};
    work->limit = values[LIMIT] > 0 ? values[LIMIT] : values[RUN];
    work->name = strdup(name);
    if (!work->name || work_one_phase(work, "run", values[RUN], &linear))
        return error_memory(reader->error);
    return 0;
}

static int read_job(struct reader *reader, char *line)
{
    double values[FIELDS];
    if (settle_machine(reader) || read_fields(reader, line, values) || check_id(reader, values[ID]) ||
        check_submit(reader, values[SUBMIT]) || check_known(reader, values) ||
        check_size(reader, REQUESTED, values[REQUESTED]) || check_size(reader, USED, values[USED]))
        return -1;
    reader->counts.jobs++;
    return can_run(reader, values) ? add_job(reader, values) : 0;
}

/* ---- The file ----------------------------------------------------------------------------------- */

static int read_line(struct reader *reader, char *line)
{
    line += strspn(line, " \t\r");
    if (*line == ';')
        return read_header(reader, line);
    return *line ? read_job(reader, line) : 0;
}

static int note_count(struct reader *reader, size_t count, const char *why)
{
    if (count > 0 && workload_note(reader->workload, "%zu of %zu lines left out: %s", count, reader->counts.jobs, why))
        return error_memory(reader->error);
    return 0;
}

static int note_counts(struct reader *reader)
{
    return note_count(reader, reader->counts.no_time, "no run time (0 or not known; cancelled before they ran)") ||
           note_count(reader, reader->counts.no_processors, "no processors (0 or not known)") ||
           note_count(reader, reader->counts.parts, "parts of jobs that have a line of their own (status 2 to 4)");
}

static int refuse_empty(const struct reader *reader)
{
    if (reader->counts.jobs == 0)
        return error_set(reader->error, ERROR_REFUSED, "%s: has no job: is it a trace in the Standard Workload Format?",
                         reader->file);
    return error_set(reader->error, ERROR_REFUSED,
                     "%s: has no job that can be simulated: of %zu lines, %zu have no run time, %zu no processors, and "
                     "%zu are parts of jobs (status 2 to 4)",
                     reader->file, reader->counts.jobs, reader->counts.no_time, reader->counts.no_processors,
                     reader->counts.parts);
}

static int check_workload(struct reader *reader)
{
    int64_t id;
    if (reader->workload->count == 0)
        return refuse_empty(reader);
    if (workload_has_twins(reader->workload, &id))
        return error_set(reader->error, ERROR_REFUSED, "%s: two jobs have the number %lld: number them anew",
                         reader->file, (long long)id);
    return 0;
}

static int read_lines(struct reader *reader, struct input *input)
{
    char *line = input->text, *all = input->text + input->size;
    while (line < all) {
        char *end = strchr(line, '\n');
        end = end ? end : line + strlen(line);
        bool cut = !*end && end < all;
        *end = 0;
        reader->line++;
        if (cut)
            return error_set(reader->error, ERROR_REFUSED, "%s:%d: a byte 0: this is no text", reader->file,
                             reader->line);
        if (read_line(reader, line))
            return -1;
        line = end + 1;
    }
    return note_counts(reader) || check_workload(reader) ? -1 : 0;
}

int swf_read(struct workload *workload, struct input *input, int nodes, struct error *error)
{
    struct reader reader = {.workload = workload, .file = input->name, .asked = nodes > 0, .error = error};
    *workload = (struct workload){.nodes = nodes, .name = strdup(basename(input->name)), .notes = strdup("")};
    int failed = workload->name && workload->notes ? read_lines(&reader, input) : error_memory(error);
    if (failed)
        workload_free(workload);
    else
        workload_sort(workload);
    return failed;
}
