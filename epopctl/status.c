/* epopctl status: one job in full. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "epopctl/command.h"
#include "epopctl/output.h"
#include "epopctl/show.h"
#include "runtime/base/json.h"
#include "runtime/wire/messages.h"

/* One line: a name and what it is. */
static void line(const char *name, const char *value)
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
    line("size", text);
    snprintf(text, sizeof text, "%.0f", json_number(status, "standby", 0));
    line("standby", text);
    snprintf(text, sizeof text, "%.0f", json_number(status, "maximum", 0));
    line("maximum", text);
}

/* "squares, 1 to 16, rather 9" */
static void print_rule(const cJSON *sizes)
{
    double least = json_number(sizes, "min", 0), most = json_number(sizes, "max", 0);
    double preferred = json_number(sizes, "preferred", 0), factor = json_number(sizes, "factor", 0);
    char text[200];
    int used = snprintf(text, sizeof text, "%.80s", term_text(sizes, "kind", "any"));
    if (factor > 0)
        used += snprintf(text + used, sizeof text - (size_t)used, " of %.0f", factor);
    if (least > 0)
        used += snprintf(text + used, sizeof text - (size_t)used, ", at least %.0f", least);
    if (most > 0)
        used += snprintf(text + used, sizeof text - (size_t)used, ", at most %.0f", most);
    if (preferred > 0)
        snprintf(text + used, sizeof text - (size_t)used, ", preferably %.0f", preferred);
    line("sizes", text);
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
    line("progress", text);
}

static void print_where(const cJSON *status)
{
    const cJSON *element = cJSON_GetObjectItem(status, "element"), *progress = cJSON_GetObjectItem(status, "progress");
    char text[300];
    if (cJSON_IsObject(element)) {
        snprintf(text, sizeof text, "%.200s (%.8s, pc %.0f)", term_text(element, "name", "?"),
                 term_text(element, "type", "?"), json_number(element, "pc", 0));
        line("element", text);
        snprintf(text, sizeof text, "%.0f", json_number(element, "iteration", 0));
        line("iteration", text);
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
    line("next", text);
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
        line("recovered", text);
    }
}

/* "3, /scratch/heat-17-0003.h5, at iterate, iteration 120" */
static void print_checkpoint(const char *name, const cJSON *checkpoint, const char *key)
{
    char text[1400];
    if (!checkpoint)
        return;
    snprintf(text, sizeof text, "%.0f, %.1100s, at %.200s, iteration %.0f", json_number(checkpoint, "number", 0),
             term_text(checkpoint, key, "in memory"), term_text(checkpoint, "element", "?"),
             json_number(checkpoint, "iteration", 0));
    line(name, text);
}

/* "10/s with 1, 36.9/s with 4", of the present element: as many sizes as there is room for */
static void print_speeds(const cJSON *status)
{
    const cJSON *speed;
    int pc = (int)json_number(cJSON_GetObjectItem(status, "element"), "pc", -1);
    const cJSON *element = cJSON_GetArrayItem(cJSON_GetObjectItem(status, "elements"), pc);
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
        line("speed", text);
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

static void add_adaptation(struct term_table *table, const cJSON *adaptation)
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
    cJSON_ArrayForEach(adaptation, adaptations) add_adaptation(table, adaptation);
    putchar('\n');
    term_table_print(table);
}

static void print_status(const cJSON *status)
{
    char uptime[32];
    line("job", term_text(status, "job", "?"));
    line("program", term_text(status, "path", term_text(status, "program", "?")));
    if (cJSON_HasObjectItem(status, "batch"))
        line("batch", term_text(status, "batch", "?"));
    line("state", term_text(status, "state", "?"));
    print_size(status);
    print_rule(cJSON_GetObjectItem(status, "sizes"));
    line("backend", term_text(status, "backend", "?"));
    print_where(status);
    print_next(cJSON_GetObjectItem(status, "next"));
    print_speeds(status);
    print_checkpoint("restarted", cJSON_GetObjectItem(status, "restarted"), "from");
    print_recoveries(cJSON_GetObjectItem(status, "recoveries"));
    print_checkpoint("writing", cJSON_GetObjectItem(status, "writing"), "path");
    print_checkpoint("checkpoint", cJSON_GetObjectItem(status, "checkpoint"), "path");
    term_duration(json_number(status, "uptime", 0), uptime);
    line("uptime", uptime);
    print_processes(cJSON_GetObjectItem(status, "processes"));
    print_adaptations(cJSON_GetObjectItem(status, "adaptations"));
}

int ctl_status(const struct ctl_arguments *arguments)
{
    static const struct ctl_view view = {
        .op = REQUEST(status), .member = "job", .none = "the job gave no status", .print = print_status};
    return ctl_show(arguments, &view);
}
