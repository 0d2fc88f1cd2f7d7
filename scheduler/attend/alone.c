/* A job of Slurm whose adviser is gone: does somebody wait, which nodes were given, and giving them back. */
#include "scheduler/attend/alone.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/host.h"
#include "runtime/base/json.h"
#include "runtime/wire/loop.h"
#include "runtime/wire/messages.h"

enum { ASK_STATUS = SERVICE_OWN, ASK_RELEASE = SERVICE_OWN - 1 };

static double seconds_alone(void)
{
    const char *named = getenv("EPOP_ADVISER_SECONDS");
    double seconds = named ? atof(named) : 0;
    return seconds > 0 ? seconds : 60;
}

/* ---- What Slurm says ---------------------------------------------------------------------------- */

/* Each line that the command prints, without its end. A Slurm that does not answer says nothing. */
static void each_line(const char *command, void (*each)(void *context, char *line), void *context)
{
    char line[512];
    FILE *said = popen(command, "re");
    while (said && fgets(line, sizeof line, said)) {
        line[strcspn(line, "\n")] = '\0';
        each(context, line);
    }
    if (said)
        pclose(said);
}

/* "Resources|name": what nodes would help, but for companions. */
static void count_waiting(void *context, char *line)
{
    static const char *const reasons[] = {"Resources|", "Priority|", "None|"};
    bool helps = false;
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        helps |= !strncmp(line, reasons[i], strlen(reasons[i]));
    *(int *)context += helps && !strstr(line, "|epop-");
}

static const char *own_partition(void)
{
    const char *partition = getenv("SLURM_JOB_PARTITION");
    return partition &&
                   partition[strspn(partition, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")] ==
                       '\0'
               ? partition
               : "";
}

static bool somebody_waits(void)
{
    char command[200];
    int waiting = 0;
    if (!*own_partition())
        return false;
    snprintf(command, sizeof command, "timeout 10 squeue -h -t PENDING -p %.64s -o '%%r|%%j' 2>/dev/null",
             own_partition());
    each_line(command, count_waiting, &waiting);
    return waiting > 0;
}

static void take_job(void *context, char *line)
{
    cJSON_AddItemToArray(context, cJSON_CreateNumber(atof(line)));
}

/* Numbers of all jobs that run in the own partition. */
static cJSON *jobs_there(void)
{
    char command[200];
    cJSON *jobs = cJSON_CreateArray();
    snprintf(command, sizeof command, "timeout 10 squeue -h -t RUNNING -p %.64s -o %%A 2>/dev/null", own_partition());
    each_line(command, take_job, jobs);
    return jobs;
}

static bool has_job(const cJSON *jobs, long job)
{
    const cJSON *one;
    cJSON_ArrayForEach(one, jobs)
    {
        if ((long)one->valuedouble == job)
            return true;
    }
    return false;
}

/* ---- Giving back -------------------------------------------------------------------------------- */

static void ask(struct alone *alone, int64_t number, cJSON *request)
{
    plane_ask(&alone->service->plane, number, request); /* one that is not there is asked at the next look */
    cJSON_Delete(request);
}

/* What has no room is given back at a later look. */
static void add_host(char *hosts, size_t size, const char *host)
{
    size_t used = strlen(hosts);
    if (!hostlist_has(hosts, host) && used + strlen(host) + 2 < size)
        snprintf(hosts + used, size - used, "%s%s", used ? "," : "", host);
}

/* Of ranks that run in other Slurm jobs: those that Slurm itself takes back stay. */
static void find_given(const struct alone *alone, const cJSON *status, char *hosts, size_t size)
{
    const cJSON *process;
    cJSON *jobs = jobs_there();
    cJSON_ArrayForEach(process, cJSON_GetObjectItemCaseSensitive(status, "processes"))
    {
        long job = json_int(process, "slurm_job", 0);
        const char *host = json_text(process, "host");
        if (job > 0 && job != alone->job && host && json_int(process, "rank", -1) >= 0 && has_job(jobs, job))
            add_host(hosts, size, host);
    }
    cJSON_Delete(jobs);
}

static void on_answer(void *context, int64_t number, const cJSON *answer)
{
    struct alone *alone = context;
    char hosts[4096] = "";
    if (number != ASK_STATUS || alone->service->peers)
        return;
    find_given(alone, cJSON_GetObjectItemCaseSensitive(answer, "job"), hosts, sizeof hosts);
    if (!*hosts)
        return;
    fprintf(stderr, "attend: there is no adviser any more, and a job waits: %s is given back\n", hosts);
    cJSON *request = json_message(REQUEST(resize));
    cJSON_AddStringToObject(request, "release_hosts", hosts);
    ask(alone, ASK_RELEASE, request);
}

static void on_look(evutil_socket_t fd, short what, void *context)
{
    struct alone *alone = context;
    (void)fd, (void)what;
    wire_timer_set(alone->look, seconds_alone());
    if (somebody_waits())
        ask(alone, ASK_STATUS, json_message(REQUEST(status)));
}

int alone_open(struct alone *alone, struct service *service, long job, struct error *error)
{
    *alone = (struct alone){.service = service, .job = job, .look = evtimer_new(service->base, on_look, alone)};
    service->answered = on_answer;
    service->answered_context = alone;
    return alone->look ? 0 : error_memory(error);
}

void alone_begin(struct alone *alone)
{
    wire_timer_set(alone->look, seconds_alone());
}

void alone_end(struct alone *alone)
{
    evtimer_del(alone->look);
}
