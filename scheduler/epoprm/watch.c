/* epoprm watch: a line for each event, until the daemon ends. That of titles says that from here on all is heard. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "runtime/base/json.h"
#include "scheduler/epoprm/client.h"
#include "scheduler/epoprm/command.h"
#include "scheduler/epoprm/say.h"
#include "terminal/output.h"

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
static void print(const cJSON *event)
{
    char when[32], job[32] = "-", text[2048];
    clock_text(json_number(event, "time", 0), when);
    if (cJSON_HasObjectItem(event, "job"))
        snprintf(job, sizeof job, "%.0f", json_number(event, "job", 0));
    rm_event_text(event, text, sizeof text);
    print_row(when, job, term_text(event, "event", ""), term_text(event, "state", ""), text);
}

static void print_line(const cJSON *event)
{
    char *text = cJSON_PrintUnformatted(event);
    puts(text ? text : "");
    free(text);
}

int rm_watch(const struct rm_arguments *arguments)
{
    int code;
    struct client *daemon = client_connect(0, false, &code);
    cJSON *request = json_message("watch"), *answer = daemon ? client_ask(daemon, request, &code) : NULL;
    if (answer && !arguments->json)
        print_row("TIME", "JOB", "EVENT", "STATE", "WHAT");
    fflush(stdout);
    for (cJSON *event; answer && !ferror(stdout) && (event = client_next(daemon, NULL)); cJSON_Delete(event)) {
        if (arguments->json)
            print_line(event);
        else
            print(event);
        fflush(stdout);
    }
    cJSON_Delete(answer);
    cJSON_Delete(request);
    client_close(daemon);
    return code;
}
