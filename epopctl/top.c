/* epopctl top: all jobs of the user and how far they are, again and again on a terminal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "epopctl/command.h"
#include "epopctl/jobs.h"
#include "epopctl/list.h"
#include "epopctl/live.h"
#include "epopctl/measured.h"
#include "epopctl/output.h"
#include "runtime/base/json.h"

#define PERIOD_S     1
#define KEEP_AGAIN_S 5  /* measuring goes on behind the last look */
#define KEEP_ONCE_S  30 /* so that another look soon has its figures at once */

enum column { JOB, STATE, SIZE, DONE, LEFT, RATE, MTCT, TREND, MEMORY, RESIZE, ELEMENT, HOST, UPTIME, COLUMNS };

static void add_row(struct term_table *table, const cJSON *status, const struct control_job *job)
{
    const cJSON *element = cJSON_GetObjectItem(status, "element");
    char size[32] = "-", uptime[32] = "-";
    struct ctl_live live;
    struct ctl_measured measured;
    ctl_live(status, &live);
    ctl_measured(status, &measured);
    if (cJSON_HasObjectItem(status, "size")) {
        snprintf(size, sizeof size, "%.0f", json_number(status, "size", 0));
        term_duration(json_number(status, "uptime", 0), uptime);
    }
    term_table_add(table, (const char *[COLUMNS]){[JOB] = job->id,
                                                  [STATE] = term_text(status, "state", "?"),
                                                  [SIZE] = size,
                                                  [DONE] = live.progress,
                                                  [LEFT] = live.left,
                                                  [RATE] = measured.rate,
                                                  [MTCT] = strcmp(measured.mtct, "-") ? measured.mtct : live.mtct,
                                                  [TREND] = measured.trend,
                                                  [MEMORY] = measured.memory,
                                                  [RESIZE] = live.resize,
                                                  [ELEMENT] = term_text(element, "name", "-"),
                                                  [HOST] = job->host,
                                                  [UPTIME] = uptime});
}

static void print_table(const struct control_job *jobs, cJSON **statuses, int count)
{
    static const char *const titles[COLUMNS] = {"JOB",   "STATE",  "SIZE",   "DONE",    "LEFT", "RATE",  "MTCT",
                                                "TREND", "MEMORY", "RESIZE", "ELEMENT", "HOST", "UPTIME"};
    static const int drop[] = {UPTIME, HOST, RESIZE, TREND, ELEMENT, MEMORY, RATE, LEFT, DONE, MTCT, SIZE};
    struct term_table *table = term_table_new(COLUMNS, titles);
    term_table_drop(table, drop, sizeof drop / sizeof *drop);
    for (int i = 0; i < count; i++)
        add_row(table, statuses[i], &jobs[i]);
    term_table_print(table);
}

static void print_array(const struct control_job *jobs, cJSON **statuses, int count)
{
    cJSON *array = cJSON_CreateArray();
    for (int i = 0; i < count; i++) {
        cJSON_AddStringToObject(statuses[i], "host", jobs[i].host);
        cJSON_AddNumberToObject(statuses[i], "pid", (double)jobs[i].pid);
        cJSON_AddItemReferenceToArray(array, statuses[i]);
    }
    term_print_json(array);
    cJSON_Delete(array);
}

static void pause_for_a_period(void)
{
    nanosleep(&(struct timespec){.tv_sec = PERIOD_S}, NULL);
}

static void free_answers(struct control_job *jobs, cJSON **statuses, int count)
{
    for (int i = 0; i < count; i++)
        cJSON_Delete(statuses[i]);
    free(statuses);
    free(jobs);
}

/* Jobs that begin to measure only now have something to show a little later. Who looks again sees it then. */
static int ask(struct control_job **jobs, cJSON ***statuses, bool again)
{
    int count = ctl_ask_all(jobs, statuses, again ? KEEP_AGAIN_S : KEEP_ONCE_S);
    bool too_short = false;
    for (int i = 0; i < count; i++)
        too_short |= ctl_measured_too_short((*statuses)[i], PERIOD_S / 2.0);
    if (again || !too_short)
        return count;
    free_answers(*jobs, *statuses, count);
    pause_for_a_period();
    return ctl_ask_all(jobs, statuses, KEEP_ONCE_S);
}

static int show(bool json, bool again)
{
    struct control_job *jobs;
    cJSON **statuses;
    int count = ask(&jobs, &statuses, again);
    if (again)
        fputs("\033[H\033[J", stdout); /* from the top of an empty screen */
    if (count >= 0 && json)
        print_array(jobs, statuses, count);
    else if (count >= 0)
        print_table(jobs, statuses, count);
    free_answers(jobs, statuses, count);
    return count < 0 ? CTL_REFUSED : CTL_DONE;
}

/* Until Ctrl-C. */
int ctl_top(const struct ctl_arguments *arguments)
{
    bool again = term_for_people() && !arguments->once && !arguments->json;
    int code;
    do {
        code = show(arguments->json, again);
        fflush(stdout);
        if (again)
            pause_for_a_period();
    } while (again && code == CTL_DONE);
    return code;
}
