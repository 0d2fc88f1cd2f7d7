/* Times, and how they are printed. */
#include "times.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Each rank's own */

int times_add(struct times *t, const struct task *task, const struct phase *phase, const double *seconds,
              bool meanwhile)
{
    size_t columns = (size_t)phase->stages + 1;
    t->passed++;
    t->meanwhile += meanwhile;
    if ((!task->table && !*task->output) || t->timed == TIMED)
        return 0;
    if (t->timed == t->room) {
        int64_t room = t->room ? 2 * t->room : 64;
        double *more = realloc(t->seconds, (size_t)room * columns * sizeof *more);
        if (!more)
            return EPOP_ERR_MEMORY;
        t->seconds = more;
        t->room = room;
    }
    memcpy(t->seconds + (size_t)t->timed++ * columns, seconds, columns * sizeof *seconds);
    return 0;
}

/* ---- One for all ranks */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int64_t count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* On rank 0, of `count` times of each rank. */
static int merge_medians(const double *own, double *all, int count, int rank, int size)
{
    double *gathered = rank ? NULL : malloc((size_t)count * (size_t)size * sizeof *gathered);
    double *of_one = rank ? NULL : malloc((size_t)size * sizeof *of_one);
    int lacks = !rank && (!gathered || !of_one), error = MPI_Bcast(&lacks, 1, MPI_INT, 0, epop_world());
    if (!error && !lacks)
        error = MPI_Gather(own, count, MPI_DOUBLE, gathered, count, MPI_DOUBLE, 0, epop_world());
    for (int i = 0; i < count && !rank && !error && !lacks; i++) {
        for (int r = 0; r < size; r++)
            of_one[r] = gathered[(size_t)r * (size_t)count + (size_t)i];
        all[i] = median(of_one, size);
    }
    free(gathered);
    free(of_one);
    return lacks ? EPOP_ERR_MEMORY : error;
}

static int merge(const struct task *task, const double *own, double *all, int count)
{
    int rank, size, error;
    MPI_Comm_rank(epop_world(), &rank);
    MPI_Comm_size(epop_world(), &size);
    if (task->capture == CAPTURE_MEDIAN)
        return merge_medians(own, all, count, rank, size);
    MPI_Op operation = task->capture == CAPTURE_MAX ? MPI_MAX : MPI_SUM;
    error = MPI_Reduce(own, all, count, MPI_DOUBLE, operation, 0, epop_world());
    for (int i = 0; i < count && task->capture == CAPTURE_MEAN && !rank; i++)
        all[i] /= size;
    return error;
}

static void make_row(struct row *row, const double *all, int64_t count, int columns, int column, double *sorted)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += sorted[i] = all[i * columns + column];
    row->stage = column - 1;
    row->median = median(sorted, count);
    row->mean = sum / (double)count;
    row->least = sorted[0];
    row->most = sorted[count - 1];
}

static int complain(const struct task *task)
{
    fprintf(stderr, "synthetic: output=%s: %s\n", task->output, strerror(errno));
    return EPOP_ERR_SYSTEM;
}

/* A line each. Numbers of iterations count from 0. */
static int write_times(const struct task *task, const double *all, int64_t count, int columns, const struct row *row,
                       int64_t first)
{
    FILE *file = *task->output ? fopen(task->output, "a") : NULL;
    const char *phase = task->phases[row->phase].name;
    if (!file)
        return *task->output ? complain(task) : 0;
    for (int64_t i = 0; i < count * columns; i++) {
        long long iteration = (long long)(first + i / columns), ranks = (long long)row->ranks;
        if (i % columns)
            fprintf(file, "stage\t%s\t-\t%lld\t%lld\t%d\t%.9f\n", phase, ranks, iteration, (int)(i % columns) - 1,
                    all[i]);
        else
            fprintf(file, "iteration\t%s\t-\t%lld\t%lld\t-\t%.9f\n", phase, ranks, iteration, all[i]);
    }
    return fclose(file) ? complain(task) : 0;
}

/* What a collection needs on each rank. */
struct collection {
    int columns;
    double *all, *sorted;
    struct row *rows; /* the new ones, behind those that were there */
};

/* The same on all ranks. */
static int open_collection(struct collection *c, const struct times *t, struct row **rows, int64_t count)
{
    struct row *more = realloc(*rows, (size_t)(count + c->columns) * sizeof *more);
    c->all = malloc((size_t)(t->timed * c->columns) * sizeof *c->all);
    c->sorted = malloc((size_t)t->timed * sizeof *c->sorted);
    if (more)
        *rows = more;
    c->rows = *rows + count;
    int lacks = !more || !c->all || !c->sorted;
    int error = MPI_Allreduce(MPI_IN_PLACE, &lacks, 1, MPI_INT, MPI_MAX, epop_world());
    return lacks ? EPOP_ERR_MEMORY : error;
}

/* On rank 0, of what was merged there. */
static int make_rows(const struct collection *c, const struct times *t, const struct task *task, int phase,
                     int64_t first)
{
    int size;
    MPI_Comm_size(epop_world(), &size);
    for (int i = 0; i < c->columns; i++) {
        c->rows[i] = (struct row){
            .phase = phase, .ranks = size, .iterations = t->passed, .meanwhile = t->meanwhile, .stage = i - 1};
        make_row(&c->rows[i], c->all, t->timed, c->columns, i, c->sorted);
    }
    return write_times(task, c->all, t->timed, c->columns, c->rows, first);
}

static int collect(struct collection *c, const struct times *t, const struct task *task, int phase, int64_t first)
{
    int rank, written = 0;
    MPI_Comm_rank(epop_world(), &rank);
    int error = merge(task, t->seconds, c->all, (int)(t->timed * c->columns));
    if (!error && !rank)
        written = make_rows(c, t, task, phase, first);
    if (!error)
        error = MPI_Bcast(&written, 1, MPI_INT, 0, epop_world());
    if (!error)
        error = MPI_Bcast(c->rows, (int)((size_t)c->columns * sizeof *c->rows), MPI_BYTE, 0, epop_world());
    return error ? error : written;
}

int times_collect(struct times *t, const struct task *task, int phase, int64_t done, struct row **rows, int64_t *count)
{
    struct collection c = {.columns = task->phases[phase].stages + 1};
    int error = 0;
    if (t->timed) {
        error = open_collection(&c, t, rows, *count);
        if (!error)
            error = collect(&c, t, task, phase, done - t->passed);
        if (!error)
            *count += c.columns;
    }
    free(c.all);
    free(c.sorted);
    free(t->seconds);
    *t = (struct times){0};
    return error;
}

/* ---- The file and the table */

int times_begin(const struct task *task)
{
    FILE *file = *task->output ? fopen(task->output, "w") : NULL;
    if (!file)
        return *task->output ? complain(task) : 0;
    fprintf(file, "what\tphase\tfrom\tranks\titeration\tstage\tseconds\n");
    return fclose(file) ? complain(task) : 0;
}

static void write_change(FILE *file, const struct change *c)
{
    const struct {
        const char *what;
        double seconds;
    } parts[] = {{"spawn", c->spawn}, {"redistribution", c->moved}, {"standstill", c->stood}, {"resize", c->whole}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!isnan(parts[i].seconds))
            fprintf(file, "%s\t-\t%lld\t%lld\t%lld\t-\t%.9f\n", parts[i].what, (long long)c->from, (long long)c->to,
                    (long long)c->happened, parts[i].seconds);
}

static int write_changes(const struct task *task, const struct change *changes, int64_t count, double seconds)
{
    FILE *file = *task->output ? fopen(task->output, "a") : NULL;
    if (!file)
        return *task->output ? complain(task) : 0;
    for (int64_t i = 0; i < count; i++)
        write_change(file, &changes[i]);
    fprintf(file, "all\t-\t-\t-\t-\t-\t%.9f\n", seconds);
    return fclose(file) ? complain(task) : 0;
}

static void print_row(const struct task *task, const struct row *row)
{
    const struct phase *phase = &task->phases[row->phase];
    char stage[NAME] = "iteration";
    if (row->stage >= 0)
        snprintf(stage, sizeof stage, "%d %s", (int)row->stage,
                 task_kind(task->stages[phase->first + row->stage].kind));
    printf("%-10s %5lld %10lld %9lld  %-14s %11.6f %11.6f %11.6f %11.6f\n", phase->name, (long long)row->ranks,
           (long long)row->iterations, (long long)row->meanwhile, stage, row->mean, row->median, row->least, row->most);
}

static void print_seconds(double seconds, int width)
{
    if (isnan(seconds))
        printf(" %*s", width, "-");
    else
        printf(" %*.6f", width, seconds);
}

static void print_change(const struct change *c)
{
    char asked[24] = "-", sizes[48];
    snprintf(sizes, sizeof sizes, "%lld -> %lld", (long long)c->from, (long long)c->to);
    if (c->asked >= 0)
        snprintf(asked, sizeof asked, "%lld", (long long)c->asked);
    printf("%-12s %7lld %6s %8lld", sizes, (long long)c->joined, asked, (long long)c->happened);
    print_seconds(c->spawn, 11);
    print_seconds(c->moved, 14);
    print_seconds(c->stood, 11);
    print_seconds(c->whole, 11);
    printf("\n");
}

static void print_table(const struct task *task, const struct row *rows, int64_t count)
{
    printf("%-10s %5s %10s %9s  %-14s %11s %11s %11s %11s\n", "phase", "ranks", "iterations", "meanwhile", "seconds of",
           "mean", "median", "least", "most");
    for (int64_t i = 0; i < count; i++)
        print_row(task, &rows[i]);
}

int times_end(const struct task *task, const struct row *rows, int64_t row_count, const struct change *changes,
              int64_t change_count, double seconds)
{
    if (task->table) {
        print_table(task, rows, row_count);
        if (change_count)
            printf("%-12s %7s %6s %8s %11s %14s %11s %11s\n", "resize", "joining", "asked", "happened", "spawn",
                   "redistribution", "standstill", "whole");
        for (int64_t i = 0; i < change_count; i++)
            print_change(&changes[i]);
    }
    return write_changes(task, changes, change_count, seconds);
}
