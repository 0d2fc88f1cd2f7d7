/*
 * epoprm queue, nodes, why and watch. Jobs that wait and run, and nodes, are the daemon's to tell; what is past is
 * read from its journal, also where no daemon runs.
 */
#include "scheduler/epoprm/command.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "scheduler/daemon/answers.h"
#include "scheduler/epoprm/client.h"
#include "scheduler/journal/journal.h"
#include "terminal/output.h"

/* ---- What the journal says, as JSON of schema/epoprm.schema.json -------------------------------- */

/* The array, or nothing of it. */
static cJSON *read_or_none(cJSON *array, int failed)
{
    if (!failed)
        return array;
    cJSON_Delete(array);
    return NULL;
}

struct jobs {
    cJSON *array;
    bool all;
};

static void add_end(cJSON *row, const struct journal_job *job)
{
    cJSON_AddNumberToObject(row, "ended", job->ended);
    cJSON_AddNumberToObject(row, "status", job->status);
}

static void take_job(void *to, const struct journal_job *job)
{
    const struct jobs *jobs = to;
    const struct daemon_job as_told = {.number = job->number,
                                       .name = job->name,
                                       .kind = job->kind,
                                       .state = job->state,
                                       .reason = job->reason,
                                       .ranks_min = job->ranks_min,
                                       .ranks_max = job->ranks_max,
                                       .nodes_min = job->nodes_min,
                                       .nodes_max = job->nodes_max,
                                       .hosts = "",
                                       .submitted = job->submitted,
                                       .started = job->started,
                                       .limit = job->limit,
                                       .left = -1,
                                       .account = job->account,
                                       .deadline = job->deadline,
                                       .drop_late = job->drop_late,
                                       .usage = -1,
                                       .reserved = -1};
    if (!jobs->all && job->ended < 0)
        return;
    cJSON *row = answers_job(&as_told);
    if (job->ended >= 0)
        add_end(row, job);
    cJSON_AddItemToArray(jobs->array, row);
}

static cJSON *find_job(const cJSON *jobs, double number)
{
    cJSON *job = jobs ? jobs->child : NULL;
    while (job && json_number(job, "job", 0) != number)
        job = job->next;
    return job;
}

static void take_energy(void *to, const struct journal_energy *energy)
{
    cJSON *job = energy->joules > 0 ? find_job(to, (double)energy->job) : NULL;
    if (job)
        cJSON_AddNumberToObject(job, "joules", energy->joules);
}

/* An array of the jobs that have ended, or of all. NULL: the line says why. */
static cJSON *past_jobs(struct journal *journal, bool all, struct error *error)
{
    struct jobs jobs = {cJSON_CreateArray(), all};
    return read_or_none(jobs.array, journal_jobs(journal, true, take_job, &jobs, error) ||
                                        journal_energies(journal, take_energy, jobs.array, error));
}

static void take_event(void *to, const struct journal_event *event)
{
    cJSON_AddItemToArray(to, answers_event(event));
}

/* An array of a job's last events, oldest first. */
static cJSON *past_events(struct journal *journal, int64_t job, int most, struct error *error)
{
    cJSON *array = cJSON_CreateArray();
    return read_or_none(array, journal_events(journal, job, most, take_event, array, error));
}

static void take_step(void *to, const struct journal_resize *resize)
{
    char job[32];
    snprintf(job, sizeof job, "%lld", (long long)resize->job);
    cJSON_AddStringToObject(to, job, journal_step_names[resize->step]);
}

/* The step of the resize that goes on in each job: an object, by number. */
static cJSON *past_steps(struct journal *journal, struct error *error)
{
    cJSON *object = cJSON_CreateObject();
    return read_or_none(object, journal_resizes(journal, false, take_step, object, error));
}

/* ---- queue -------------------------------------------------------------------------------------- */

static void range_text(char text[32], int least, int most)
{
    snprintf(text, 32, least == most ? "%d" : "%d-%d", least, most);
}

/* RUNNING; ADAPTING 2->4 (asked); HELD */
static void state_text(const cJSON *job, char text[64])
{
    int nodes = json_int(job, "nodes", 0), target = json_int(job, "target", 0);
    const char *step = json_text(job, "step");
    size_t used = 0;
    for (const char *letter = term_text(job, "state", ""); *letter && used < 20; letter++)
        text[used++] = (char)toupper((unsigned char)*letter);
    text[used] = '\0';
    if (nodes && target && nodes != target)
        used += (size_t)snprintf(text + used, 64 - used, " %d->%d", nodes, target);
    if (step && used < 60)
        snprintf(text + used, 64 - used, " (%.20s)", step);
    if (json_true(job, "held"))
        snprintf(text, 64, "HELD");
}

/* Where it computes, or may; how long it waits, or has run. */
static void add_job(struct term_table *table, const cJSON *job)
{
    char number[32], state[64], nodes[32], ranks[32], took[32], left[32] = "", when[32] = "", account[128] = "";
    double now = wall_seconds(), submitted = json_number(job, "submitted", now);
    double started = json_number(job, "started", -1), ended = json_number(job, "ended", now);
    int computes = json_int(job, "nodes", 0), on = json_int(job, "ranks", 0);
    snprintf(number, sizeof number, "%.0f", json_number(job, "job", 0));
    state_text(job, state);
    range_text(nodes, computes ? computes : json_int(job, "nodes_min", 0),
               computes ? computes : json_int(job, "nodes_max", 0));
    range_text(ranks, on ? on : json_int(job, "ranks_min", 0), on ? on : json_int(job, "ranks_max", 0));
    term_duration(started >= 0 ? ended - started : ended - submitted, took);
    if (cJSON_HasObjectItem(job, "left"))
        term_duration(json_number(job, "left", 0), left);
    if (cJSON_HasObjectItem(job, "reserved"))
        rm_clock(json_number(job, "reserved", 0), when);
    if (cJSON_HasObjectItem(job, "usage"))
        snprintf(account, sizeof account, "%.100s %.2f", term_text(job, "account", ""), json_number(job, "usage", 0));
    term_table_add(table,
                   (const char *[]){number, term_text(job, "name", ""), state, nodes, ranks, started >= 0 ? "" : took,
                                    started >= 0 ? took : "", left, when, term_text(job, "hosts", ""), account});
}

static bool any_usage(const cJSON *jobs)
{
    const cJSON *job = jobs->child;
    while (job && !cJSON_HasObjectItem(job, "usage"))
        job = job->next;
    return job;
}

/* Accounts stand last, where there are shares. */
static void print_jobs(const cJSON *jobs)
{
    static const char *const titles[] = {"JOB",  "NAME", "STATE",  "NODES", "RANKS",  "WAITS",
                                         "RUNS", "LEFT", "STARTS", "ON",    "ACCOUNT"};
    static const int drop[] = {9, 7, 4, 8};
    struct term_table *table = term_table_new(any_usage(jobs) ? 11 : 10, titles);
    term_table_drop(table, drop, 4);
    for (const cJSON *job = jobs->child; job; job = job->next)
        add_job(table, job);
    term_table_print(table);
}

/* How far those are that adapt; without it where the journal cannot be read. */
static void add_steps(cJSON *jobs, struct journal *journal)
{
    struct error error;
    cJSON *steps = past_steps(journal, &error);
    for (cJSON *job = jobs->child; steps && job; job = job->next) {
        char number[32];
        snprintf(number, sizeof number, "%.0f", json_number(job, "job", 0));
        const char *step = json_text(steps, number);
        if (step && strcmp(term_text(job, "state", ""), "waiting"))
            cJSON_AddStringToObject(job, "step", step);
    }
    cJSON_Delete(steps);
}

/* Ended ones first, as they have the lower numbers, more or less. */
static int put_before(cJSON **jobs, struct journal *journal, bool all, struct error *error)
{
    cJSON *both = past_jobs(journal, all, error);
    if (!both)
        return -1;
    while ((*jobs)->child) /* cJSON_InsertItemInArray of 1.7.15 loses items */
        cJSON_AddItemToArray(both, cJSON_DetachItemFromArray(*jobs, 0));
    cJSON_Delete(*jobs);
    *jobs = both;
    return 0;
}

static int show_queue(cJSON **jobs, const struct options *arguments, bool daemon)
{
    struct journal *journal;
    struct error error;
    int failed = rm_journal(&journal, &error);
    if (!failed)
        add_steps(*jobs, journal);
    if (!failed && arguments->all)
        failed = put_before(jobs, journal, !daemon, &error);
    journal_close(journal);
    if (failed && arguments->all) {
        term_complain("%s", error.text);
        return COMMAND_NO_JOB;
    }
    if (arguments->json)
        term_print_json(*jobs);
    else
        print_jobs(*jobs);
    return COMMAND_DONE;
}

int rm_queue(const struct options *arguments)
{
    int code;
    struct client *daemon = client_connect(30, arguments->all, &code);
    cJSON *request = json_message("queue"), *answer = daemon ? client_ask(daemon, request, &code) : NULL;
    cJSON *jobs = answer ? cJSON_DetachItemFromObject(answer, "jobs") : NULL;
    if (!daemon && arguments->all)
        jobs = cJSON_CreateArray();
    if (jobs)
        code = show_queue(&jobs, arguments, daemon);
    cJSON_Delete(jobs);
    cJSON_Delete(answer);
    cJSON_Delete(request);
    client_close(daemon);
    return code;
}

/* ---- nodes -------------------------------------------------------------------------------------- */

static void add_node(struct term_table *table, const cJSON *node)
{
    char slots[16], job[32] = "", since[32];
    snprintf(slots, sizeof slots, "%d", json_int(node, "slots", 0));
    if (cJSON_HasObjectItem(node, "job"))
        snprintf(job, sizeof job, "%.0f", json_number(node, "job", 0));
    term_duration(wall_seconds() - json_number(node, "since", wall_seconds()), since);
    term_table_add(table, (const char *[]){term_text(node, "node", ""), term_text(node, "host", ""), slots,
                                           term_text(node, "state", ""), job, since, term_text(node, "reason", "")});
}

int rm_nodes(const struct options *arguments)
{
    int code;
    cJSON *answer = client_request(json_message("nodes"), &code);
    const cJSON *nodes = cJSON_GetObjectItem(answer, "nodes");
    if (nodes && arguments->json) {
        term_print_json(nodes);
    } else if (nodes) {
        static const char *const titles[] = {"NODE", "HOST", "SLOTS", "STATE", "JOB", "SINCE", "REASON"};
        struct term_table *table = term_table_new(7, titles);
        for (const cJSON *node = nodes->child; node; node = node->next)
            add_node(table, node);
        term_table_print(table);
    }
    cJSON_Delete(answer);
    return code;
}

/* ---- why: what was decided on a job, and what came of it ---------------------------------------- */

enum { LAST = 20 };

static void print_event(const cJSON *event)
{
    char when[32], text[2048];
    rm_clock(json_number(event, "time", 0), when);
    rm_event_text(event, text, sizeof text);
    printf(term_for_people() ? "  %s  %-9s  %s\n" : "%s\t%s\t%s\n", when, term_text(event, "event", ""), text);
}

/* Whatever is between a second on a core and a day on a cluster. */
static void print_energy(double joules)
{
    static const char *const units[] = {"J", "kJ", "MJ", "GJ"};
    int unit = 0;
    for (; joules >= 1000 && unit < 3; unit++)
        joules /= 1000;
    printf("its nodes have used %.4g %s\n", joules, units[unit]);
}

/* What became of it, or is to. */
static void print_deadline(const cJSON *job)
{
    double deadline = json_number(job, "deadline", 0), ended = json_number(job, "ended", -1);
    double ahead = deadline - (ended >= 0 ? ended : wall_seconds());
    char when[32], seconds[32];
    rm_clock(deadline, when);
    term_duration(fabs(ahead), seconds);
    if (ended >= 0)
        printf("its deadline was %s: it ended %s %s\n", when, seconds, ahead >= 0 ? "before" : "after");
    else
        printf("its deadline is %s, %s %s%s\n", when, ahead >= 0 ? "in" : "over since", seconds,
               json_true(job, "drop_late") ? "; when it cannot end before, it is given up" : "");
}

/* How far its account is over its share the daemon knows. */
static void print_account(const cJSON *job)
{
    const char *account = term_text(job, "account", "");
    if (cJSON_HasObjectItem(job, "usage"))
        printf("it is counted for %s, which has used %.2f times its share\n", account, json_number(job, "usage", 0));
    else if (*account)
        printf("it is counted for %s\n", account);
}

/* It has a promise only from the daemon. */
static void print_job(const cJSON *job)
{
    char when[32];
    const char *reason = term_text(job, "reason", "");
    printf("job %.0f (%s, %s) is %s%s%s\n", json_number(job, "job", 0), term_text(job, "name", ""),
           term_text(job, "kind", ""), term_text(job, "state", ""), *reason ? ": " : "", reason);
    if (cJSON_HasObjectItem(job, "reserved")) {
        rm_clock(json_number(job, "reserved", 0), when);
        printf("it is to start at %s\n", when);
    }
    if (cJSON_HasObjectItem(job, "priority"))
        printf("its priority is %d\n", json_int(job, "priority", 0));
    print_account(job);
    if (cJSON_HasObjectItem(job, "deadline"))
        print_deadline(job);
    if (cJSON_HasObjectItem(job, "leaves"))
        printf("it is below %d leaf switch%s\n", json_int(job, "leaves", 0),
               json_int(job, "leaves", 0) == 1 ? "" : "es");
    if (cJSON_HasObjectItem(job, "joules"))
        print_energy(json_number(job, "joules", 0));
}

/* As the daemon has it now, if there is one that does. */
static cJSON *present_job(double number)
{
    int code;
    struct client *daemon = client_connect(30, true, &code);
    cJSON *request = json_message("queue"), *answer = daemon ? client_ask(daemon, request, &code) : NULL;
    cJSON *job = cJSON_Duplicate(find_job(cJSON_GetObjectItem(answer, "jobs"), number), true);
    cJSON_Delete(answer);
    cJSON_Delete(request);
    client_close(daemon);
    return job;
}

static void show_job(cJSON *job, cJSON *events, bool json)
{
    if (json) {
        cJSON *both = cJSON_CreateObject();
        cJSON_AddItemToObject(both, "job", cJSON_Duplicate(job, true));
        cJSON_AddItemToObject(both, "events", cJSON_Duplicate(events, true));
        term_print_json(both);
        cJSON_Delete(both);
        return;
    }
    print_job(job);
    for (const cJSON *event = events->child; event; event = event->next)
        print_event(event);
}

static int explain(struct journal *journal, int64_t number, bool json, struct error *error)
{
    cJSON *jobs = past_jobs(journal, true, error);
    const cJSON *known = find_job(jobs, (double)number);
    cJSON *now = jobs && !(known && cJSON_HasObjectItem(known, "ended")) ? present_job((double)number) : NULL;
    cJSON *events = known || now ? past_events(journal, number, LAST, error) : NULL;
    cJSON *job = now ? now : cJSON_Duplicate(known, true);
    int code = COMMAND_DONE;
    if (jobs && !known && !now) {
        term_complain("why: there is no job %lld", (long long)number);
        code = COMMAND_NO_JOB;
    } else if (!events) {
        term_complain("why: %s", error->text);
        code = COMMAND_REFUSED;
    } else {
        show_job(job, events, json);
    }
    cJSON_Delete(job);
    cJSON_Delete(events);
    cJSON_Delete(jobs);
    return code;
}

int rm_why(const struct options *arguments)
{
    struct journal *journal;
    struct error error;
    int64_t number;
    if (rm_job_number(arguments->words[0], &number))
        return COMMAND_USAGE;
    if (rm_journal(&journal, &error)) {
        term_complain("why: %s", error.text);
        return COMMAND_NO_JOB;
    }
    int code = explain(journal, number, arguments->json, &error);
    journal_close(journal);
    return code;
}

/* ---- watch: a line for each event, until the daemon ends ---------------------------------------- */

/* Of an event, to the millisecond. */
static void clock_text(double seconds, char text[32])
{
    time_t whole = (time_t)seconds;
    struct tm local;
    localtime_r(&whole, &local);
    size_t used = strftime(text, 32, "%H:%M:%S", &local);
    snprintf(text + used, 32 - used, ".%03d", (int)(1000 * (seconds - floor(seconds))));
}

static void print_row(const char *when, const char *job, const char *event, const char *state, const char *text)
{
    printf(term_for_people() ? "%-12s  %4s  %-9s  %-9s  %s\n" : "%s\t%s\t%s\t%s\t%s\n", when, job, event, state, text);
}

/* Of which job, what, its state from then on, and more in words. */
static void print_watched(const cJSON *event)
{
    char when[32], job[32] = "-", text[2048];
    clock_text(json_number(event, "time", 0), when);
    if (cJSON_HasObjectItem(event, "job"))
        snprintf(job, sizeof job, "%.0f", json_number(event, "job", 0));
    rm_event_text(event, text, sizeof text);
    print_row(when, job, term_text(event, "event", ""), term_text(event, "state", ""), text);
}

static void print_json_line(const cJSON *event)
{
    char *text = cJSON_PrintUnformatted(event);
    puts(text ? text : "");
    free(text);
}

int rm_watch(const struct options *arguments)
{
    int code;
    struct client *daemon = client_connect(0, false, &code);
    cJSON *request = json_message("watch"), *answer = daemon ? client_ask(daemon, request, &code) : NULL;
    if (answer && !arguments->json) /* the line of titles says that from here on all is heard */
        print_row("TIME", "JOB", "EVENT", "STATE", "WHAT");
    fflush(stdout);
    for (cJSON *event; answer && !ferror(stdout) && (event = client_next(daemon, NULL)); cJSON_Delete(event)) {
        if (arguments->json)
            print_json_line(event);
        else
            print_watched(event);
        fflush(stdout);
    }
    cJSON_Delete(answer);
    cJSON_Delete(request);
    client_close(daemon);
    return code;
}
