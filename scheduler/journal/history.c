/* What was measured in earlier jobs: which program it was, reading, and writing. */
#include "scheduler/journal/history.h"

#include <cjson/cJSON.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "scheduler/journal/store.h"

/* ---- Which program ------------------------------------------------------------------------------ */

/* Names without a slash are looked for in PATH, and stay as they are. */
static void resolve_file(const char *cwd, const char *name, char path[PATH_MAX])
{
    char joined[2 * PATH_MAX];
    if (*name == '/' || !strchr(name, '/'))
        snprintf(joined, sizeof joined, "%s", name);
    else
        snprintf(joined, sizeof joined, "%s/%s", cwd, name);
    if (!strchr(name, '/') || !realpath(joined, path))
        snprintf(path, PATH_MAX, "%.*s", PATH_MAX - 1, joined);
}

char *history_program(const char *cwd, const char *const *argv)
{
    char path[PATH_MAX];
    cJSON *words = cJSON_CreateArray();
    resolve_file(cwd, argv[0], path);
    for (size_t i = 0; argv[i]; i++)
        cJSON_AddItemToArray(words, cJSON_CreateString(i ? argv[i] : path));
    char *text = cJSON_PrintUnformatted(words);
    cJSON_Delete(words);
    return text;
}

/* ---- Reading ------------------------------------------------------------------------------------ */

struct history_reader {
    struct history *history;
    bool failed;
};

static void take_row(sqlite3_stmt *row, void *to)
{
    struct history_reader *reader = to;
    struct history *history = reader->history;
    if (reader->failed ||
        array_reserve(&history->samples, &history->room, history->count + 1, sizeof *history->samples)) {
        reader->failed = true;
        return;
    }
    history->samples[history->count++] = (struct history_sample){.sample = {.phase = sqlite3_column_int(row, 0),
                                                                            .nodes = sqlite3_column_int(row, 1),
                                                                            .iterations = sqlite3_column_double(row, 2),
                                                                            .seconds = sqlite3_column_double(row, 3),
                                                                            .mtct = sqlite3_column_double(row, 4),
                                                                            .trend = sqlite3_column_double(row, 5),
                                                                            .variance = sqlite3_column_double(row, 6),
                                                                            .lo = sqlite3_column_double(row, 7),
                                                                            .hi = sqlite3_column_double(row, 8),
                                                                            .imbalance = -1},
                                                                 .job = sqlite3_column_int64(row, 9),
                                                                 .time = sqlite3_column_double(row, 10)};
}

int history_read(struct journal *journal, const struct history_key *key, double now, struct history *history,
                 struct error *error)
{
    struct history_reader reader = {.history = history};
    *history = (struct history){0};
    int failed = store_rows(journal, take_row, &reader, error,
                            "SELECT phase, ranks, iterations, seconds, mtct, trend, variance, lo, hi, job, time"
                            " FROM history WHERE user=? AND program=? AND time>? ORDER BY phase, ranks",
                            "isd", key->user, key->program, now - HISTORY_AGE);
    if (!failed && reader.failed)
        failed = error_memory(error);
    if (failed)
        history_free(history);
    return failed;
}

void history_free(struct history *history)
{
    free(history->samples);
    *history = (struct history){0};
}

int64_t history_last(const struct history *history)
{
    int64_t last = 0;
    for (size_t i = 0; i < history->count; i++)
        last = history->samples[i].job > last ? history->samples[i].job : last;
    return last;
}

/* ---- Writing ------------------------------------------------------------------------------------ */

/* Unchanged to the last bit: it was not measured since. */
static bool is_same(const epop_policy_sample_t *one, const epop_policy_sample_t *other)
{
    return one->phase == other->phase && one->nodes == other->nodes && !(one->seconds < other->seconds) &&
           !(one->seconds > other->seconds) && !(one->iterations < other->iterations) &&
           !(one->iterations > other->iterations);
}

static struct history_sample origin_of(const struct history *before, const epop_policy_sample_t *sample, int64_t job,
                                       double now)
{
    for (size_t i = 0; i < before->count; i++)
        if (is_same(&before->samples[i].sample, sample))
            return before->samples[i];
    return (struct history_sample){*sample, job, now};
}

static int insert_sample(struct journal *journal, const struct history_key *key, const struct history_sample *from,
                         struct error *error)
{
    const epop_policy_sample_t *sample = &from->sample;
    return store_run(journal, "what was measured of a job", error,
                     "INSERT OR REPLACE INTO history VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)", "isiidddddddld", key->user,
                     key->program, sample->phase, sample->nodes, sample->iterations, sample->seconds, sample->mtct,
                     sample->trend, sample->variance, sample->lo, sample->hi, from->job, from->time);
}

static int forget_old(struct journal *journal, double now, struct error *error)
{
    return store_run(journal, "the history", error,
                     "DELETE FROM history WHERE time<=? OR (user, program) NOT IN (SELECT user, program FROM history"
                     " GROUP BY user, program ORDER BY max(time) DESC LIMIT ?)",
                     "di", now - HISTORY_AGE, HISTORY_MOST);
}

int history_write(struct journal *journal, const struct history_key *key, int64_t job, double now,
                  const epop_policy_sample_t *samples, int count, struct error *error)
{
    struct history before;
    if (!count)
        return 0;
    if (history_read(journal, key, now, &before, error))
        return -1;
    int failed = store_run(journal, "the history", error, "DELETE FROM history WHERE user=? AND program=?", "is",
                           key->user, key->program);
    for (int i = 0; i < count && !failed; i++) {
        if (samples[i].iterations < HISTORY_LEAST)
            continue;
        struct history_sample from = origin_of(&before, &samples[i], job, now);
        failed = insert_sample(journal, key, &from, error);
    }
    history_free(&before);
    return failed ? -1 : forget_old(journal, now, error);
}
