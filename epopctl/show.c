/* The commands that ask a job one thing and show what it is: status, where, psets and measure. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "epopctl/client.h"
#include "epopctl/command.h"
#include "epopctl/jobs.h"
#include "runtime/base/clock.h"
#include "runtime/base/file.h"
#include "runtime/base/json.h"
#include "runtime/wire/messages.h"
#include "terminal/output.h"
#include "terminal/places.h"

struct ctl_view {
    const char *op; /* the request */
    /* Puts more into the request; NULL: there is no more. */
    void (*complete)(cJSON *request, const struct options *arguments);
    void (*amend)(cJSON *what);       /* adds what is known here; NULL: nothing */
    const char *member;               /* of the answer: what is shown */
    const char *none;                 /* said when it is not there, and the answer has no reason */
    void (*print)(const cJSON *what); /* without --json */
};

/* The exit code of the command. */
static int ask_and_show(const struct options *arguments, const struct ctl_view *view)
{
    struct control_job job;
    double until = ctl_deadline(arguments);
    int code = arguments->wait ? ctl_job_await(arguments->job, until) : COMMAND_DONE;
    if (code == COMMAND_DONE)
        code = ctl_job_select(arguments->job, &job);
    if (code != COMMAND_DONE)
        return code;
    cJSON *request = json_message(view->op);
    if (view->complete)
        view->complete(request, arguments);
    cJSON *answer = ctl_ask_job(&job, request, arguments->timeout_ms, &code);
    cJSON *what = cJSON_GetObjectItem(answer, view->member);
    while (arguments->wait && ctl_is_starting(what) && ctl_may_look_again(until)) {
        cJSON_Delete(answer);
        answer = ctl_ask_job(&job, request, arguments->timeout_ms, &code);
        what = cJSON_GetObjectItem(answer, view->member);
    }
    if (arguments->wait && ctl_is_starting(what))
        code = COMMAND_TIMEOUT;
    cJSON_Delete(request);
    if (what && view->amend)
        view->amend(what);
    if (what && arguments->json) {
        term_print_json(what);
    } else if (what) {
        view->print(what);
    } else if (answer) {
        term_complain("%s", term_text(answer, "reason", view->none));
        code = COMMAND_REFUSED;
    }
    cJSON_Delete(answer);
    return code;
}

/* ---- epopctl status: one job in full ------------------------------------------------------------ */

/* One line: a name and what it is. */
static void print_line(const char *name, const char *value)
{
    if (term_for_people())
        printf("%-12s %s\n", name, value);
    else
        printf("%s\t%s\n", name, value);
}

static void print_size(const cJSON *status)
{
    char text[128];
    snprintf(text, sizeof text, "%.0f", json_number(status, "size", 0));
    print_line("size", text);
    snprintf(text, sizeof text, "%.0f", json_number(status, "standby", 0));
    print_line("standby", text);
    snprintf(text, sizeof text, "%.0f", json_number(status, "maximum", 0));
    print_line("maximum", text);
}

/* ", at least 4, at most 16, preferably 9", as far as they say so. */
static const char *bounds_of(const cJSON *sizes, char text[120])
{
    static const char *const names[] = {"min", "max", "preferred"}, *const words[] = {"at least", "at most",
                                                                                      "preferably"};
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < 3; i++)
        if (json_number(sizes, names[i], 0) > 0)
            used += (size_t)snprintf(text + used, 120 - used, ", %s %.0f", words[i], json_number(sizes, names[i], 0));
    return text;
}

/* "squares, at least 4, preferably 9" */
static void print_rule(const cJSON *sizes)
{
    char text[240], factor[32] = "", bounds[120];
    if (json_number(sizes, "factor", 0) > 0)
        snprintf(factor, sizeof factor, " of %.0f", json_number(sizes, "factor", 0));
    snprintf(text, sizeof text, "%.80s%s%s", term_text(sizes, "kind", "any"), factor, bounds_of(sizes, bounds));
    print_line("sizes", text);
}

/* What its process sets ask for together. */
static void print_hints(const cJSON *hints)
{
    char bounds[120];
    if (hints)
        print_line("sets ask", bounds_of(hints, bounds) + 2);
}

/* "1200 of 5000 (24 %)", with its age where the program has not come to a probe for a while */
static void print_progress(const cJSON *progress)
{
    double done = json_number(progress, "iteration", 0), bound = json_number(progress, "bound", 0);
    double age = json_number(progress, "age", 0);
    char text[200], ago[32];
    int used = snprintf(text, sizeof text, "%.0f", done);
    if (bound > 0)
        used +=
            snprintf(text + used, sizeof text - (size_t)used, " of %.0f (%.0f %%)", bound, floor(100 * done / bound));
    term_duration(age, ago);
    if (age >= 1)
        snprintf(text + used, sizeof text - (size_t)used, ", %s ago", ago);
    print_line("progress", text);
}

static void print_place(const cJSON *status)
{
    const cJSON *element = cJSON_GetObjectItem(status, "element"), *progress = cJSON_GetObjectItem(status, "progress");
    char text[300];
    if (cJSON_IsObject(element)) {
        snprintf(text, sizeof text, "%.200s (%.8s, pc %.0f)", term_text(element, "name", "?"),
                 term_text(element, "type", "?"), json_number(element, "pc", 0));
        print_line("element", text);
        snprintf(text, sizeof text, "%.0f", json_number(element, "iteration", 0));
        print_line("iteration", text);
    }
    if (cJSON_IsObject(progress))
        print_progress(progress);
}

/* "report (RP, pc 2), after 140 iterations, in 1.2 s" */
static void print_next(const cJSON *next)
{
    double iterations = json_number(next, "iterations", -1), seconds = json_number(next, "seconds", -1);
    char text[400], when[32];
    if (!cJSON_IsObject(next))
        return;
    int used = snprintf(text, sizeof text, "%.200s (%.8s, pc %.0f)", term_text(next, "name", "?"),
                        term_text(next, "type", "?"), json_number(next, "pc", 0));
    if (iterations >= 0)
        used += snprintf(text + used, sizeof text - (size_t)used, ", after %.0f iterations", iterations);
    term_duration(seconds, when);
    if (seconds >= 0)
        snprintf(text + used, sizeof text - (size_t)used, ", in %s", when);
    print_line("next", text);
}

static void print_recoveries(const cJSON *recoveries)
{
    const cJSON *one;
    char text[160];
    cJSON_ArrayForEach(one, recoveries)
    {
        snprintf(text, sizeof text, "from %s %d, %.0f iterations lost in %.1f s, stood still for %.2f s",
                 term_text(one, "from", "?"), json_int(one, "number", 0), json_number(one, "iterations", 0),
                 json_number(one, "lost", 0), json_number(one, "seconds", 0));
        print_line("recovered", text);
    }
}

/* "3, /scratch/heat-17-0003.h5, at iterate, iteration 120" */
static void print_checkpoint_line(const char *name, const cJSON *checkpoint, const char *key)
{
    char text[1400];
    if (!checkpoint)
        return;
    snprintf(text, sizeof text, "%.0f, %.1100s, at %.200s, iteration %.0f", json_number(checkpoint, "number", 0),
             term_text(checkpoint, key, "in memory"), term_text(checkpoint, "element", "?"),
             json_number(checkpoint, "iteration", 0));
    print_line(name, text);
}

/* NULL: it is in none. */
static const cJSON *present_element(const cJSON *status)
{
    int pc = (int)json_number(cJSON_GetObjectItem(status, "element"), "pc", -1);
    return cJSON_GetArrayItem(cJSON_GetObjectItem(status, "elements"), pc);
}

static void print_scaling_of(const cJSON *element)
{
    const char *scaling = term_text(element, "scaling", "");
    if (!strcmp(scaling, "weak"))
        print_line("scaling", "weak: more ranks do more work, and as many iterations are left");
    else if (*scaling)
        print_line("scaling", "weak: more ranks do more work, and are done sooner");
}

/* "10/s with 1, 36.9/s with 4", of the present element: as many sizes as there is room for */
static void print_speeds(const cJSON *status)
{
    const cJSON *speed, *element = present_element(status);
    char text[200] = "";
    size_t used = 0;
    cJSON_ArrayForEach(speed, cJSON_GetObjectItem(element, "speeds"))
    {
        if (!cJSON_HasObjectItem(speed, "rate") || used + 48 > sizeof text)
            continue;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.3g/s with %.0f", used ? ", " : "",
                                 json_number(speed, "rate", 0), json_number(speed, "size", 0));
    }
    if (used)
        print_line("speed", text);
}

static void print_processes(const cJSON *processes)
{
    static const char *const titles[] = {"PROCESS", "RANK", "STATE", "HOST", "PID"};
    struct term_table *table = term_table_new(5, titles);
    const cJSON *process;
    cJSON_ArrayForEach(process, processes)
    {
        char number[32], rank[32] = "-", pid[32];
        snprintf(number, sizeof number, "%.0f", json_number(process, "process", 0));
        if (json_number(process, "rank", -1) >= 0)
            snprintf(rank, sizeof rank, "%.0f", json_number(process, "rank", 0));
        snprintf(pid, sizeof pid, "%.0f", json_number(process, "pid", 0));
        term_table_add(table, (const char *[]){number, rank, term_text(process, "state", "?"),
                                               term_text(process, "host", "?"), pid});
    }
    putchar('\n');
    term_table_print(table);
}

static void add_adaptation_row(struct term_table *table, const cJSON *adaptation)
{
    const cJSON *times = cJSON_GetObjectItem(adaptation, "times");
    double requested = json_number(times, "requested", NAN), committed = json_number(times, "committed", NAN);
    char id[32], change[64], took[32] = "-", stall[32] = "-", where[200] = "-";
    snprintf(id, sizeof id, "%.0f", json_number(adaptation, "id", 0));
    snprintf(change, sizeof change, "%.0f -> %.0f", json_number(adaptation, "from", 0),
             json_number(adaptation, "to", 0));
    if (!isnan(committed - requested))
        snprintf(took, sizeof took, "%.1f ms", 1e3 * (committed - requested));
    if (cJSON_HasObjectItem(adaptation, "stall"))
        snprintf(stall, sizeof stall, "%.1f ms", 1e3 * json_number(adaptation, "stall", 0));
    if (cJSON_HasObjectItem(adaptation, "element"))
        snprintf(where, sizeof where, "%.120s, iteration %.0f", term_text(adaptation, "element", "?"),
                 json_number(adaptation, "iteration", 0));
    term_table_add(table, (const char *[]){id, change, term_text(adaptation, "state", "?"), where, took, stall,
                                           term_text(adaptation, "by", "-"), term_text(adaptation, "reason", "")});
}

static void print_adaptations(const cJSON *adaptations)
{
    static const char *const titles[] = {"ADAPTATION", "CHANGE", "STATE", "WHERE", "TOOK", "STALL", "BY", "REASON"};
    const cJSON *adaptation;
    if (!cJSON_GetArraySize(adaptations))
        return;
    struct term_table *table = term_table_new(8, titles);
    cJSON_ArrayForEach(adaptation, adaptations) add_adaptation_row(table, adaptation);
    putchar('\n');
    term_table_print(table);
}

/* Of a script the program is its interpreter, and the first of them the script. */
static void print_arguments(const cJSON *arguments)
{
    char *line = NULL;
    size_t size;
    const cJSON *argument;
    FILE *file = arguments && arguments->child ? open_memstream(&line, &size) : NULL;
    if (!file)
        return;
    cJSON_ArrayForEach(argument, arguments)
        fprintf(file, "%s%s", argument == arguments->child ? "" : " ", cJSON_GetStringValue(argument));
    fclose(file);
    for (char *at = line; *at; at++)
        *at = iscntrl((unsigned char)*at) ? ' ' : *at;
    print_line("arguments", line);
    free(line);
}

static void print_status(const cJSON *status)
{
    char uptime[32], loop[PLACES_NAME];
    print_line("job", term_text(status, "job", "?"));
    print_line("program", term_text(status, "path", term_text(status, "program", "?")));
    print_arguments(cJSON_GetObjectItem(status, "arguments"));
    if (cJSON_HasObjectItem(status, "batch"))
        print_line("batch", term_text(status, "batch", "?"));
    print_line("state", term_text(status, "state", "?"));
    print_size(status);
    print_rule(cJSON_GetObjectItem(status, "sizes"));
    print_hints(cJSON_GetObjectItem(status, "hints"));
    print_line("backend", term_text(status, "backend", "?"));
    print_place(status);
    if (cJSON_HasObjectItem(status, "loop"))
        print_line("loop", places_loop_name(cJSON_GetObjectItem(status, "loop"), loop));
    print_next(cJSON_GetObjectItem(status, "next"));
    print_scaling_of(present_element(status));
    print_speeds(status);
    print_checkpoint_line("restarted", cJSON_GetObjectItem(status, "restarted"), "from");
    print_recoveries(cJSON_GetObjectItem(status, "recoveries"));
    print_checkpoint_line("writing", cJSON_GetObjectItem(status, "writing"), "path");
    print_checkpoint_line("checkpoint", cJSON_GetObjectItem(status, "checkpoint"), "path");
    term_duration(json_number(status, "uptime", 0), uptime);
    print_line("uptime", uptime);
    print_processes(cJSON_GetObjectItem(status, "processes"));
    print_adaptations(cJSON_GetObjectItem(status, "adaptations"));
}

static void amend_status(cJSON *status)
{
    places_name_present(&status, 1);
}

int ctl_status(const struct options *arguments)
{
    static const struct ctl_view view = {.op = REQUEST(status),
                                         .amend = amend_status,
                                         .member = "job",
                                         .none = "the job gave no status",
                                         .print = print_status};
    return ask_and_show(arguments, &view);
}

/* ---- epopctl where: what every rank is in, and for how long ------------------------------------- */

static void where_seconds(const cJSON *object, const char *name, char text[32])
{
    strcpy(text, "-");
    if (cJSON_HasObjectItem(object, name))
        term_duration(json_number(object, name, 0), text);
}

/* What the process does; for one that runs the program, in more detail than its state. */
static const char *activity_of(const cJSON *process)
{
    const char *state = term_text(process, "state", "?"), *activity = term_text(process, "activity", "?");
    return !strcmp(state, "running") || !strcmp(activity, "no answer") ? activity : state;
}

static void add_process_row(struct term_table *table, const cJSON *process)
{
    const cJSON *element = cJSON_GetObjectItem(process, "element");
    char rank[32] = "-", pc[32], iteration[32], here[32], call[32], pid[32];
    if (json_number(process, "rank", -1) >= 0)
        term_figure(process, "rank", "%.0f", rank);
    term_figure(element, "pc", "%.0f", pc);
    term_figure(element, "iteration", "%.0f", iteration);
    where_seconds(process, "seconds", here);
    where_seconds(process, "mpi_seconds", call);
    term_figure(process, "pid", "%.0f", pid);
    term_table_add(table,
                   (const char *[]){rank, activity_of(process), term_text(element, "name", "-"), pc, iteration, here,
                                    term_text(process, "mpi", "-"), call, term_text(process, "host", "?"), pid});
}

static void print_where(const cJSON *where)
{
    static const char *const titles[] = {"RANK", "STATE", "PHASE", "PC",   "ITERATION",
                                         "FOR",  "MPI",   "FOR",   "HOST", "PID"};
    struct term_table *table = term_table_new(10, titles);
    const cJSON *process;
    cJSON_ArrayForEach(process, cJSON_GetObjectItem(where, "processes")) add_process_row(table, process);
    term_table_print(table);
}

int ctl_where(const struct options *arguments)
{
    static const struct ctl_view view = {
        .op = REQUEST(where), .member = "where", .none = "the job gave no answer", .print = print_where};
    return ask_and_show(arguments, &view);
}

/* ---- epopctl psets: the process sets of a job --------------------------------------------------- */

/* "0,1,4": the caller frees it; NULL: out of memory. */
static char *process_list(const cJSON *processes)
{
    const cJSON *process;
    char *text = calloc((size_t)cJSON_GetArraySize(processes) + 1, 12), *end = text;
    cJSON_ArrayForEach(process, processes)
    {
        if (text)
            end += sprintf(end, "%s%d", end == text ? "" : ",", process->valueint);
    }
    return text;
}

static void set_number(const cJSON *set, const char *name, char text[32])
{
    snprintf(text, 32, "%.0f", json_number(set, name, 0));
}

static void add_set_row(struct term_table *table, const cJSON *set)
{
    char size[32], version[32], epoch[32], *processes = process_list(cJSON_GetObjectItem(set, "processes"));
    set_number(set, "size", size);
    set_number(set, "version", version);
    set_number(set, "epoch", epoch);
    const char *active = json_true(set, "delta") ? "-" : json_true(set, "active") ? "yes" : "no";
    term_table_add(table, (const char *[]){term_text(set, "name", "?"), size, version, epoch, active,
                                           processes ? processes : "?"});
    free(processes);
}

static void print_sets(const cJSON *sets)
{
    static const char *const titles[] = {"SET", "SIZE", "VERSION", "EPOCH", "ACTIVE", "PROCESSES"};
    struct term_table *table = term_table_new(6, titles);
    const cJSON *set;
    cJSON_ArrayForEach(set, sets) add_set_row(table, set);
    term_table_print(table);
}

static void complete_psets(cJSON *request, const struct options *arguments)
{
    (void)arguments;
    cJSON_AddStringToObject(request, "about", "all");
}

int ctl_psets(const struct options *arguments)
{
    static const struct ctl_view view = {.op = REQUEST(psets),
                                         .complete = complete_psets,
                                         .member = "psets",
                                         .none = "the job gave no answer",
                                         .print = print_sets};
    return ask_and_show(arguments, &view);
}

/* ---- epopctl measure: what the phases of a job spend in MPI ------------------------------------- */

/* Those who ask from one terminal, or one session without any, are one asker. */
static void complete_measure(cJSON *request, const struct options *arguments)
{
    char session[32];
    snprintf(session, sizeof session, "epopctl-%ld", (long)getsid(0));
    cJSON_AddStringToObject(request, "asker", arguments->asker ? arguments->asker : session);
    if (arguments->keep >= 0)
        cJSON_AddNumberToObject(request, "keep", arguments->keep);
}

#define SUMS 9 /* columns */

/* The columns that phases and loops have in common. */
struct sum_cells {
    char text[SUMS][32];
};

static void fill_sums(const cJSON *element, struct sum_cells *cells, const char **row)
{
    static const struct {
        const char *name, *format;
        bool of_mtct;
    } columns[SUMS] = {{"iterations", "%.0f", false},  {"rate", "%.4g", false},      {"loop_seconds", "%.3f", false},
                       {"mpi_seconds", "%.3f", false}, {"imbalance", "%.3f", false}, {"mean", "%.4g", true},
                       {"variance", "%.3g", true},     {"min", "%.4g", true},        {"max", "%.4g", true}};
    const cJSON *mtct = cJSON_GetObjectItem(element, "mtct");
    for (int i = 0; i < SUMS; i++)
        row[i] = term_figure(columns[i].of_mtct ? mtct : element, columns[i].name, columns[i].format, cells->text[i]);
}

/* "solve, weak" */
static const char *with_scaling(const cJSON *element, const char *name, char text[PLACES_NAME + 16])
{
    const char *scaling = term_text(element, "scaling", "");
    snprintf(text, PLACES_NAME + 16, "%.*s%s%s", PLACES_NAME, name, *scaling ? ", " : "", scaling);
    return text;
}

static void add_phase_row(struct term_table *table, const cJSON *element)
{
    char name[PLACES_NAME + 16], pc[32], size[32], ranks[32], trend[32];
    struct sum_cells cells;
    const char *row[5 + SUMS] = {with_scaling(element, term_text(element, "name", "?"), name),
                                 term_figure(element, "pc", "%.0f", pc), term_figure(element, "size", "%.0f", size),
                                 term_figure(element, "ranks", "%.0f", ranks)};
    fill_sums(element, &cells, row + 4);
    row[4 + SUMS] = term_figure(cJSON_GetObjectItem(element, "mtct"), "trend", "%.4g", trend);
    term_table_add(table, row);
}

static void print_phases(const cJSON *elements)
{
    static const char *const titles[] = {"PHASE", "PC",        "SIZE", "RANKS",    "ITERATIONS", "RATE", "LOOP",
                                         "MPI",   "IMBALANCE", "MTCT", "VARIANCE", "MIN",        "MAX",  "TREND"};
    struct term_table *table = term_table_new(5 + SUMS, titles);
    const cJSON *element;
    cJSON_ArrayForEach(element, elements) add_phase_row(table, element);
    term_table_print(table);
}

static void add_loop_row(struct term_table *table, const cJSON *loop)
{
    char number[32], within[32], size[32], trend[32], name[PLACES_NAME], scaled[PLACES_NAME + 16];
    struct sum_cells cells;
    const char *row[7 + SUMS] = {with_scaling(loop, places_loop_name(loop, name), scaled),
                                 term_text(cJSON_GetObjectItem(loop, "head"), "mpi", "?"),
                                 term_figure(loop, "number", "%.0f", number),
                                 term_figure(loop, "within", "%.0f", within),
                                 term_figure(loop, "size", "%.0f", size),
                                 term_text(loop, "ranks", "-")};
    fill_sums(loop, &cells, row + 6);
    row[6 + SUMS] = term_figure(cJSON_GetObjectItem(loop, "mtct"), "trend", "%.4g", trend);
    term_table_add(table, row);
}

static void print_loops(const cJSON *loops)
{
    static const char *const titles[] = {"LOOP",       "CALL", "NUMBER", "WITHIN", "SIZE",      "RANKS",
                                         "ITERATIONS", "RATE", "TLT",    "TMT",    "IMBALANCE", "MTCT",
                                         "VARIANCE",   "MIN",  "MAX",    "TREND"};
    struct term_table *table = term_table_new(7 + SUMS, titles);
    const cJSON *loop;
    cJSON_ArrayForEach(loop, loops) add_loop_row(table, loop);
    term_table_print(table);
}

/* Seconds outside MPI in all elements; below 0: it was in none. */
static double load_of(const cJSON *measure, double rank)
{
    const cJSON *element, *load;
    double seconds = -1;
    cJSON_ArrayForEach(element, cJSON_GetObjectItem(measure, "elements"))
    {
        cJSON_ArrayForEach(load, cJSON_GetObjectItem(element, "loads"))
        {
            if (cJSON_GetNumberValue(cJSON_GetArrayItem(load, 0)) == rank)
                seconds = fmax(seconds, 0) + cJSON_GetNumberValue(cJSON_GetArrayItem(load, 1));
        }
    }
    return seconds;
}

/* Ranks that did not answer have no figure. */
static void print_ranks(const cJSON *measure)
{
    static const char *const titles[] = {"RANK", "PROCESS", "MEMORY", "LOAD"};
    struct term_table *table = term_table_new(4, titles);
    const cJSON *each;
    char rank[32], process[32], bytes[48], load[32];
    cJSON_ArrayForEach(each, cJSON_GetObjectItem(measure, "memory"))
    {
        snprintf(bytes, sizeof bytes, "%.1f MiB", json_number(each, "bytes", 0) / 1048576);
        double seconds = load_of(measure, json_number(each, "rank", -1));
        snprintf(load, sizeof load, seconds < 0 ? "-" : "%.3f", seconds);
        term_table_add(table, (const char *[]){term_figure(each, "rank", "%.0f", rank),
                                               term_figure(each, "process", "%.0f", process), bytes, load});
    }
    cJSON_ArrayForEach(each, cJSON_GetObjectItem(measure, "missing"))
    {
        snprintf(rank, sizeof rank, "%.0f", cJSON_GetNumberValue(each));
        term_table_add(table, (const char *[]){rank, "-", "no answer", "-"});
    }
    term_table_print(table);
}

static void print_measure(const cJSON *measure)
{
    double time = json_number(measure, "time", 0);
    printf("since\t%.3f s ago\n", time - json_number(measure, "since", time));
    printf("measuring\tfor %.3f s\n\n", time - json_number(measure, "began", time));
    print_phases(cJSON_GetObjectItem(measure, "elements"));
    putchar('\n');
    if (cJSON_GetArraySize(cJSON_GetObjectItem(measure, "loops"))) {
        print_loops(cJSON_GetObjectItem(measure, "loops"));
        putchar('\n');
    }
    print_ranks(measure);
}

static void amend_measure(cJSON *measure)
{
    places_name_loops(cJSON_GetObjectItem(measure, "loops"));
}

/* ---- What was written when jobs ended ---- */

#define MEASURED_MOST ((size_t)1 << 30) /* bytes of such a file */

/* NULL, with a line on stderr. */
static cJSON *read_measured(const char *path)
{
    struct error error;
    char *text = file_read(path, MEASURED_MOST, &error);
    if (!text) {
        term_complain("%s", error.text);
        return NULL;
    }
    cJSON *measure = cJSON_Parse(text);
    free(text);
    if (!cJSON_IsArray(cJSON_GetObjectItem(measure, "loops"))) {
        term_complain("'%s' is no file of what was measured: write one with epop --driver profile --output FILE", path);
        cJSON_Delete(measure);
        return NULL;
    }
    amend_measure(measure);
    return measure;
}

/* All files that commas separate; NULL, with a line on stderr. */
static cJSON *read_all_measured(const char *paths)
{
    cJSON *all = cJSON_CreateArray();
    char *copy = strdup(paths), *rest = copy, *path;
    while (all && (path = strsep(&rest, ","))) {
        cJSON *one = read_measured(path);
        if (one) {
            cJSON_AddItemToArray(all, one);
            continue;
        }
        cJSON_Delete(all);
        all = NULL;
    }
    free(copy);
    return all;
}

static bool same_end(const cJSON *one, const cJSON *other, const char *end)
{
    const cJSON *a = cJSON_GetObjectItem(one, end), *b = cJSON_GetObjectItem(other, end);
    return !strcmp(term_text(a, "place", ""), term_text(b, "place", "")) &&
           !strcmp(term_text(a, "from", ""), term_text(b, "from", "")) &&
           !strcmp(term_text(a, "mpi", ""), term_text(b, "mpi", ""));
}

/* The same loop in the run with the fewest ranks that has it. */
static const cJSON *fewest_ranks(const cJSON *all, const cJSON *loop)
{
    const cJSON *run, *other, *found = loop;
    cJSON_ArrayForEach(run, all) cJSON_ArrayForEach(other, cJSON_GetObjectItem(run, "loops"))
    {
        if (same_end(loop, other, "head") && same_end(loop, other, "tail") && json_number(other, "rate", 0) > 0 &&
            json_int(other, "size", 0) < json_int(found, "size", 0))
            found = other;
    }
    return found;
}

/* Of the whole run, not of its last iterations. */
static const char *mtct_in_all(const cJSON *loop, char text[32])
{
    double all = json_number(loop, "loop_seconds", 0), mpi = json_number(loop, "mpi_seconds", 0);
    snprintf(text, 32, all > mpi ? "%.4g" : "-", mpi / (all - mpi));
    return text;
}

/* An iteration is the work of so many ranks. */
static double work_rate(const cJSON *loop)
{
    return json_number(loop, "rate", 0) * (cJSON_HasObjectItem(loop, "scaling") ? json_int(loop, "size", 1) : 1);
}

static void add_scaling_row(struct term_table *table, const cJSON *all, const cJSON *loop)
{
    const cJSON *base = fewest_ranks(all, loop);
    double speedup = work_rate(loop) / work_rate(base);
    char name[PLACES_NAME], scaled[PLACES_NAME + 16], size[32], iterations[32], rate[32], mean[32], faster[32],
        efficiency[32];
    snprintf(faster, sizeof faster, "%.3g", speedup);
    snprintf(efficiency, sizeof efficiency, "%.3g", speedup * json_int(base, "size", 1) / json_int(loop, "size", 1));
    term_table_add(table, (const char *[]){with_scaling(loop, places_loop_name(loop, name), scaled),
                                           term_text(cJSON_GetObjectItem(loop, "head"), "mpi", "?"),
                                           term_figure(loop, "size", "%.0f", size), term_text(loop, "ranks", "-"),
                                           term_figure(loop, "iterations", "%.0f", iterations),
                                           term_figure(loop, "rate", "%.4g", rate), mtct_in_all(loop, mean), faster,
                                           efficiency});
}

/* Each loop at the sizes of all runs, the runs in the order in which they are named. */
static void print_scaling(const cJSON *all)
{
    static const char *const titles[] = {"LOOP", "CALL", "SIZE",    "RANKS",     "ITERATIONS",
                                         "RATE", "MTCT", "SPEEDUP", "EFFICIENCY"};
    struct term_table *table = term_table_new(9, titles);
    const cJSON *run, *loop;
    cJSON_ArrayForEach(run, all) cJSON_ArrayForEach(loop, cJSON_GetObjectItem(run, "loops"))
    {
        if (json_number(loop, "rate", 0) > 0)
            add_scaling_row(table, all, loop);
    }
    term_table_print(table);
}

static int show_measured(const struct options *arguments)
{
    cJSON *all = read_all_measured(arguments->from);
    if (!all)
        return COMMAND_REFUSED;
    if (arguments->json)
        term_print_json(cJSON_GetArraySize(all) > 1 ? all : cJSON_GetArrayItem(all, 0));
    else if (cJSON_GetArraySize(all) > 1)
        print_scaling(all);
    else
        print_measure(cJSON_GetArrayItem(all, 0));
    cJSON_Delete(all);
    return COMMAND_DONE;
}

int ctl_measure(const struct options *arguments)
{
    if (arguments->from)
        return show_measured(arguments);
    static const struct ctl_view view = {.op = REQUEST(measure),
                                         .complete = complete_measure,
                                         .amend = amend_measure,
                                         .member = "measure",
                                         .none = "the job gave no answer",
                                         .print = print_measure};
    return ask_and_show(arguments, &view);
}
