/* epoprm queue: jobs that wait and run, from the daemon; those that have ended, from its journal. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "scheduler/epoprm/client.h"
#include "scheduler/epoprm/command.h"
#include "scheduler/epoprm/past.h"
#include "scheduler/epoprm/say.h"
#include "terminal/output.h"

static void range_text(char text[32], int least, int most)
{
    snprintf(text, 32, least == most ? "%d" : "%d-%d", least, most);
}

/* RUNNING; ADAPTING 2->4 (asked) */
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
}

/* Where it computes, or may; how long it waits, or has run. */
static void add(struct term_table *table, const cJSON *job)
{
    char number[32], state[64], nodes[32], ranks[32], took[32], left[32] = "", when[32] = "";
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
    term_table_add(table,
                   (const char *[]){number, term_text(job, "name", ""), state, nodes, ranks, started >= 0 ? "" : took,
                                    started >= 0 ? took : "", left, when, term_text(job, "hosts", "")});
}

static void print(const cJSON *jobs)
{
    static const char *const titles[] = {"JOB",   "NAME", "STATE", "NODES",  "RANKS",
                                         "WAITS", "RUNS", "LEFT",  "STARTS", "ON"};
    static const int drop[] = {9, 7, 4, 8};
    struct term_table *table = term_table_new(10, titles);
    term_table_drop(table, drop, 4);
    for (const cJSON *job = jobs->child; job; job = job->next)
        add(table, job);
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

static int show(cJSON **jobs, const struct rm_arguments *arguments, bool daemon)
{
    struct journal *journal;
    struct error error;
    int failed = past_open(&journal, &error);
    if (!failed)
        add_steps(*jobs, journal);
    if (!failed && arguments->all)
        failed = put_before(jobs, journal, !daemon, &error);
    journal_close(journal);
    if (failed && arguments->all) {
        rm_complain("%s", error.text);
        return RM_NO_JOB;
    }
    if (arguments->json)
        term_print_json(*jobs);
    else
        print(*jobs);
    return RM_DONE;
}

int rm_queue(const struct rm_arguments *arguments)
{
    int code;
    struct client *daemon = client_connect(30, arguments->all, &code);
    cJSON *request = json_message("queue"), *answer = daemon ? client_ask(daemon, request, &code) : NULL;
    cJSON *jobs = answer ? cJSON_DetachItemFromObject(answer, "jobs") : NULL;
    if (!daemon && arguments->all)
        jobs = cJSON_CreateArray();
    if (jobs)
        code = show(&jobs, arguments, daemon);
    cJSON_Delete(jobs);
    cJSON_Delete(answer);
    cJSON_Delete(request);
    client_close(daemon);
    return code;
}
