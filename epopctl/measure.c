/* epopctl measure: what the phases of a job spend in MPI. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "epopctl/command.h"
#include "epopctl/output.h"
#include "epopctl/show.h"
#include "runtime/base/duration.h"
#include "runtime/base/json.h"
#include "runtime/wire/messages.h"

/* Those who ask from one terminal, or one session without any, are one asker. */
static int complete(cJSON *request, const struct ctl_arguments *arguments)
{
    char session[32], *end;
    snprintf(session, sizeof session, "epopctl-%ld", (long)getsid(0));
    cJSON_AddStringToObject(request, "asker", arguments->asker ? arguments->asker : session);
    if (!arguments->keep)
        return CTL_DONE;
    double keep = decimal_read(arguments->keep, &end);
    if (end == arguments->keep || *end || !(keep >= 0 && keep <= 3600)) {
        ctl_complain("--keep: \"%s\" is no number of seconds from 0 to 3600", arguments->keep);
        return CTL_USAGE;
    }
    cJSON_AddNumberToObject(request, "keep", keep);
    return CTL_DONE;
}

static const char *figure(const cJSON *object, const char *name, const char *format, char text[32])
{
    strcpy(text, "-");
    if (cJSON_HasObjectItem(object, name))
        snprintf(text, 32, format, json_number(object, name, 0));
    return text;
}

static void add_element(struct term_table *table, const cJSON *element)
{
    const cJSON *mtct = cJSON_GetObjectItem(element, "mtct");
    char pc[32], size[32], ranks[32], iterations[32], rate[32], loop[32], mpi[32], mean[32], variance[32], least[32],
        most[32], trend[32];
    term_table_add(
        table, (const char *[]){term_text(element, "name", "?"), figure(element, "pc", "%.0f", pc),
                                figure(element, "size", "%.0f", size), figure(element, "ranks", "%.0f", ranks),
                                figure(element, "iterations", "%.0f", iterations),
                                figure(element, "rate", "%.4g", rate), figure(element, "loop_seconds", "%.3f", loop),
                                figure(element, "mpi_seconds", "%.3f", mpi), figure(mtct, "mean", "%.4g", mean),
                                figure(mtct, "variance", "%.3g", variance), figure(mtct, "min", "%.4g", least),
                                figure(mtct, "max", "%.4g", most), figure(mtct, "trend", "%.4g", trend)});
}

static void print_elements(const cJSON *elements)
{
    static const char *const titles[] = {"PHASE", "PC",   "SIZE",     "RANKS", "ITERATIONS", "RATE", "LOOP",
                                         "MPI",   "MTCT", "VARIANCE", "MIN",   "MAX",        "TREND"};
    struct term_table *table = term_table_new(13, titles);
    const cJSON *element;
    cJSON_ArrayForEach(element, elements) add_element(table, element);
    term_table_print(table);
}

/* Ranks that did not answer have no figure. */
static void print_ranks(const cJSON *measure)
{
    static const char *const titles[] = {"RANK", "PROCESS", "MEMORY"};
    struct term_table *table = term_table_new(3, titles);
    const cJSON *each;
    char rank[32], process[32], bytes[48];
    cJSON_ArrayForEach(each, cJSON_GetObjectItem(measure, "memory"))
    {
        snprintf(bytes, sizeof bytes, "%.1f MiB", json_number(each, "bytes", 0) / 1048576);
        term_table_add(table, (const char *[]){figure(each, "rank", "%.0f", rank),
                                               figure(each, "process", "%.0f", process), bytes});
    }
    cJSON_ArrayForEach(each, cJSON_GetObjectItem(measure, "missing"))
    {
        snprintf(rank, sizeof rank, "%.0f", cJSON_GetNumberValue(each));
        term_table_add(table, (const char *[]){rank, "-", "no answer"});
    }
    term_table_print(table);
}

static void print_measure(const cJSON *measure)
{
    double time = json_number(measure, "time", 0);
    printf("since\t%.3f s ago\n", time - json_number(measure, "since", time));
    printf("measuring\tfor %.3f s\n\n", time - json_number(measure, "began", time));
    print_elements(cJSON_GetObjectItem(measure, "elements"));
    putchar('\n');
    print_ranks(measure);
}

int ctl_measure(const struct ctl_arguments *arguments)
{
    static const struct ctl_view view = {.op = REQUEST(measure),
                                         .complete = complete,
                                         .member = "measure",
                                         .none = "the job gave no answer",
                                         .print = print_measure};
    return ctl_show(arguments, &view);
}
