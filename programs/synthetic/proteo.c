/*
 * Proteo's configurations. The reader is our own, and not a library's, as those do not tell a key's line. It keeps each
 * section as a row of numbers; then these become the task.
 */
#include "proteo.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 10, SECTIONS = 2 * STAGES + PHASES + RESIZES };
enum form { WHOLE, REAL, LIST, PLACES }; /* of a value; a LIST is a set of bits, PLACES 1 where it says spread */
enum which { GENERAL, A_PHASE, A_STAGE, A_RESIZE, WHICH };

struct key {
    const char *name;
    enum form form;
    double least, most;
};

enum { RESIZES_IN_ALL, STAGES_IN_ALL, PHASES_IN_ALL, GENERAL_GRANULARITY, SYNCHRONOUS, ASYNCHRONOUS, RIGID, CAPTURE };
enum { PHASE_ITERATIONS, PHASE_STAGES };
enum { TYPE, BYTES, TIME, CAPPED, IDENTIFIER, GRANULARITY };
enum { ITERATIONS, RANKS, FACTOR, DIST, MOVE_METHOD, MOVE_STRATEGY, MOVE_ASYNCHRONOUS, SPAWN_METHOD, SPAWN_STRATEGY };

static const struct key keys[WHICH][KEYS] = {
    [GENERAL] = {[RESIZES_IN_ALL] = {"Total_Resizes", WHOLE, 0, RESIZES},
                 [STAGES_IN_ALL] = {"Total_Stages", WHOLE, 1, STAGES},
                 [PHASES_IN_ALL] = {"Total_Phases", WHOLE, 1, PHASES},
                 [GENERAL_GRANULARITY] = {"Granularity", WHOLE, 1, INT_MAX},
                 [SYNCHRONOUS] = {"SDR", WHOLE, 0, 1e15},
                 [ASYNCHRONOUS] = {"ADR", WHOLE, 0, 1e15},
                 [RIGID] = {"Rigid", WHOLE, 0, 1},
                 [CAPTURE] = {"Capture_Method", WHOLE, 0, 2}},
    [A_PHASE] =
        {[PHASE_ITERATIONS] = {"Total_Iters", WHOLE, 0, 1e12}, [PHASE_STAGES] = {"Total_Stages", WHOLE, 1, STAGES}},
    [A_STAGE] = {[TYPE] = {"Stage_Type", WHOLE, 0, 10},
                 [BYTES] = {"Stage_Bytes", WHOLE, 0, INT_MAX},
                 [TIME] = {"Stage_Time", REAL, 0, 1e9},
                 [CAPPED] = {"Stage_Time_Capped", WHOLE, 0, 1},
                 [IDENTIFIER] = {"Stage_Identifier", WHOLE, -1, INT_MAX},
                 [GRANULARITY] = {"Granularity", WHOLE, 1, INT_MAX}},
    [A_RESIZE] = {[ITERATIONS] = {"Iters", WHOLE, 0, 1e12},
                  [RANKS] = {"Procs", WHOLE, 1, INT_MAX},
                  [FACTOR] = {"FactorS", REAL, 0, 1e9},
                  [DIST] = {"Dist", PLACES, 0, 1},
                  [MOVE_METHOD] = {"Redistribution_Method", WHOLE, 0, 3},
                  [MOVE_STRATEGY] = {"Redistribution_Strategy", LIST, 0, 3},
                  [MOVE_ASYNCHRONOUS] = {"Asynch_Redistribution_Type", WHOLE, 0, 3},
                  [SPAWN_METHOD] = {"Spawn_Method", WHOLE, 0, 1},
                  [SPAWN_STRATEGY] = {"Spawn_Strategy", LIST, 0, 5}}};

struct section {
    enum which which;
    int first, second; /* its numbers; of a stage without a phase the first one is -1 */
    int line;
    int at[KEYS]; /* the line of each key; 0: it is not there */
    double value[KEYS];
};

struct file {
    const char *path;
    int line;
    struct section sections[SECTIONS], *now; /* NULL: one that is left out */
    int count;
    bool begun, wrong; /* a section; the file is of no use */
};

static void say(const struct file *f, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void say(const struct file *f, int line, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (line)
        fprintf(stderr, "%s:%d: %s\n", f->path, line, text);
    else
        fprintf(stderr, "%s: %s\n", f->path, text);
}

/* As say(), and the file is of no use: a macro for the format's sake. */
#define REFUSE(f, ...) ((f)->wrong = true, say(f, __VA_ARGS__))

/* ---- Lines */

static char *trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    char *end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1]))
        *--end = '\0';
    return text;
}

static const char *section_name(const struct section *s, char name[NAME])
{
    static const char *const formats[] = {"general", "phase%d", "phase%d.stage%d", "resize%d"};
    if (s->which == A_STAGE && s->first < 0)
        snprintf(name, NAME, "stage%d", s->second);
    else
        snprintf(name, NAME, formats[s->which], s->first, s->second);
    return name;
}

static struct section *find_section(struct file *f, enum which which, int first, int second)
{
    for (int i = 0; i < f->count; i++)
        if (f->sections[i].which == which && f->sections[i].first == first && f->sections[i].second == second)
            return &f->sections[i];
    return NULL;
}

static bool section_of(const char *name, enum which *which, int *first, int *second)
{
    int read = 0;
    *first = *second = -1;
    *which = GENERAL;
    if (!strcmp(name, "general"))
        return true;
    *which = A_STAGE;
    if ((sscanf(name, "stage%d%n", second, &read) == 1 && !name[read]) ||
        (sscanf(name, "phase%d.stage%d%n", first, second, &read) == 2 && !name[read]))
        return *second >= 0;
    *second = -1;
    *which = A_PHASE;
    if (sscanf(name, "phase%d%n", first, &read) == 1 && !name[read])
        return *first >= 0;
    *which = A_RESIZE;
    return sscanf(name, "resize%d%n", first, &read) == 1 && !name[read] && *first >= 0;
}

static void take_section(struct file *f, char *text)
{
    enum which which;
    int first, second;
    char *end = strchr(text, ']');
    f->now = NULL;
    f->begun = true;
    if (end)
        *end = '\0';
    if (!end) {
        REFUSE(f, f->line, "a section is a name in brackets, as in [stage0]");
    } else if (!section_of(trim(text), &which, &first, &second)) {
        say(f, f->line, "[%.100s]: it means nothing here, and is left out", text);
    } else if (!(f->now = find_section(f, which, first, second))) {
        if (f->count == SECTIONS)
            REFUSE(f, f->line, "a file has at most %d sections", SECTIONS);
        else
            *(f->now = &f->sections[f->count++]) =
                (struct section){.which = which, .first = first, .second = second, .line = f->line};
    }
}

static int find_key(enum which which, const char *name)
{
    for (int i = 0; i < KEYS; i++)
        if (keys[which][i].name && !strcmp(keys[which][i].name, name))
            return i;
    return -1;
}

static bool read_number(const char *text, const char **end, double *value)
{
    *value = strtod(text, (char **)end);
    return *end != text && isfinite(*value);
}

/* Numbers with commas between them, as bits; none at all are 0. */
static bool read_list(const struct key *key, const char *text, double *value)
{
    double number;
    unsigned bits = 0;
    while (*text) {
        if (!read_number(text, &text, &number) || number < key->least || number > key->most)
            return false;
        bits |= 1U << (int)number;
        text += strspn(text, " \t");
        text += *text == ',';
    }
    *value = bits;
    return true;
}

/* Where a whole number is meant there may be a fraction, which does not count. */
static bool read_value(const struct key *key, const char *text, double *value)
{
    const char *end;
    if (key->form == LIST)
        return read_list(key, text, value);
    if (key->form == PLACES) {
        *value = !strcmp(text, "spread");
        return *value > 0 || !strcmp(text, "compact");
    }
    if (!read_number(text, &end, value) || *end)
        return false;
    if (key->form == WHOLE)
        *value = trunc(*value);
    return *value >= key->least && *value <= key->most;
}

static void say_what_is_meant(struct file *f, const struct key *key, const char *text)
{
    if (key->form == PLACES)
        REFUSE(f, f->line, "%s=%.100s: it is compact or spread", key->name, text);
    else
        REFUSE(f, f->line, "%s=%.100s: it is a %s from %.0f to %.0f", key->name, text,
               key->form == LIST ? "list of numbers" : "number", key->least, key->most);
}

static void take_value(struct file *f, const char *name, const char *text)
{
    char here[NAME];
    int i = find_key(f->now->which, name);
    if (i < 0) {
        say(f, f->line, "%.100s in [%s]: there is no such key here; it is left out", name, section_name(f->now, here));
        return;
    }
    if (f->now->at[i])
        REFUSE(f, f->line, "%s stands in [%s] already, in line %d", name, section_name(f->now, here), f->now->at[i]);
    if (!read_value(&keys[f->now->which][i], text, &f->now->value[i]))
        say_what_is_meant(f, &keys[f->now->which][i], text);
    f->now->at[i] = f->line;
}

static void take_line(struct file *f, char *line)
{
    char *comment = strstr(line, " ;");
    if (comment)
        *comment = '\0';
    line = trim(line);
    char *value = strchr(line, '=');
    if (!*line || *line == ';' || *line == '#')
        return;
    if (*line == '[') {
        take_section(f, line + 1);
    } else if (!value) {
        REFUSE(f, f->line, "'%.100s' is neither [section] nor key=value", line);
    } else if (!f->begun) {
        REFUSE(f, f->line, "'%.100s' stands before the first [section]", line);
    } else if (f->now) {
        *value++ = '\0';
        take_value(f, trim(line), trim(value));
    }
}

static void read_lines(struct file *f)
{
    char *line = NULL;
    size_t room = 0;
    FILE *stream = fopen(f->path, "r");
    if (!stream) {
        REFUSE(f, 0, "%s", strerror(errno));
        return;
    }
    for (errno = 0; getline(&line, &room, stream) >= 0; errno = 0) {
        f->line++;
        take_line(f, line);
    }
    if (ferror(stream))
        REFUSE(f, 0, "%s", strerror(errno));
    free(line);
    fclose(stream);
}

/* ---- What the task needs of them */

/* The value, or what it is where the key may be missing; NAN: it may not. */
static double value_of(struct file *f, const struct section *s, int key, double missing)
{
    char name[NAME];
    if (s->at[key])
        return s->value[key];
    if (isnan(missing))
        REFUSE(f, s->line, "[%s] has no %s", section_name(s, name), keys[s->which][key].name);
    return isnan(missing) ? keys[s->which][key].least : missing;
}

static const struct section *need_section(struct file *f, enum which which, int first, int second, const char *because)
{
    char name[NAME];
    const struct section missing = {.which = which, .first = first, .second = second};
    const struct section *found = find_section(f, which, first, second);
    if (!found)
        REFUSE(f, 0, "there is no section [%s]%s", section_name(&missing, name), because);
    return found;
}

/* Of those with a higher number than their total says. */
static void leave_out_others(const struct file *f, enum which which, int phase, int count, const char *total)
{
    char name[NAME];
    for (int i = 0; i < f->count; i++) {
        const struct section *s = &f->sections[i];
        int number = which == A_STAGE ? s->second : s->first;
        if (s->which == which && (which != A_STAGE || s->first == phase) && number >= count)
            say(f, s->line, "[%s] is left out, as %s says", section_name(s, name), total);
    }
}

/* ---- Stages */

static const enum kind before_phases[] = {PI, MATRIX, POINT, BCAST, ALLGATHERV, REDUCE, ALLREDUCE};
static const enum kind with_phases[] = {PI,         MATRIX, POINT,     POINT,   NOTHING, BCAST,
                                        ALLGATHERV, REDUCE, ALLREDUCE, NOTHING, NOTHING};

/* Files with phases have types 3 and 4 for what does not block; others of that time tell by what they have. */
static bool is_of_later_types(const struct file *f)
{
    for (int i = 0; i < f->count; i++) {
        const struct section *s = &f->sections[i];
        if (s->which == A_PHASE || (s->which == A_STAGE && (s->first >= 0 || s->at[IDENTIFIER] || s->value[TYPE] > 6)))
            return true;
    }
    return false;
}

static void say_of_later_types(const struct file *f, const struct section *s)
{
    static const char *const instead[] = {[3] = "the exchange is complete before the next stage",
                                          [4] = "there is nothing to wait for, as exchanges are complete at once",
                                          [9] = "nothing is written",
                                          [10] = "nothing is read"};
    char name[NAME];
    int type = (int)s->value[TYPE];
    if (type < (int)(sizeof instead / sizeof *instead) && instead[type])
        say(f, s->at[TYPE], "Stage_Type=%d in [%s]: %s", type, section_name(s, name), instead[type]);
}

static void say_of_bytes(const struct file *f, const struct section *s, const struct stage *stage)
{
    char name[NAME];
    if (s->value[BYTES] > 0 && task_computes(stage))
        say(f, s->at[BYTES], "Stage_Bytes in [%s]: a stage that computes has none", section_name(s, name));
    if (s->value[BYTES] > 0 && stage->capped && task_communicates(stage))
        say(f, s->at[BYTES], "Stage_Bytes in [%s]: with Stage_Time_Capped=1 operations have Granularity bytes",
            section_name(s, name));
}

static void make_stage(struct file *f, const struct section *s, struct task *task, double granularity)
{
    bool later = is_of_later_types(f);
    const enum kind *kinds = later ? with_phases : before_phases;
    struct stage *stage = task_add_stage(task, kinds[(int)value_of(f, s, TYPE, NAN)]);
    if (!stage) {
        REFUSE(f, s->line, "there are more than %d stages", STAGES);
        return;
    }
    stage->seconds = value_of(f, s, TIME, task_communicates(stage) && s->value[BYTES] > 0 ? 0 : NAN);
    stage->capped = value_of(f, s, CAPPED, 0) > 0;
    stage->bytes = task_communicates(stage) && !stage->capped ? (int64_t)value_of(f, s, BYTES, 0) : 0;
    if (stage->kind != NOTHING && !stage->bytes && stage->seconds > 0)
        stage->granularity = (int64_t)value_of(f, s, GRANULARITY, granularity);
    if (later)
        say_of_later_types(f, s);
    say_of_bytes(f, s, stage);
}

static void make_stages(struct file *f, struct task *task, int phase, const struct section *of, int key)
{
    const struct section *general = find_section(f, GENERAL, -1, -1);
    int count = (int)value_of(f, of, key, NAN);
    double granularity = general->at[GENERAL_GRANULARITY] ? general->value[GENERAL_GRANULARITY] : NAN;
    for (int i = 0; i < count && !f->wrong; i++) {
        const struct section *s = need_section(f, A_STAGE, phase, i, ", though Total_Stages says so");
        if (s)
            make_stage(f, s, task, granularity);
    }
    leave_out_others(f, A_STAGE, phase, count, "Total_Stages");
}

/* What more ranks gain is in FactorS. */
static void add_phase(struct task *task, const char *name, int64_t iterations)
{
    struct phase *phase = task_add_phase(task, name);
    phase->iterations = iterations;
    phase->points = phase->ranks[0] = 1;
    phase->speedups[0] = 1;
}

static void make_phases(struct file *f, struct task *task, const struct section *general)
{
    char name[NAME];
    int count = (int)value_of(f, general, PHASES_IN_ALL, NAN);
    for (int i = 0; i < count && !f->wrong; i++) {
        const struct section *s = need_section(f, A_PHASE, i, -1, ", though Total_Phases says so");
        if (!s)
            return;
        add_phase(task, section_name(s, name), (int64_t)value_of(f, s, PHASE_ITERATIONS, NAN));
        make_stages(f, task, i, s, PHASE_STAGES);
    }
    leave_out_others(f, A_PHASE, -1, count, "Total_Phases");
}

/* ---- Resizes */

static void say_of_moves(const struct file *f, const struct section *s, const struct task *task)
{
    char name[NAME];
    section_name(s, name);
    if (s->at[MOVE_METHOD] && s->value[MOVE_METHOD] != 1 && (task->moving || task->ahead))
        say(f, s->at[MOVE_METHOD],
            "Redistribution_Method=%g in [%s]: data moves by point-to-point messages, which is 1",
            s->value[MOVE_METHOD], name);
    if ((unsigned)s->value[MOVE_STRATEGY] & 0xcU && task->ahead)
        say(f, s->at[MOVE_STRATEGY], "Redistribution_Strategy in [%s]: data of ADR is moved by a thread, which is 1",
            name);
    if (s->at[MOVE_ASYNCHRONOUS] && s->value[MOVE_ASYNCHRONOUS] != 3 && task->ahead)
        say(f, s->at[MOVE_ASYNCHRONOUS],
            "Asynch_Redistribution_Type=%g in [%s]: data of ADR is moved by a thread, which is 3",
            s->value[MOVE_ASYNCHRONOUS], name);
}

static void say_of_places(const struct file *f, const struct section *s)
{
    char name[NAME];
    if (s->value[DIST] > 0)
        say(f, s->at[DIST], "Dist=spread in [%s]: ranks are where the job's launch and options put them",
            section_name(s, name));
}

/* The way of spawning belongs to the job, from its start on: the first section that names one stands for all. */
static const struct section *first_with(const struct file *f, int key)
{
    const struct section *first = NULL;
    for (int i = 0; i < f->count; i++) {
        const struct section *s = &f->sections[i];
        if (s->which == A_RESIZE && s->first > 0 && s->at[key] && (!first || s->first < first->first))
            first = s;
    }
    return first;
}

static bool say_of_another(const struct file *f, const struct section *s, int key)
{
    char name[NAME], other[NAME];
    const struct section *first = s->at[key] ? first_with(f, key) : s;
    if (s->at[key] && s != first && s->value[key] != first->value[key])
        say(f, s->at[key], "%s in [%s]: the job spawns in one way for all its resizes, as for [%s]",
            keys[A_RESIZE][key].name, section_name(s, name), section_name(first, other));
    return !s->at[key] || s != first;
}

static void say_of_method(const struct file *f, const struct section *s)
{
    char name[NAME];
    if (!say_of_another(f, s, SPAWN_METHOD))
        say(f, s->at[SPAWN_METHOD],
            "Spawn_Method=%g in [%s]: the job's options decide, for all its resizes; this is epop --backend spawn "
            "--spawn-method %s",
            s->value[SPAWN_METHOD], section_name(s, name), s->value[SPAWN_METHOD] > 0 ? "merge" : "baseline");
}

static void say_of_strategy(const struct file *f, const struct section *s)
{
    char name[NAME];
    unsigned bits = (unsigned)s->value[SPAWN_STRATEGY];
    section_name(s, name);
    if (bits & ~7U)
        say(f, s->at[SPAWN_STRATEGY],
            "Spawn_Strategy in [%s]: there is no strategy 3, 4 or 5 here; the job's options decide", name);
    else if (!say_of_another(f, s, SPAWN_STRATEGY))
        say(f, s->at[SPAWN_STRATEGY],
            "Spawn_Strategy in [%s]: the job's options decide, for all its resizes; this is epop --backend spawn%s%s",
            name, bits & 4U ? " --spawn-strategy single" : " --spawn-strategy plain",
            bits & 2U ? " --spawn-async" : "");
}

static void make_resize(struct file *f, const struct section *s, struct task *task, int64_t at)
{
    bool waits = !s->at[MOVE_ASYNCHRONOUS] && s->at[MOVE_STRATEGY] && !((unsigned)s->value[MOVE_STRATEGY] & ~1U);
    task->resizes[task->resize_count++] = (struct resize){
        .at = at, .size = (int)value_of(f, s, RANKS, NAN), .factor = value_of(f, s, FACTOR, 1), .in_window = waits};
    say_of_moves(f, s, task);
    say_of_method(f, s);
    say_of_strategy(f, s);
}

static void make_start(struct file *f, const struct section *s, struct task *task)
{
    task->ranks = (int)value_of(f, s, RANKS, NAN);
    task->factor = value_of(f, s, FACTOR, 1);
}

/* Each lasts as many iterations as its section says: the next one comes after them. What the iterations are in all. */
static int64_t make_resizes(struct file *f, struct task *task, const struct section *general)
{
    int64_t at = 0;
    int count = (int)value_of(f, general, RESIZES_IN_ALL, NAN);
    for (int i = 0; i <= count && !f->wrong; i++) {
        const struct section *s = need_section(f, A_RESIZE, i, -1, ", and there is one more than Total_Resizes says");
        if (!s)
            return 0;
        if (i)
            make_resize(f, s, task, at);
        else
            make_start(f, s, task);
        say_of_places(f, s);
        at += (int64_t)value_of(f, s, ITERATIONS, NAN);
    }
    leave_out_others(f, A_RESIZE, -1, count + 1, "Total_Resizes");
    return at;
}

/* ---- All of it */

static int64_t elements_of(double bytes)
{
    return (int64_t)ceil(bytes / sizeof(int64_t));
}

static void make_task(struct file *f, struct task *task)
{
    const struct section *general = need_section(f, GENERAL, -1, -1, "");
    if (!general)
        return;
    task->moving = elements_of(general->value[SYNCHRONOUS]);
    task->ahead = elements_of(general->value[ASYNCHRONOUS]);
    task->barriers = general->value[RIGID] > 0;
    task->capture = (enum capture)general->value[CAPTURE];
    int64_t iterations = make_resizes(f, task, general);
    if (general->at[PHASES_IN_ALL] || find_section(f, A_PHASE, 0, -1)) {
        make_phases(f, task, general);
    } else {
        add_phase(task, "stages", iterations);
        make_stages(f, task, -1, general, STAGES_IN_ALL);
    }
}

int proteo_read(struct task *task, const char *path)
{
    struct file *f = calloc(1, sizeof *f);
    if (!f)
        return EPOP_ERR_MEMORY;
    f->path = path;
    read_lines(f);
    if (!f->wrong)
        make_task(f, task);
    int64_t last = task_iterations(task);
    if (!f->wrong && task->resize_count && task->resizes[task->resize_count - 1].at > last)
        REFUSE(f, 0, "the phases have %lld iterations, and the last resize comes after %lld", (long long)last,
               (long long)task->resizes[task->resize_count - 1].at);
    int result = f->wrong ? EPOP_ERR_ARGUMENT : 0;
    free(f);
    return result;
}
