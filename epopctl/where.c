/* epopctl where: what every rank of a job is in, and for how long. */
#include <stdio.h>
#include <string.h>

#include "epopctl/command.h"
#include "epopctl/output.h"
#include "epopctl/show.h"
#include "runtime/base/json.h"
#include "runtime/wire/messages.h"

static void number(const cJSON *object, const char *name, char text[32])
{
    strcpy(text, "-");
    if (cJSON_HasObjectItem(object, name))
        snprintf(text, 32, "%.0f", json_number(object, name, 0));
}

static void seconds(const cJSON *object, const char *name, char text[32])
{
    strcpy(text, "-");
    if (cJSON_HasObjectItem(object, name))
        term_duration(json_number(object, name, 0), text);
}

/* What the process does; for one that runs the program, in more detail than its state. */
static const char *activity(const cJSON *process)
{
    const char *state = term_text(process, "state", "?"), *activity = term_text(process, "activity", "?");
    return !strcmp(state, "running") || !strcmp(activity, "no answer") ? activity : state;
}

static void add_row(struct term_table *table, const cJSON *process)
{
    const cJSON *element = cJSON_GetObjectItem(process, "element");
    char rank[32] = "-", pc[32], iteration[32], here[32], call[32], pid[32];
    if (json_number(process, "rank", -1) >= 0)
        number(process, "rank", rank);
    number(element, "pc", pc);
    number(element, "iteration", iteration);
    seconds(process, "seconds", here);
    seconds(process, "mpi_seconds", call);
    number(process, "pid", pid);
    term_table_add(table,
                   (const char *[]){rank, activity(process), term_text(element, "name", "-"), pc, iteration, here,
                                    term_text(process, "mpi", "-"), call, term_text(process, "host", "?"), pid});
}

static void print_where(const cJSON *where)
{
    static const char *const titles[] = {"RANK", "STATE", "PHASE", "PC",   "ITERATION",
                                         "FOR",  "MPI",   "FOR",   "HOST", "PID"};
    struct term_table *table = term_table_new(10, titles);
    const cJSON *process;
    cJSON_ArrayForEach(process, cJSON_GetObjectItem(where, "processes")) add_row(table, process);
    term_table_print(table);
}

int ctl_where(const struct ctl_arguments *arguments)
{
    static const struct ctl_view view = {
        .op = REQUEST(where), .member = "where", .none = "the job gave no answer", .print = print_where};
    return ctl_show(arguments, &view);
}
