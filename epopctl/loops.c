/* epopctl loops: how one rank of an executable calls MPI, as a table or as a graph. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "epopctl/client.h"
#include "epopctl/command.h"
#include "epopctl/jobs.h"
#include "runtime/base/json.h"
#include "runtime/wire/messages.h"
#include "terminal/output.h"
#include "terminal/places.h"

#define TRIES   5
#define BETWEEN 600000000 /* ns, in which a process that measures draws its graph */

/* ---- Asking ---- */

static cJSON *ask_once(const struct control_job *job, const struct options *arguments, int *code)
{
    cJSON *request = json_message(REQUEST(measure));
    cJSON_AddStringToObject(request, "asker", "epopctl loops");
    cJSON_AddNumberToObject(request, "graph", arguments->rank);
    cJSON *answer = ctl_ask_job(job, request, arguments->timeout_ms, code);
    cJSON_Delete(request);
    return answer;
}

/* With the graph, or with what is wrong; NULL, with a line on stderr. */
static cJSON *ask(const struct options *arguments, int *code)
{
    struct control_job job;
    *code = ctl_job_select(arguments->job, &job);
    cJSON *answer = NULL;
    for (int i = 0; i < TRIES && *code == COMMAND_DONE; i++) {
        cJSON_Delete(answer);
        answer = ask_once(&job, arguments, code);
        const cJSON *measure = cJSON_GetObjectItem(answer, "measure");
        if (!measure || cJSON_HasObjectItem(measure, "graph") || arguments->rank >= json_int(measure, "size", 0))
            break;
        nanosleep(&(struct timespec){.tv_nsec = BETWEEN}, NULL);
    }
    return answer;
}

static const char *why_none(const cJSON *answer, const struct options *arguments, char text[160])
{
    const cJSON *measure = cJSON_GetObjectItem(answer, "measure");
    int size = json_int(measure, "size", 0);
    if (measure && arguments->rank >= size)
        snprintf(text, 160, "there is no rank %d: the job has %d", arguments->rank, size);
    else
        snprintf(text, 160,
                 "no calls of MPI are known: a program of phases is not followed, nor one that only computes");
    return measure ? text : term_text(answer, "reason", "the job gave no answer");
}

/* ---- The table, as listing 10.2 of the dissertation ---- */

static void add_call(struct term_table *table, const cJSON *call, int index)
{
    const cJSON *site = cJSON_GetObjectItem(call, "site");
    char number[32], name[PLACES_NAME], again[32], visits[32], tail[32], of[32], mpi[32];
    snprintf(number, sizeof number, "%d", index);
    snprintf(mpi, sizeof mpi, "%.6f", json_number(call, "mpi", 0));
    snprintf(visits, sizeof visits, "%.0f", json_number(call, "visits", 1) - 1);
    snprintf(again, sizeof again, "%.0f", json_number(call, "reentries", 0));
    term_table_add(table,
                   (const char *[]){number, term_text(site, "mpi", "?"), places_site_name(site, name),
                                    term_text(site, "function", "-"), term_text(site, "from_line", "-"),
                                    json_true(call, "begins") ? "1" : "0", cJSON_HasObjectItem(call, "of") ? "1" : "0",
                                    again, visits, term_figure(call, "tail", "%.0f", tail),
                                    term_figure(call, "of", "%.0f", of), mpi});
}

static void print_table(const cJSON *graph)
{
    static const char *const titles[] = {"CALL", "MPI", "LINE", "FUNCTION", "FROM", "H",
                                         "B",    "RE",  "RV",   "TAIL",     "HEAD", "SECONDS"};
    struct term_table *table = term_table_new(sizeof titles / sizeof *titles, titles);
    const cJSON *call;
    int index = 0;
    cJSON_ArrayForEach(call, cJSON_GetObjectItem(graph, "calls")) add_call(table, call, index++);
    term_table_print(table);
    double lost = json_number(graph, "lost", 0), unmeasured = json_number(graph, "unmeasured", 0);
    if (lost > 0)
        printf("\n%.0f calls were not followed: there are more places than there is room for\n", lost);
    if (unmeasured > 0)
        printf("\n%.0f more loops were not measured\n", unmeasured);
}

/* ---- The graph, as figure 10.2 ---- */

/* Quotes and backslashes would end a label. */
static void print_label(const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        putchar(*text);
    }
}

static void print_node(const cJSON *call, int index)
{
    const cJSON *site = cJSON_GetObjectItem(call, "site");
    char name[PLACES_NAME];
    printf("  n%d [label=\"", index);
    print_label(term_text(site, "mpi", "?"));
    printf("\\n");
    print_label(places_site_name(site, name));
    printf("\\n%.0f x, %.3g s\"%s];\n", json_number(call, "visits", 0), json_number(call, "mpi", 0),
           json_true(call, "begins") ? ", style=bold" : "");
}

/* What comes back does not decide which node is above the other; what re-enters a loop past its head is dashed. */
static void print_step(const cJSON *calls, const cJSON *step)
{
    int from = json_int(step, "from", 0), to = json_int(step, "to", 0);
    const cJSON *end = cJSON_GetArrayItem(calls, to);
    bool back = to <= from, re_enters = back && !json_true(end, "begins");
    printf("  n%d -> n%d [label=\"%.0f\"%s%s];\n", from, to, json_number(step, "count", 0),
           back ? ", constraint=false, style=" : "", back ? (re_enters ? "dashed" : "bold") : "");
}

static void print_dot(const cJSON *graph)
{
    const cJSON *calls = cJSON_GetObjectItem(graph, "calls"), *each;
    int index = 0;
    printf("digraph \"rank %d\" {\n  node [shape=box];\n", json_int(graph, "rank", 0));
    cJSON_ArrayForEach(each, calls) print_node(each, index++);
    cJSON_ArrayForEach(each, cJSON_GetObjectItem(graph, "steps")) print_step(calls, each);
    printf("}\n");
}

int ctl_loops(const struct options *arguments)
{
    int code;
    char why[160];
    cJSON *answer = ask(arguments, &code),
          *graph = cJSON_GetObjectItem(cJSON_GetObjectItem(answer, "measure"), "graph");
    if (graph)
        places_name_calls(cJSON_GetObjectItem(graph, "calls"));
    if (graph && arguments->json) {
        term_print_json(graph);
    } else if (graph && arguments->dot) {
        print_dot(graph);
    } else if (graph) {
        print_table(graph);
    } else if (answer) {
        term_complain("%s", why_none(answer, arguments, why));
        code = COMMAND_REFUSED;
    }
    cJSON_Delete(answer);
    return code;
}
