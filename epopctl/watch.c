/* epopctl watch: a line for everything that happens in a job, as it happens. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "epopctl/client.h"
#include "epopctl/command.h"
#include "epopctl/jobs.h"
#include "epopctl/live.h"
#include "epopctl/output.h"
#include "runtime/base/json.h"
#include "runtime/wire/messages.h"

#define PERIOD_MS 500

/* When the adaptation that is going on was requested, to show the others relative to it. */
struct watch {
    bool json, people;
    double adaptation, requested;
};

static void clock_text(double seconds, char text[32])
{
    time_t whole = (time_t)seconds;
    struct tm local;
    localtime_r(&whole, &local);
    size_t used = strftime(text, 32, "%H:%M:%S", &local);
    snprintf(text + used, 32 - used, ".%03d", (int)(1000 * (seconds - (double)whole)));
}

/* "+12.3 ms" since the request of the same adaptation, or nothing. */
static void since_request(struct watch *watch, const cJSON *event, char text[32])
{
    double adaptation = json_number(event, "adaptation", -1), time = json_number(event, "time", 0);
    text[0] = '\0';
    if (adaptation < 0)
        return;
    if (!strcmp(term_text(event, "event", ""), "requested")) {
        watch->adaptation = adaptation;
        watch->requested = time;
    } else if (adaptation == watch->adaptation) {
        snprintf(text, 32, "+%.1f ms", 1e3 * (time - watch->requested));
    }
}

static void number_text(const cJSON *event, const char *name, char text[32])
{
    text[0] = '\0';
    if (cJSON_HasObjectItem(event, name))
        snprintf(text, 32, "%.0f", json_number(event, name, 0));
}

/* "3 at iterate, iteration 120  /scratch/heat-17-0003.h5, in 1.251 s, stall 0.253 s" */
static void print_checkpoint(const cJSON *made)
{
    printf("  %.0f at %s, iteration %.0f  %s, in %.3f s, stall %.3f s", json_number(made, "number", 0),
           term_text(made, "element", "?"), json_number(made, "iteration", 0), term_text(made, "path", "in memory"),
           json_number(made, "seconds", 0), json_number(made, "stall", 0));
}

/* "ADD ANNOUNCED", and the reason if there is one: of a resource change. */
static const char *change_text(const cJSON *event, char text[400])
{
    const char *reason = term_text(event, "reason", NULL);
    if (!cJSON_HasObjectItem(event, "change"))
        return reason ? reason : "";
    snprintf(text, 400, "%s %s%s%.300s", term_text(event, "change", "?"), term_text(event, "state", "?"),
             reason ? ": " : "", reason ? reason : "");
    return text;
}

static void print_for_people(const cJSON *event, const char *when, const char *since)
{
    printf("%s  %-10s", when, term_text(event, "event", "?"));
    if (cJSON_HasObjectItem(event, "adaptation"))
        printf("  adaptation %.0f", json_number(event, "adaptation", 0));
    if (cJSON_HasObjectItem(event, "from") && cJSON_HasObjectItem(event, "to"))
        printf("  %.0f -> %.0f", json_number(event, "from", 0), json_number(event, "to", 0));
    if (cJSON_HasObjectItem(event, "element"))
        printf("  at %s, iteration %.0f", term_text(event, "element", "?"), json_number(event, "iteration", 0));
    if (cJSON_HasObjectItem(event, "change"))
        printf("  %s %s", term_text(event, "change", "?"), term_text(event, "state", "?"));
    if (cJSON_HasObjectItem(event, "host"))
        printf("  %s", term_text(event, "host", "?"));
    if (cJSON_HasObjectItem(event, "checkpoint"))
        print_checkpoint(cJSON_GetObjectItem(event, "checkpoint"));
    if (since[0])
        printf("  %s", since);
    if (cJSON_HasObjectItem(event, "reason"))
        printf("  (%s)", term_text(event, "reason", ""));
    putchar('\n');
}

/* time, event, adaptation, from, to, element, iteration, ms since the request, reason or file */
static void print_for_programs(const cJSON *event, const char *since)
{
    char adaptation[32], from[32], to[32], iteration[32], change[400];
    const cJSON *made = cJSON_GetObjectItem(event, "checkpoint"), *place = made ? made : event;
    number_text(event, "adaptation", adaptation);
    number_text(event, "from", from);
    number_text(event, "to", to);
    number_text(place, "iteration", iteration);
    printf("%.6f\t%s\t%s\t%s\t%s\t%s\t%s\t%.*s\t%s\n", json_number(event, "time", 0), term_text(event, "event", "?"),
           adaptation, from, to, term_text(place, "element", ""), iteration,
           !since[0] ? 0 : (int)strcspn(since + 1, " "), !since[0] ? "" : since + 1,
           made ? term_text(made, "path", "") : change_text(event, change));
}

/* On a terminal: what happens, and below it how far the job is. */
static void draw_live(const cJSON *status)
{
    char text[400];
    ctl_live_line(status, text, sizeof text);
    printf("\r\033[K%s", text);
    fflush(stdout);
}

static void clear_live(const struct watch *watch)
{
    if (watch->people)
        fputs("\r\033[K", stdout);
}

/* Asks again and again until the job has ended. */
static void follow(int timeout_ms)
{
    int code = CTL_DONE;
    do {
        cJSON *request = json_message(REQUEST(status));
        cJSON *answer = ctl_ask_quietly(request, timeout_ms, &code);
        if (cJSON_HasObjectItem(answer, "job"))
            draw_live(cJSON_GetObjectItem(answer, "job"));
        cJSON_Delete(request);
        cJSON_Delete(answer);
    } while (ctl_wait_end(PERIOD_MS));
}

static void on_event(void *context, const cJSON *event)
{
    struct watch *watch = context;
    char when[32], since[32];
    clear_live(watch);
    since_request(watch, event, since);
    if (watch->json) {
        char *text = cJSON_PrintUnformatted(event);
        if (text)
            puts(text);
        free(text);
    } else if (watch->people) {
        clock_text(json_number(event, "time", 0), when);
        print_for_people(event, when, since);
    } else {
        print_for_programs(event, since);
    }
    if (fflush(stdout)) /* a reader at the other end of a pipe watches too, until it has seen enough */
        ctl_end();
}

int ctl_watch(const struct ctl_arguments *arguments)
{
    struct watch watch = {.json = arguments->json, .people = term_for_people() && !arguments->json, .adaptation = -1};
    struct control_job job;
    int code = ctl_job_select(arguments->job, &job);
    if (code == CTL_DONE)
        code = ctl_connect(&job, on_event, &watch, arguments->timeout_ms);
    if (code != CTL_DONE)
        return code;
    cJSON *request = json_message(REQUEST(watch));
    cJSON *answer = ctl_ask(request, arguments->timeout_ms, &code);
    cJSON_Delete(request);
    bool watching = answer && json_true(answer, "ok");
    if (watching && watch.people)
        follow(arguments->timeout_ms);
    if (watching)
        ctl_wait_end(-1);
    else if (answer)
        code = CTL_REFUSED;
    cJSON_Delete(answer);
    ctl_disconnect();
    clear_live(&watch);
    if (code == CTL_DONE && watch.people && !ferror(stdout))
        puts("the job has ended");
    return code;
}
