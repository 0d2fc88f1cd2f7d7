/* The task, from arguments. */
#include "task.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "proteo.h"

static const char *const kinds[KINDS] = {[SLEEP] = "sleep",    [PI] = "pi",
                                         [MATRIX] = "matrix",  [POINT] = "point",
                                         [BCAST] = "bcast",    [ALLGATHERV] = "allgatherv",
                                         [REDUCE] = "reduce",  [ALLREDUCE] = "allreduce",
                                         [NOTHING] = "nothing"};

const char *task_kind(enum kind kind)
{
    return kinds[kind];
}

bool task_computes(const struct stage *stage)
{
    return stage->kind == PI || stage->kind == MATRIX;
}

bool task_communicates(const struct stage *stage)
{
    return stage->kind >= POINT && stage->kind <= ALLREDUCE;
}

int64_t task_iterations(const struct task *task)
{
    int64_t all = 0;
    for (int i = 0; i < task->phase_count; i++)
        all += task->phases[i].iterations;
    return all;
}

double task_speedup(const struct phase *p, int ranks)
{
    if (p->serial >= 0)
        return 1 / (p->serial + (1 - p->serial) / ranks);
    double n = 1, s = 1; /* of the point before */
    for (int i = 0; i < p->points; i++) {
        if (p->ranks[i] >= ranks)
            return p->ranks[i] > n ? s + (p->speedups[i] - s) * (ranks - n) / (p->ranks[i] - n) : p->speedups[i];
        n = p->ranks[i];
        s = p->speedups[i];
    }
    return p->points ? s : ranks;
}

/* ---- Phases and stages */

struct phase *task_add_phase(struct task *task, const char *name)
{
    if (task->phase_count == PHASES)
        return NULL;
    struct phase *phase = &task->phases[task->phase_count++];
    *phase = (struct phase){.iterations = 1, .first = task->stage_count, .serial = -1, .mtct = -1};
    snprintf(phase->name, sizeof phase->name, "%s", *name ? name : "-");
    return phase;
}

struct stage *task_add_stage(struct task *task, enum kind kind)
{
    if (task->stage_count == STAGES)
        return NULL;
    struct stage *stage = &task->stages[task->stage_count++];
    task->phases[task->phase_count - 1].stages++;
    *stage = (struct stage){.kind = kind, .granularity = kind == MATRIX ? 100 : 1000};
    return stage;
}

static int take_kind(const char *name, enum kind *kind)
{
    for (int i = 0; i < NOTHING; i++)
        if (!strcmp(name, kinds[i])) {
            *kind = (enum kind)i;
            return 0;
        }
    return 1;
}

/* The first one named says what the stage is that each phase begins with. */
static int take_stage(struct task *task, bool *named, const char *name)
{
    enum kind kind;
    if (take_kind(name, &kind))
        return 1;
    struct stage *last = &task->stages[task->stage_count - 1];
    double seconds = *named ? 0 : last->seconds;
    task->stage_count -= !*named;
    task->phases[task->phase_count - 1].stages -= !*named;
    *named = true;
    struct stage *stage = task_add_stage(task, kind);
    if (stage)
        stage->seconds = seconds;
    return !stage;
}

static int take_points(struct phase *p, const char *text)
{
    int read = 0;
    for (; *text && p->points < POINTS; text += read, p->points++) {
        if (sscanf(text, "%d=%lf%n", &p->ranks[p->points], &p->speedups[p->points], &read) != 2)
            return 1;
        read += text[read] == ',';
    }
    return *text != 0;
}

static int take_speedup(struct phase *p, const char *text)
{
    if (!strncmp(text, "table:", 6))
        return take_points(p, text + 6);
    if (!strcmp(text, "none")) {
        p->mtct = p->mtct < 0 ? 0 : p->mtct; /* all compute all the time */
        p->weak = true;
        return take_points(p, "1=1");
    }
    return strcmp(text, "linear") != 0 && sscanf(text, "amdahl:%lf", &p->serial) != 1;
}

static int take_of_phase(struct phase *p, const char *argument)
{
    long long iterations;
    if (sscanf(argument, "iterations=%lld", &iterations) == 1)
        p->iterations = iterations;
    else if (!strncmp(argument, "speedup=", 8))
        return take_speedup(p, argument + 8);
    else if (!strcmp(argument, "kind=rigid") || !strcmp(argument, "kind=elastic"))
        p->rigid = argument[5] == 'r';
    else
        return sscanf(argument, "mtct=%lf", &p->mtct) != 1 && sscanf(argument, "min=%d", &p->min) != 1 &&
               sscanf(argument, "max=%d", &p->max) != 1;
    return p->iterations < 0;
}

static int take_of_stage(struct stage *stage, const char *argument)
{
    long long number;
    if (sscanf(argument, "seconds=%lf", &stage->seconds) == 1)
        return !(stage->seconds >= 0);
    if (!strcmp(argument, "capped=yes") || !strcmp(argument, "capped=no"))
        stage->capped = argument[7] == 'y';
    else if (sscanf(argument, "bytes=%lld", &number) == 1 && number >= 0 && number <= INT_MAX)
        stage->bytes = number;
    else if (sscanf(argument, "granularity=%lld", &number) == 1 && number >= 1 && number <= INT_MAX)
        stage->granularity = number;
    else
        return 1;
    return 0;
}

/* ---- All of it */

static int take_phase(struct task *task, bool *named, const char *name)
{
    *named = false;
    struct stage *stage = task_add_phase(task, name) ? task_add_stage(task, SLEEP) : NULL;
    if (stage)
        stage->seconds = 0.1;
    return !stage;
}

static int take_resize(struct task *task, const char *text)
{
    long long at;
    int size, read = 0;
    if (task->resize_count == RESIZES || sscanf(text, "%lld:%d%n", &at, &size, &read) != 2 || text[read] || at < 0 ||
        size < 1 || (task->resize_count && at < task->resizes[task->resize_count - 1].at))
        return 1;
    task->resizes[task->resize_count++] = (struct resize){.at = at, .size = size, .factor = 1};
    return 0;
}

/* A rank 0 that comes later may be started elsewhere. */
static int take_output(struct task *task, const char *path)
{
    char here[PATH] = "";
    if (*path != '/' && !getcwd(here, sizeof here))
        return 1;
    int length = snprintf(task->output, sizeof task->output, "%s%s%s", here, *here ? "/" : "", path);
    return !*path || length >= (int)sizeof task->output;
}

static int take_capture(struct task *task, const char *name)
{
    static const char *const names[] = {[CAPTURE_MAX] = "max", [CAPTURE_MEAN] = "mean", [CAPTURE_MEDIAN] = "median"};
    for (int i = CAPTURE_MAX; i <= CAPTURE_MEDIAN; i++)
        if (!strcmp(name, names[i])) {
            task->capture = (enum capture)i;
            return 0;
        }
    return 1;
}

static int take_general(struct task *task, const char *argument)
{
    double number;
    if (sscanf(argument, "mib=%lf", &number) == 1 && number >= 0)
        task->moving = (int64_t)(number * 1048576 / sizeof(int64_t));
    else if (sscanf(argument, "ahead=%lf", &number) == 1 && number >= 0)
        task->ahead = (int64_t)(number * 1048576 / sizeof(int64_t));
    else if (!strncmp(argument, "resize=", 7))
        return take_resize(task, argument + 7);
    else if (!strncmp(argument, "capture=", 8))
        return take_capture(task, argument + 8);
    else if (!strcmp(argument, "barriers=yes") || !strcmp(argument, "barriers=no"))
        task->barriers = argument[9] == 'y';
    else
        return 1;
    return 0;
}

/* Those that go with a configuration, too. */
static int take_about_output(struct task *task, const char *argument)
{
    if (!strncmp(argument, "output=", 7))
        return take_output(task, argument + 7);
    if (!strcmp(argument, "table=yes") || !strcmp(argument, "table=no"))
        task->table = argument[6] == 'y';
    else
        return sscanf(argument, "wait=%lf", &task->patience) != 1 || !(task->patience >= 0);
    return 0;
}

static int take(struct task *task, bool *named, const char *argument)
{
    if (!take_about_output(task, argument) || !take_general(task, argument))
        return 0;
    if (!strncmp(argument, "phase=", 6))
        return take_phase(task, named, argument + 6);
    if (!task->phase_count)
        return 1;
    if (!strncmp(argument, "stage=", 6))
        return take_stage(task, named, argument + 6);
    return take_of_phase(&task->phases[task->phase_count - 1], argument) &&
           take_of_stage(&task->stages[task->stage_count - 1], argument);
}

static int check_resizes(const struct task *task)
{
    int64_t last = task_iterations(task);
    for (int i = 0; i < task->resize_count; i++)
        if (task->resizes[i].at > last) {
            fprintf(stderr, "synthetic: resize=%lld:%d comes after the last of %lld iterations\n",
                    (long long)task->resizes[i].at, task->resizes[i].size, (long long)last);
            return EPOP_ERR_ARGUMENT;
        }
    return 0;
}

static const char *find_configuration(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!strncmp(argv[i], "config=", 7))
            return argv[i] + 7;
    return NULL;
}

int task_read(struct task *task, int argc, char **argv)
{
    bool named = false;
    const char *file = find_configuration(argc, argv);
    *task = (struct task){.factor = 1, .moving = 131072, .patience = 90, .table = file};
    for (int i = 1; i < argc; i++)
        if (file ? strncmp(argv[i], "config=", 7) != 0 && take_about_output(task, argv[i])
                 : take(task, &named, argv[i])) {
            fprintf(stderr, "synthetic: argument '%s' is not understood%s\n", argv[i],
                    file ? " beside config=" : ", or there is no phase= before it");
            return EPOP_ERR_ARGUMENT;
        }
    return file ? proteo_read(task, file) : check_resizes(task);
}
