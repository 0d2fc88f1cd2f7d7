/* epopctl top: all jobs of the user and how far they are, again and again on a terminal. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "epopctl/command.h"
#include "epopctl/jobs.h"
#include "epopctl/list.h"
#include "epopctl/live.h"
#include "epopctl/output.h"
#include "runtime/base/json.h"

#define PERIOD_S 1

static void add_row(struct ctl_table *table, const cJSON *status, const struct ctl_job *job)
{
    const cJSON *element = cJSON_GetObjectItem(status, "element");
    char size[32] = "-", uptime[32] = "-";
    struct ctl_live live;
    ctl_live(status, &live);
    if (cJSON_HasObjectItem(status, "size")) {
        snprintf(size, sizeof size, "%.0f", json_number(status, "size", 0));
        ctl_duration(json_number(status, "uptime", 0), uptime);
    }
    ctl_table_add(table, (const char *[]){job->id, ctl_text(status, "state", "?"), size, live.progress, live.left,
                                          live.mtct, live.resize, ctl_text(element, "name", "-"), job->host, uptime});
}

static void print_table(const struct ctl_job *jobs, cJSON **statuses, int count)
{
    static const char *const titles[] = {"JOB",  "STATE",  "SIZE",    "DONE", "LEFT",
                                         "MTCT", "RESIZE", "ELEMENT", "HOST", "UPTIME"};
    static const int drop[] = {9, 8, 6, 7, 4, 3, 5, 2}; /* the least important first */
    struct ctl_table *table = ctl_table_new(10, titles);
    ctl_table_drop(table, drop, sizeof drop / sizeof *drop);
    for (int i = 0; i < count; i++)
        add_row(table, statuses[i], &jobs[i]);
    ctl_table_print(table);
}

static void print_array(const struct ctl_job *jobs, cJSON **statuses, int count)
{
    cJSON *array = cJSON_CreateArray();
    for (int i = 0; i < count; i++) {
        cJSON_AddStringToObject(statuses[i], "host", jobs[i].host);
        cJSON_AddNumberToObject(statuses[i], "pid", (double)jobs[i].pid);
        cJSON_AddItemReferenceToArray(array, statuses[i]);
    }
    ctl_print_json(array);
    cJSON_Delete(array);
}

static int show(bool json, bool again)
{
    struct ctl_job *jobs;
    cJSON **statuses;
    int count = ctl_ask_all(&jobs, &statuses);
    if (again)
        fputs("\033[H\033[J", stdout); /* from the top of an empty screen */
    if (count >= 0 && json)
        print_array(jobs, statuses, count);
    else if (count >= 0)
        print_table(jobs, statuses, count);
    for (int i = 0; i < count; i++)
        cJSON_Delete(statuses[i]);
    free(statuses);
    free(jobs);
    return count < 0 ? CTL_REFUSED : CTL_DONE;
}

/* Until Ctrl-C. */
int ctl_top(const struct ctl_arguments *arguments)
{
    bool again = ctl_for_people() && !arguments->once && !arguments->json;
    struct timespec period = {.tv_sec = PERIOD_S};
    int code;
    do {
        code = show(arguments->json, again);
        fflush(stdout);
        if (again)
            nanosleep(&period, NULL);
    } while (again && code == CTL_DONE);
    return code;
}
