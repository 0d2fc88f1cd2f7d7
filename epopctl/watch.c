/* epopctl top and watch: how far all jobs are, and what happens in one job as it happens. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "epopctl/client.h"
#include "epopctl/command.h"
#include "epopctl/jobs.h"
#include "runtime/base/json.h"
#include "runtime/wire/messages.h"
#include "terminal/output.h"
#include "terminal/places.h"

/* ---- What a job has measured, in short ---------------------------------------------------------- */

struct measured {
    char rate[32], mtct[32], trend[32], memory[32]; /* "-" where there is none */
};

static bool is_present_phase(const cJSON *status, const cJSON *element)
{
    int pc = json_int(cJSON_GetObjectItem(status, "element"), "pc", -1);
    return json_int(element, "pc", -2) == pc && json_int(element, "size", 0) == json_int(status, "size", -1);
}

/* Of an executable: the loop that counts, at the present size. */
static const cJSON *loop_to_show(const cJSON *status, const cJSON *measure)
{
    const cJSON *loop;
    cJSON_ArrayForEach(loop, cJSON_GetObjectItem(measure, "loops"))
    {
        if (json_int(loop, "number", 0) == json_int(measure, "loop", -1) &&
            json_int(loop, "size", 0) == json_int(status, "size", -1))
            return loop;
    }
    return NULL;
}

static const cJSON *element_to_show(const cJSON *status, const cJSON *measure)
{
    const cJSON *element, *found = loop_to_show(status, measure);
    if (found)
        return found;
    cJSON_ArrayForEach(element, cJSON_GetObjectItem(measure, "elements"))
    {
        double iterations = json_number(element, "iterations", 0);
        if (is_present_phase(status, element) && iterations > 0)
            return element;
        if (iterations > json_number(found, "iterations", 0))
            found = element;
    }
    return found;
}

/* "1.2 GiB" of all ranks together, "-" */
static void memory_text(const cJSON *measure, char text[32])
{
    const cJSON *rank;
    double bytes = 0;
    strcpy(text, "-");
    cJSON_ArrayForEach(rank, cJSON_GetObjectItem(measure, "memory")) bytes += json_number(rank, "bytes", 0);
    if (bytes > 0)
        term_bytes(bytes, text);
}

/* Of the element, or loop, that the job is in; where nothing was measured in that, of the one with most iterations. The
 * status has the answer under "measure", or has none. */
static void read_measured(const cJSON *status, struct measured *measured)
{
    const cJSON *measure = cJSON_GetObjectItem(status, "measure"), *element = element_to_show(status, measure);
    const cJSON *mtct = cJSON_GetObjectItem(element, "mtct");
    term_figure(element, "rate", "%.3g", measured->rate);
    term_figure(mtct, "mean", "%.3g", measured->mtct);
    term_figure(mtct, "trend", "%.3g", measured->trend);
    memory_text(measure, measured->memory);
}

/* Has measuring begun less than so many seconds before the answer? */
static bool measured_too_short(const cJSON *status, double seconds)
{
    const cJSON *measure = cJSON_GetObjectItem(status, "measure");
    double began = json_number(measure, "began", 0);
    return measure && json_number(measure, "time", began) - began < seconds;
}

/* ---- How far a job is, in short ----------------------------------------------------------------- */

struct live {
    char progress[32], left[32], mtct[32], resize[64]; /* "-" where there is none */
};

/* "45 %", "450", "-" */
static void progress_text(const cJSON *progress, char text[32])
{
    double done = json_number(progress, "iteration", 0), bound = json_number(progress, "bound", 0);
    strcpy(text, "-");
    if (bound > 0)
        snprintf(text, 32, "%.0f %%", floor(100 * fmin(done / bound, 1)));
    else if (cJSON_IsObject(progress))
        snprintf(text, 32, "%.0f", done);
}

/* "2 -> 4" of the last one that happened, "-" */
static void resize_text(const cJSON *status, char text[64])
{
    const cJSON *adaptation;
    strcpy(text, "-");
    cJSON_ArrayForEach(adaptation, cJSON_GetObjectItem(status, "adaptations"))
    {
        if (!strcmp(term_text(adaptation, "state", ""), "committed"))
            snprintf(text, 64, "%.0f -> %.0f", json_number(adaptation, "from", 0), json_number(adaptation, "to", 0));
    }
}

/* Of rank 0, out of the MPI share that a driver has measured. */
static void mtct_text(const cJSON *status, char text[32])
{
    double share = json_number(status, "mpi_share", -1);
    strcpy(text, share < 1 ? "-" : "inf");
    if (share >= 0 && share < 1)
        snprintf(text, 32, "%.3g", share / (1 - share));
}

static void read_live(const cJSON *status, struct live *live)
{
    const cJSON *progress = cJSON_GetObjectItem(status, "progress");
    progress_text(progress, live->progress);
    strcpy(live->left, "-");
    if (cJSON_HasObjectItem(progress, "left"))
        term_duration(json_number(progress, "left", 0), live->left);
    mtct_text(status, live->mtct);
    resize_text(status, live->resize);
}

/* "[=====>    ]" */
static void progress_bar(const cJSON *progress, char text[32])
{
    double done = json_number(progress, "iteration", 0), bound = json_number(progress, "bound", 0);
    int full = bound > 0 ? (int)(20 * fmin(done / bound, 1)) : 0;
    text[0] = '\0';
    if (bound > 0)
        snprintf(text, 32, "[%.*s%s%*s] ", full, "====================", full < 20 ? ">" : "",
                 full < 20 ? 19 - full : 0, "");
}

/* One line, no longer than the terminal is wide. */
static void live_line(const cJSON *status, char *text, size_t size)
{
    struct live live;
    char picture[32];
    int columns = term_columns() - 1;
    double size_of_world = json_number(status, "size", 0);
    read_live(status, &live);
    progress_bar(cJSON_GetObjectItem(status, "progress"), picture);
    snprintf(text, size, "%.60s  %.12s  %.0f %s  %s%s  left %s  MTCT %s  last resize %s", term_text(status, "job", "?"),
             term_text(status, "state", "?"), size_of_world, size_of_world == 1 ? "rank" : "ranks", picture,
             live.progress, live.left, live.mtct, live.resize);
    if (columns >= 0 && strlen(text) > (size_t)columns)
        text[columns] = '\0';
}

/* ---- epopctl top: all jobs and how far they are, again and again on a terminal ------------------ */

#define PERIOD_S     1
#define KEEP_AGAIN_S 5  /* measuring goes on behind the last look */
#define KEEP_ONCE_S  30 /* so that another look soon has its figures at once */

enum column { JOB, STATE, SIZE, DONE, LEFT, RATE, MTCT, TREND, MEMORY, RESIZE, ELEMENT, HOST, UPTIME, COLUMNS };

static void add_top_row(struct term_table *table, const cJSON *status, const struct control_job *job)
{
    const cJSON *element = cJSON_GetObjectItem(status, "element"), *loop = cJSON_GetObjectItem(status, "loop");
    char size[32] = "-", uptime[32] = "-", name[PLACES_NAME];
    struct live live;
    struct measured measured;
    read_live(status, &live);
    read_measured(status, &measured);
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
                                                  [ELEMENT] = loop ? places_loop_name(loop, name)
                                                                   : term_text(element, "name", "-"),
                                                  [HOST] = job->host,
                                                  [UPTIME] = uptime});
}

static void print_top_table(const struct control_job *jobs, cJSON **statuses, int count)
{
    static const char *const titles[COLUMNS] = {"JOB",   "STATE",  "SIZE",   "DONE",    "LEFT", "RATE",  "MTCT",
                                                "TREND", "MEMORY", "RESIZE", "ELEMENT", "HOST", "UPTIME"};
    static const int drop[] = {UPTIME, HOST, RESIZE, TREND, ELEMENT, MEMORY, RATE, LEFT, DONE, MTCT, SIZE};
    struct term_table *table = term_table_new(COLUMNS, titles);
    term_table_drop(table, drop, sizeof drop / sizeof *drop);
    for (int i = 0; i < count; i++)
        add_top_row(table, statuses[i], &jobs[i]);
    term_table_print(table);
}

static void print_top_array(const struct control_job *jobs, cJSON **statuses, int count)
{
    cJSON *array = cJSON_CreateArray();
    for (int i = 0; i < count; i++) {
        cJSON_AddStringToObject(statuses[i], "host", jobs[i].host);
        cJSON_AddNumberToObject(statuses[i], "pid", jobs[i].process.number);
        cJSON_AddItemReferenceToArray(array, statuses[i]);
    }
    term_print_json(array);
    cJSON_Delete(array);
}

static void pause_for_a_period(void)
{
    nanosleep(&(struct timespec){.tv_sec = PERIOD_S}, NULL);
}

static void free_statuses(struct control_job *jobs, cJSON **statuses, int count)
{
    for (int i = 0; i < count; i++)
        cJSON_Delete(statuses[i]);
    free(statuses);
    free(jobs);
}

/* Jobs that begin to measure only now have something to show a little later. Who looks again sees it then. */
static int ask_for_top(struct control_job **jobs, cJSON ***statuses, bool again)
{
    int count = ctl_ask_all(jobs, statuses, again ? KEEP_AGAIN_S : KEEP_ONCE_S);
    bool too_short = false;
    for (int i = 0; i < count; i++)
        too_short |= measured_too_short((*statuses)[i], PERIOD_S / 2.0);
    if (again || !too_short)
        return count;
    free_statuses(*jobs, *statuses, count);
    pause_for_a_period();
    return ctl_ask_all(jobs, statuses, KEEP_ONCE_S);
}

static int show_top(bool json, bool again)
{
    struct control_job *jobs;
    cJSON **statuses;
    int count = ask_for_top(&jobs, &statuses, again);
    places_name_present(statuses, count);
    if (again)
        fputs("\033[H\033[J", stdout); /* from the top of an empty screen */
    if (count >= 0 && json)
        print_top_array(jobs, statuses, count);
    else if (count >= 0)
        print_top_table(jobs, statuses, count);
    free_statuses(jobs, statuses, count);
    return count < 0 ? COMMAND_REFUSED : COMMAND_DONE;
}

/* Until Ctrl-C. */
int ctl_top(const struct options *arguments)
{
    bool again = term_for_people() && !arguments->once && !arguments->json;
    int code;
    do {
        code = show_top(arguments->json, again);
        fflush(stdout);
        if (again)
            pause_for_a_period();
    } while (again && code == COMMAND_DONE);
    return code;
}

/* ---- epopctl watch: what happens in one job ----------------------------------------------------- */

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
static void print_made_checkpoint(const cJSON *made)
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

static void print_event_for_people(const cJSON *event, const char *when, const char *since)
{
    printf("%s  %-10s", when, term_text(event, "event", "?"));
    if (cJSON_HasObjectItem(event, "adaptation"))
        printf("  adaptation %.0f", json_number(event, "adaptation", 0));
    if (cJSON_HasObjectItem(event, "from") && cJSON_HasObjectItem(event, "to"))
        printf("  %.0f -> %.0f", json_number(event, "from", 0), json_number(event, "to", 0));
    if (cJSON_HasObjectItem(event, "balance"))
        printf("  balance");
    if (cJSON_HasObjectItem(event, "imbalance"))
        printf(" of %.3f", json_number(event, "imbalance", 0));
    if (cJSON_HasObjectItem(event, "element"))
        printf("  at %s, iteration %.0f", term_text(event, "element", "?"), json_number(event, "iteration", 0));
    if (cJSON_HasObjectItem(event, "change"))
        printf("  %s %s", term_text(event, "change", "?"), term_text(event, "state", "?"));
    if (cJSON_HasObjectItem(event, "host"))
        printf("  %s", term_text(event, "host", "?"));
    if (cJSON_HasObjectItem(event, "checkpoint"))
        print_made_checkpoint(cJSON_GetObjectItem(event, "checkpoint"));
    if (since[0])
        printf("  %s", since);
    if (cJSON_HasObjectItem(event, "reason"))
        printf("  (%s)", term_text(event, "reason", ""));
    putchar('\n');
}

/* time, event, adaptation, from, to, element, iteration, ms since the request, reason or file */
static void print_event_for_programs(const cJSON *event, const char *since)
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
    live_line(status, text, sizeof text);
    printf("\r\033[K%s", text);
    fflush(stdout);
}

static void clear_live(const struct watch *watch)
{
    if (watch->people)
        fputs("\r\033[K", stdout);
}

/* Asks again and again until the job has ended. */
static void follow_job(int timeout_ms)
{
    int code = COMMAND_DONE;
    do {
        cJSON *request = json_message(REQUEST(status));
        cJSON *answer = ctl_ask_quietly(request, timeout_ms, &code);
        if (cJSON_HasObjectItem(answer, "job"))
            draw_live(cJSON_GetObjectItem(answer, "job"));
        cJSON_Delete(request);
        cJSON_Delete(answer);
    } while (ctl_wait_end(PERIOD_MS));
}

static void on_watched_event(void *context, const cJSON *event)
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
        print_event_for_people(event, when, since);
    } else {
        print_event_for_programs(event, since);
    }
    if (fflush(stdout)) /* a reader at the other end of a pipe watches too, until it has seen enough */
        ctl_end();
}

int ctl_watch(const struct options *arguments)
{
    struct watch watch = {.json = arguments->json, .people = term_for_people() && !arguments->json, .adaptation = -1};
    struct control_job job;
    int code = ctl_job_select(arguments->job, &job);
    if (code == COMMAND_DONE)
        code = ctl_connect(&job, on_watched_event, &watch, arguments->timeout_ms);
    if (code != COMMAND_DONE)
        return code;
    cJSON *request = json_message(REQUEST(watch));
    cJSON *answer = ctl_ask(request, arguments->timeout_ms, &code);
    cJSON_Delete(request);
    bool watching = answer && json_true(answer, "ok");
    if (watching && watch.people)
        follow_job(arguments->timeout_ms);
    if (watching)
        ctl_wait_end(-1);
    else if (answer)
        code = COMMAND_REFUSED;
    cJSON_Delete(answer);
    ctl_disconnect();
    clear_live(&watch);
    if (code == COMMAND_DONE && watch.people && !ferror(stdout))
        puts("the job has ended");
    return code;
}
