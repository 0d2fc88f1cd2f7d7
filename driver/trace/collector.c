/*
 * The process that writes the trace file: how process 0 starts it and waits for it, and how it merges all buffers into
 * the file.
 */
#include "driver/trace/collector.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver/epop/launch.h"
#include "driver/trace/buffer.h"
#include "driver/trace/events.h"
#include "driver/trace/out.h"
#include "runtime/base/array.h"
#include "runtime/base/child.h"
#include "runtime/base/error.h"
#include "runtime/base/json.h"
#include "runtime/base/say.h"
#include "runtime/job/job.h"

#define WRITTEN     'w'
#define NOT_WRITTEN 'n' /* the reason has been told */
#define PATIENCE    60  /* seconds */

#define TRACE_SUMMARY_MAX 4800 /* a path, and what is said of the trace */

/* What is left of the buffers, and of a trace that was not finished. */
static void remove_files(const char *directory, const char *output)
{
    struct dirent *entry;
    DIR *entries = opendir(directory);
    while (entries && (entry = readdir(entries)))
        unlinkat(dirfd(entries), entry->d_name, 0);
    if (entries)
        closedir(entries);
    rmdir(directory);
    out_discard(output);
}

/* ---- In process 0 ------------------------------------------------------------------------------- */

int collector_start(struct collector *collector, const char *directory, int in_use, const char *output, int64_t limit,
                    struct error *error)
{
    char self[PATH_MAX], bytes[32];
    int ends[2], result = -1;
    *collector = (struct collector){.lifeline = -1, .directory = directory, .output = output};
    snprintf(bytes, sizeof bytes, "%lld", (long long)limit);
    char *argv[] = {
        (char *)launch_self(self, sizeof self, "epop"), TRACE_ARGUMENT, (char *)directory, (char *)output, bytes, NULL};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) {
        const struct spawn what = {.argv = argv,
                                   .in = ends[0],
                                   .out = SPAWN_NOTHING,
                                   .err = STDERR_FILENO,
                                   .mark = in_use, /* that the directory is */
                                   .session = true};
        result = spawn_program(&what, &collector->pid);
        close(ends[0]);
        collector->lifeline = ends[1];
    }
    epop__job_child_without(&collector->lifeline);
    if (result == 0) {
        epop__job_spare(collector->pid); /* it is busy when this process is gone */
        return 0;
    }
    error_set(error, ERROR_FAILED, "cannot start the process that writes the trace: %s",
              strerror(result > 0 ? result : errno));
    if (collector->lifeline >= 0)
        close(collector->lifeline);
    collector->lifeline = -1;
    return -1;
}

/* The byte that it answers with, 0: it is gone without an answer, -1: it takes too long. Its exit status may be lost:
 * the program may ignore SIGCHLD, or wait for all children. */
static int await_answer(int lifeline)
{
    struct pollfd poll_answer = {.fd = lifeline, .events = POLLIN};
    char answer = 0;
    int ready;
    while ((ready = poll(&poll_answer, 1, PATIENCE * 1000)) < 0 && errno == EINTR)
        ;
    if (ready == 0)
        return -1;
    return recv(lifeline, &answer, 1, 0) == 1 ? answer : 0;
}

int collector_finish(struct collector *collector)
{
    if (collector->lifeline < 0)
        return collector->failed ? -1 : 0;
    shutdown(collector->lifeline, SHUT_WR);
    int answer = await_answer(collector->lifeline);
    close(collector->lifeline);
    collector->lifeline = -1;
    collector->failed = answer != WRITTEN;
    if (answer < 0) {
        say_line("trace: it takes more than %d s to write; process %ld goes on with it", PATIENCE,
                 (long)collector->pid);
        return -1;
    }
    waitpid(collector->pid, NULL, 0);
    epop__job_spare(0);
    if (answer == 0) {
        say_line("trace: the process that writes it was killed: there is no trace");
        remove_files(collector->directory, collector->output);
    }
    return collector->failed ? -1 : 0;
}

/* ---- In the collector: the buffers -------------------------------------------------------------- */

/* The process may still run. From a first write on the pages of the header are ours: what was there by then counts. */
static void freeze_header(struct trace_header *buffer)
{
    volatile char *header = (volatile char *)buffer;
    for (size_t at = 0; at < sizeof *buffer; at += 512)
        header[at] = header[at];
}

static struct trace_header *map_buffer(const char *directory, const char *name)
{
    char path[4400];
    struct stat status;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return NULL;
    size_t size = fstat(file, &status) == 0 ? (size_t)status.st_size : 0;
    struct trace_header *buffer = MAP_FAILED;
    if (size >= sizeof *buffer)
        buffer = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    close(file);
    if (buffer == MAP_FAILED)
        return NULL;
    freeze_header(buffer);
    if (buffer_is_valid(buffer, size))
        return buffer;
    munmap(buffer, size);
    return NULL;
}

static int buffer_by_process(const void *left, const void *right)
{
    const struct trace_header *const *a = left, *const *b = right;
    return ((*a)->process > (*b)->process) - ((*a)->process < (*b)->process);
}

static void add_buffer(struct trace_buffers *all, struct trace_header *buffer)
{
    if (array_reserve(&all->buffers, &all->room, (size_t)all->count + 1, sizeof *all->buffers))
        munmap(buffer, buffer->size);
    else
        all->buffers[all->count++] = buffer;
}

static void open_buffers(struct trace_buffers *all, const char *directory)
{
    struct dirent *entry;
    *all = (struct trace_buffers){.count = 0};
    DIR *entries = opendir(directory);
    while (entries && (entry = readdir(entries))) {
        if (strncmp(entry->d_name, TRACE_BUFFER_NAME, strlen(TRACE_BUFFER_NAME)))
            continue;
        struct trace_header *buffer = map_buffer(directory, entry->d_name);
        if (buffer)
            add_buffer(all, buffer);
    }
    if (entries)
        closedir(entries);
    if (all->count)
        qsort(all->buffers, (size_t)all->count, sizeof *all->buffers, buffer_by_process);
}

static void close_buffers(struct trace_buffers *all)
{
    for (int i = 0; i < all->count; i++)
        munmap(all->buffers[i], all->buffers[i]->size);
    free(all->buffers);
    *all = (struct trace_buffers){.count = 0};
}

/* ---- Fitting into the limit --------------------------------------------------------------------- */

/* Bytes that a record takes in the file, rather more than less. */
static const int64_t event_bytes[TRACE_LANES] = {
    [TRACE_STRUCTURE] = 180, [TRACE_ELEMENTS] = 180, [TRACE_ITERATIONS] = 190,
    [TRACE_CALLS] = 130,     [TRACE_SAMPLES] = 100,  [TRACE_STAYS] = 190};
#define TRACK_BYTES 1200 /* a process's metadata */

static int64_t bytes_of_lane(const struct trace_buffers *all, int lane)
{
    int64_t records = 0;
    for (int i = 0; i < all->count; i++)
        records += all->buffers[i]->lanes[lane].used;
    return records * event_bytes[lane];
}

/* Thins what takes most, in all processes alike, until it fits. The structure goes last. */
static void thin_to_limit(const struct trace_buffers *all, int64_t limit)
{
    for (int round = 0; round < 32 * TRACE_LANES; round++) {
        int64_t bytes[TRACE_LANES], total = (int64_t)all->count * TRACK_BYTES;
        int most = TRACE_ELEMENTS;
        for (int lane = 0; lane < TRACE_LANES; lane++) {
            total += bytes[lane] = bytes_of_lane(all, lane);
            if (lane != TRACE_STRUCTURE && bytes[lane] > bytes[most])
                most = lane;
        }
        if (total <= limit)
            return;
        if (bytes[TRACE_STRUCTURE] > bytes[most])
            most = TRACE_STRUCTURE;
        for (int i = 0; i < all->count; i++)
            buffer_thin(all->buffers[i], (enum trace_lane_name)most);
    }
}

/* Arrows need both ends: what one process kept of an adaptation the others keep too, or none does. */
static void level_structure(const struct trace_buffers *all)
{
    uint32_t coarsest = 1;
    for (int i = 0; i < all->count; i++)
        if (all->buffers[i]->lanes[TRACE_STRUCTURE].stride > coarsest)
            coarsest = all->buffers[i]->lanes[TRACE_STRUCTURE].stride;
    for (int i = 0; i < all->count; i++)
        while (all->buffers[i]->lanes[TRACE_STRUCTURE].stride < coarsest)
            buffer_thin(all->buffers[i], TRACE_STRUCTURE);
}

/* ---- About the trace ---------------------------------------------------------------------------- */

static void add_readings(cJSON *json, const struct trace_header *p)
{
    cJSON *list = cJSON_AddArrayToObject(json, "clock");
    for (int i = 0; i < p->clocks; i++) {
        cJSON *reading = cJSON_CreateObject();
        cJSON_AddNumberToObject(reading, "offset_us", (double)p->clock[i].offset / 1e3);
        cJSON_AddNumberToObject(reading, "uncertainty_us", (double)p->clock[i].uncertainty / 1e3);
        cJSON_AddItemToArray(list, reading);
    }
}

static cJSON *about_lane(const struct trace_lane *lane)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "seen", (double)lane->seen);
    cJSON_AddNumberToObject(json, "kept", lane->used);
    cJSON_AddNumberToObject(json, "one_in", lane->stride);
    return json;
}

static cJSON *about_process(const struct trace_header *p)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "process", p->process);
    cJSON_AddStringToObject(json, "host", p->host);
    cJSON_AddNumberToObject(json, "pid", p->pid);
    cJSON_AddBoolToObject(json, "finished", p->finished);
    if (p->failure)
        cJSON_AddNumberToObject(json, "failure", p->failure);
    cJSON_AddBoolToObject(json, "same_clock", p->same_clock);
    add_readings(json, p);
    cJSON_AddNumberToObject(json, "iterations", (double)p->iterations);
    cJSON_AddNumberToObject(json, "mpi_calls", (double)p->calls);
    cJSON_AddNumberToObject(json, "mpi_time_us", (double)p->call_total / 1e3);
    static const char *const names[TRACE_LANES] = {"adaptations", "elements", "iterations", "mpi", "samples", "loops"};
    cJSON *kept = cJSON_AddObjectToObject(json, "kept");
    for (int lane = 0; lane < TRACE_LANES; lane++)
        cJSON_AddItemToObject(kept, names[lane], about_lane(&p->lanes[lane]));
    return json;
}

static cJSON *about_trace(const struct trace_buffers *all, const cJSON *job, const struct trace_out *out)
{
    cJSON *json = cJSON_CreateObject();
    const char *end = json_text(job, "end"), *reason = json_text(job, "reason");
    cJSON_AddNumberToObject(json, "version", 2);
    cJSON_AddStringToObject(json, "program", all->count ? all->buffers[0]->program : "");
    cJSON_AddBoolToObject(json, "partial", !end || strcmp(end, "ended"));
    if (!end)
        reason = "the job was ended from outside";
    if (reason)
        cJSON_AddStringToObject(json, "reason", reason);
    cJSON_AddNumberToObject(json, "mpi_threshold_us", all->count ? (double)all->buffers[0]->least_call / 1e3 : 0);
    cJSON_AddNumberToObject(json, "limit", (double)out->limit);
    cJSON_AddNumberToObject(json, "dropped", (double)out->dropped);
    const cJSON *recoveries = cJSON_GetObjectItemCaseSensitive(job, "recoveries");
    if (recoveries)
        cJSON_AddItemToObject(json, "recoveries", cJSON_Duplicate(recoveries, true));
    cJSON *processes = cJSON_AddArrayToObject(json, "processes");
    for (int i = 0; i < all->count; i++)
        cJSON_AddItemToArray(processes, about_process(all->buffers[i]));
    return json;
}

/* "; of 120000 iterations one in 64", where not all were kept. */
static void say_how_sampled(const struct trace_buffers *all, enum trace_lane_name lane, const char *what, char *text,
                            size_t size)
{
    uint64_t seen = 0;
    uint32_t stride = 1;
    for (int i = 0; i < all->count; i++) {
        const struct trace_header *p = all->buffers[i];
        seen += lane == TRACE_ITERATIONS ? p->iterations : lane == TRACE_ELEMENTS ? p->visits : p->lanes[lane].seen;
        if (p->lanes[lane].stride > stride)
            stride = p->lanes[lane].stride;
    }
    size_t length = strlen(text);
    if (stride > 1)
        snprintf(text + length, size - length, "; of %llu %s one in %u", (unsigned long long)seen, what, stride);
}

static void summarize_trace(const struct trace_buffers *all, const struct trace_out *out, const cJSON *about,
                            char text[TRACE_SUMMARY_MAX])
{
    char parts[400] = "";
    const char *reason = json_text(about, "reason");
    say_how_sampled(all, TRACE_STRUCTURE, "records of adaptations", parts, sizeof parts);
    say_how_sampled(all, TRACE_ELEMENTS, "elements", parts, sizeof parts);
    say_how_sampled(all, TRACE_ITERATIONS, "iterations", parts, sizeof parts);
    say_how_sampled(all, TRACE_CALLS, "MPI calls the longest, and of the others", parts, sizeof parts);
    say_how_sampled(all, TRACE_STAYS, "stays in loops the longest, and of the others", parts, sizeof parts);
    size_t length = strlen(parts);
    if (out->dropped)
        snprintf(parts + length, sizeof parts - length, "; %lld events had no room", (long long)out->dropped);
    bool partial = json_true(about, "partial");
    snprintf(text, TRACE_SUMMARY_MAX, "trace: %s: %.1f MB, %d process%s%s%s%s%s", out->path, (double)out->written / 1e6,
             all->count, all->count == 1 ? "" : "es", parts, partial ? "; partial: " : "",
             partial && reason ? reason : "", partial && !reason ? "the job did not come to its end" : "");
}

/* ---- Writing ------------------------------------------------------------------------------------ */

static cJSON *read_job(const char *directory)
{
    char path[4400];
    snprintf(path, sizeof path, "%s/%s", directory, TRACE_JOB_NAME);
    FILE *file = fopen(path, "r");
    if (!file)
        return NULL;
    char *text = NULL;
    size_t size = 0;
    ssize_t length = getdelim(&text, &size, 0, file);
    cJSON *job = length > 0 ? cJSON_ParseWithLength(text, (size_t)length) : NULL;
    free(text);
    fclose(file);
    return job;
}

/* Also a request may be the first, before any process has begun. */
static int64_t first_time(const struct trace_buffers *all, const cJSON *job)
{
    const cJSON *instant;
    int64_t first = INT64_MAX;
    cJSON_ArrayForEach(instant, cJSON_GetObjectItemCaseSensitive(job, "instants"))
    {
        int64_t at = json_int64(instant, "at", first);
        if (at < first)
            first = at;
    }
    for (int i = 0; i < all->count; i++) {
        int64_t started = buffer_common_time(all->buffers[i], all->buffers[i]->started);
        if (started < first)
            first = started;
    }
    return first;
}

static int write_events(const struct trace_buffers *all, const cJSON *job, struct trace_out *out, char *summary,
                        struct error *error)
{
    out->base = first_time(all, job);
    events_of_job(out, all);
    events_of_requests(out, job);
    struct trace_names *names = names_read(all);
    for (int i = 0; i < all->count; i++)
        events_of_process(out, all, i, names);
    names_free(names);
    events_of_flows(out, all);
    cJSON *about = about_trace(all, job, out);
    int result = out_close(out, about, error);
    if (!result)
        summarize_trace(all, out, about, summary);
    cJSON_Delete(about);
    return result;
}

/*
 * Writes the trace, of at most `limit` bytes; thins the buffers for that. 0, and summary is the line that says
 * what was written; or -1 with text.
 */
static int merge_trace(const char *directory, const char *path, int64_t limit, char summary[TRACE_SUMMARY_MAX],
                       struct error *error)
{
    struct trace_buffers all;
    struct trace_out out;
    if (out_open(&out, path, limit, error))
        return -1;
    cJSON *job = read_job(directory);
    open_buffers(&all, directory);
    level_structure(&all);
    thin_to_limit(&all, limit - limit / 16);
    int result = write_events(&all, job, &out, summary, error);
    close_buffers(&all);
    cJSON_Delete(job);
    return result;
}

/* ---- From the start of the collector to its end ------------------------------------------------- */

static void wait_for_end(int lifeline)
{
    char nothing;
    ssize_t got;
    while ((got = read(lifeline, &nothing, 1)) > 0 || (got < 0 && errno == EINTR))
        ;
}

int collector_main(int argc, char **argv)
{
    char summary[TRACE_SUMMARY_MAX];
    struct error error;
    if (argc != 3)
        return 2;
    signal(SIGINT, SIG_IGN); /* what ends the job is the reason to write */
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* too long a file is an error like others */
    wait_for_end(STDIN_FILENO);
    int result = merge_trace(argv[0], argv[1], strtoll(argv[2], NULL, 10), summary, &error);
    say_line("%s%s", result ? "trace: " : "", result ? error.text : summary);
    remove_files(argv[0], argv[1]);
    send(STDIN_FILENO, result ? (char[]){NOT_WRITTEN} : (char[]){WRITTEN}, 1, MSG_NOSIGNAL);
    return result != 0;
}
