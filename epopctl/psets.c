/* epopctl psets: the process sets of a job. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "epopctl/command.h"
#include "epopctl/output.h"
#include "epopctl/show.h"
#include "runtime/base/json.h"
#include "runtime/wire/messages.h"

/* "0,1,4": the caller frees it; NULL: out of memory. */
static char *list(const cJSON *processes)
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

static void number(const cJSON *set, const char *name, char text[32])
{
    snprintf(text, 32, "%.0f", json_number(set, name, 0));
}

static void add_row(struct term_table *table, const cJSON *set)
{
    char size[32], version[32], epoch[32], *processes = list(cJSON_GetObjectItem(set, "processes"));
    number(set, "size", size);
    number(set, "version", version);
    number(set, "epoch", epoch);
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
    cJSON_ArrayForEach(set, sets) add_row(table, set);
    term_table_print(table);
}

static int complete(cJSON *request, const struct ctl_arguments *arguments)
{
    (void)arguments;
    cJSON_AddStringToObject(request, "about", "all");
    return CTL_DONE;
}

int ctl_psets(const struct ctl_arguments *arguments)
{
    static const struct ctl_view view = {.op = REQUEST(psets),
                                         .complete = complete,
                                         .member = "psets",
                                         .none = "the job gave no answer",
                                         .print = print_sets};
    return ctl_show(arguments, &view);
}
