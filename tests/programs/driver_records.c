/*
 * A driver that records: iterations and what adaptations moved. Process 0 writes a line for the job, for each
 * adaptation, refusal and record to the file of --records, once more for every checkpoint (--every SECONDS). With
 * --slow FILE process 1, when it is asked before the end, makes that file and takes half a second.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <epop/driver.h>

static struct {
    const char *path, *slow;
    double every;
    int process;
    _Atomic int64_t iterations;
    char moved[4000];
    char pad[200000]; /* of --long: the record does not fit into one message */
} d = {.path = "records.txt"};

static int option(void *state, const char *name, const char *value)
{
    (void)state;
    if (!strcmp(name, "records"))
        d.path = value;
    else if (!strcmp(name, "every"))
        d.every = atof(value);
    else if (!strcmp(name, "slow"))
        d.slow = value;
    else
        memset(d.pad, 'x', sizeof d.pad - 1);
    return 0;
}

static int loaded(void *state, const epop_program_t *program, int process)
{
    (void)state, (void)program;
    d.process = process;
    return 0;
}

static void iteration_end(void *state, const epop_position_t *position)
{
    (void)state, (void)position;
    d.iterations++;
}

static void adapted(void *state, const epop_position_t *position, const epop_adapted_t *a)
{
    (void)state, (void)position;
    size_t used = strlen(d.moved);
    snprintf(d.moved + used, sizeof d.moved - used, " [%d %d/%d->%d/%d least %" PRId64, a->adaptation, a->old_rank,
             a->old_size, a->new_rank, a->new_size, a->least);
    for (int i = 0; i < a->traffic_count; i++) {
        used = strlen(d.moved);
        snprintf(d.moved + used, sizeof d.moved - used, " %d:%" PRId64 ":%" PRId64, a->traffic[i].process,
                 a->traffic[i].sent, a->traffic[i].received);
    }
    strcat(d.moved, "]");
}

static void be_slow(void)
{
    struct timespec half = {.tv_nsec = 500000000};
    FILE *file = fopen(d.slow, "w");
    fclose(file);
    nanosleep(&half, NULL);
}

static char *record(void *state, int last)
{
    size_t size = strlen(d.pad) + sizeof d.moved + 200;
    char *text = malloc(size);
    (void)state;
    if (d.slow && d.process == 1 && !last)
        be_slow();
    snprintf(text, size, "%s process %d iterations %" PRId64 "%s%s", last ? "last" : "present", d.process, d.iterations,
             d.moved, d.pad);
    if (last) {
        d.iterations = 0;
        d.moved[0] = 0;
    }
    return text;
}

static int write_job(void *state, const epop_job_t *job)
{
    static const char *const ends[] = {"running", "ended", "stopped", "failed"};
    char name[4096];
    (void)state;
    snprintf(name, sizeof name, "%s.new", d.path);
    FILE *file = fopen(name, "w");
    fprintf(file, "job %s %s size %d backend %s: %s\n", job->id, ends[job->end], job->size,
            job->backend ? job->backend : "-", job->reason ? job->reason : "");
    for (int i = 0; i < job->adaptation_count; i++)
        fprintf(file, "adaptation %d %d->%d %s by %s: %s\n", job->adaptations[i].id, job->adaptations[i].from,
                job->adaptations[i].to, job->adaptations[i].state, job->adaptations[i].by, job->adaptations[i].reason);
    for (int i = 0; i < job->refusal_count; i++)
        fprintf(file, "refused: %s\n", job->refusals[i].reason);
    for (int i = 0; i < job->record_count; i++)
        fprintf(file, "record %d: %s\n", job->records[i].process, job->records[i].text);
    fclose(file);
    return rename(name, d.path);
}

static double checkpoint(void *state)
{
    (void)state;
    return d.every;
}

const epop_driver_t *epop_get_driver(void)
{
    static const epop_driver_option_t options[] = {{"records", "FILE", "where to"},
                                                   {"every", "SECONDS", "a checkpoint"},
                                                   {"long", NULL, "long records"},
                                                   {"slow", "FILE", "a process that takes its time"},
                                                   {NULL, NULL, NULL}};
    static const epop_driver_t driver = {.abi_version = EPOP_DRIVER_ABI_VERSION,
                                         .struct_size = sizeof driver,
                                         .name = "records",
                                         .summary = "for tests",
                                         .options = options,
                                         .option = option,
                                         .loaded = loaded,
                                         .iteration_end = iteration_end,
                                         .adapted = adapted,
                                         .record = record,
                                         .write = write_job,
                                         .checkpoint = checkpoint};
    return &driver;
}
