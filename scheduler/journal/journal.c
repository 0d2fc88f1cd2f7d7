/* What the journal keeps, table by table: how it is written, and how it is read again. */
#include "scheduler/journal/journal.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/journal/store.h"

/* ---- Words of the daemon ------------------------------------------------------------------------ */

int journal_meta_set(struct journal *journal, const char *key, const char *value, struct error *error)
{
    return store_run(journal, key, error,
                     "INSERT INTO meta VALUES(?,?) ON CONFLICT(key) DO UPDATE SET value=excluded.value", "ss", key,
                     value);
}

static void take_word(sqlite3_stmt *row, void *to)
{
    *(char **)to = strdup(store_text(row, 0));
}

int journal_meta_get(struct journal *journal, const char *key, char **value, struct error *error)
{
    *value = NULL;
    return store_rows(journal, take_word, value, error, "SELECT value FROM meta WHERE key=?", "s", key);
}

/* ---- Nodes -------------------------------------------------------------------------------------- */

int journal_node_put(struct journal *journal, const struct journal_node *node, struct error *error)
{
    return store_run(journal, "a node", error,
                     "INSERT INTO node VALUES(?,?,?,?,?,?,?) ON CONFLICT(number) DO UPDATE SET name=excluded.name,"
                     " host=excluded.host, slots=excluded.slots, state=excluded.state, reason=excluded.reason,"
                     " since=excluded.since",
                     "ississd", node->number, node->name, node->host, node->slots, node->state,
                     node->reason ? node->reason : "", node->since);
}

int journal_node_set_state(struct journal *journal, const char *name, const char *state, const char *reason,
                           double time, struct error *error)
{
    return store_change(journal, "a node's state", "there is no such node", error,
                        "UPDATE node SET state=?, reason=?, since=? WHERE name=?", "ssds", state, reason ? reason : "",
                        time, name);
}

int journal_nodes_forget(struct journal *journal, struct error *error)
{
    return store_run(journal, "the nodes", error, "DELETE FROM node", "");
}

struct node_reader {
    void (*each)(void *to, const struct journal_node *node);
    void *to;
};

static void node_row(sqlite3_stmt *row, void *to)
{
    const struct node_reader *reader = to;
    struct journal_node node = {.number = sqlite3_column_int(row, 0),
                                .name = store_text(row, 1),
                                .host = store_text(row, 2),
                                .slots = sqlite3_column_int(row, 3),
                                .state = store_text(row, 4),
                                .reason = store_text(row, 5),
                                .since = sqlite3_column_double(row, 6)};
    reader->each(reader->to, &node);
}

int journal_nodes(struct journal *journal, void (*each)(void *to, const struct journal_node *node), void *to,
                  struct error *error)
{
    struct node_reader reader = {each, to};
    return store_rows(journal, node_row, &reader, error,
                      "SELECT number, name, host, slots, state, reason, since FROM node ORDER BY number", "");
}

/* ---- Lists of words: a JSON array of texts in one column ----------------------------------------- */

static bool append_word(cJSON *array, cJSON *item)
{
    if (item && cJSON_AddItemToArray(array, item))
        return true;
    cJSON_Delete(item);
    return false;
}

/* To be freed. NULL: no memory. */
static char *text_of_words(const char *const *words)
{
    cJSON *array = cJSON_CreateArray();
    bool whole = array;
    for (size_t i = 0; whole && words[i]; i++)
        whole = append_word(array, cJSON_CreateString(words[i]));
    char *text = whole ? cJSON_PrintUnformatted(array) : NULL;
    cJSON_Delete(array);
    return text;
}

static void free_words(char **words)
{
    for (size_t i = 0; words && words[i]; i++)
        free(words[i]);
    free(words);
}

static char **copy_words(const cJSON *array)
{
    char **words = calloc((size_t)cJSON_GetArraySize(array) + 1, sizeof *words);
    size_t count = 0;
    for (const cJSON *item = array->child; words && item; item = item->next)
        if (!cJSON_IsString(item) || !(words[count++] = strdup(item->valuestring))) {
            free_words(words);
            return NULL;
        }
    return words;
}

/* NULL: no memory, or no such text. */
static char **read_words(const char *text)
{
    cJSON *array = cJSON_Parse(text);
    char **words = cJSON_IsArray(array) ? copy_words(array) : NULL;
    cJSON_Delete(array);
    return words;
}

/* ---- Jobs --------------------------------------------------------------------------------------- */

/* number 0: a new one. */
static int insert_words(struct journal *journal, int64_t number, const struct journal_job *job, const char *argv,
                        const char *environment, struct error *error)
{
    return store_run(journal, "a job", error,
                     "INSERT INTO job(number, name, kind, argv, cwd, environment, output, ranks_min, ranks_max,"
                     " nodes_min, nodes_max, wanted, limit_seconds, once, submitted, state, reason, started, ended,"
                     " status) VALUES(nullif(?,0),?,?,?,?,?,?,?,?,?,?,?,?,?,?,'waiting','',-1,-1,-1)",
                     "lssssssiiiiidid", number, job->name, job->kind, argv, job->cwd, environment,
                     job->output ? job->output : "", job->ranks_min, job->ranks_max, job->nodes_min, job->nodes_max,
                     job->wanted, job->limit, (int)job->once, job->submitted);
}

int journal_job_set_account(struct journal *journal, int64_t job, const char *account, struct error *error)
{
    return store_run(journal, "a job's account", error, "INSERT OR REPLACE INTO account VALUES(?,?)", "ls", job,
                     account);
}

int journal_job_set_deadline(struct journal *journal, int64_t job, double deadline, bool drop_late, struct error *error)
{
    if (!(deadline > 0))
        return store_run(journal, "a job's deadline", error, "DELETE FROM deadline WHERE job=?", "l", job);
    return store_run(journal, "a job's deadline", error, "INSERT OR REPLACE INTO deadline VALUES(?,?,?)", "ldi", job,
                     deadline, (int)drop_late);
}

/* What its user says besides. */
static int insert_wishes(struct journal *journal, int64_t number, const struct journal_job *job, struct error *error)
{
    bool counted = job->account && *job->account;
    if (counted && journal_job_set_account(journal, number, job->account, error))
        return -1;
    return job->deadline > 0 ? journal_job_set_deadline(journal, number, job->deadline, job->drop_late, error) : 0;
}

/* number: its own, or 0, and it gets one. */
static int insert_job(struct journal *journal, int64_t *number, const struct journal_job *job, struct error *error)
{
    char *argv = text_of_words(job->argv), *environment = text_of_words(job->environment);
    int failed =
        argv && environment ? insert_words(journal, *number, job, argv, environment, error) : error_memory(error);
    free(argv);
    free(environment);
    if (failed)
        return -1;
    *number = sqlite3_last_insert_rowid(journal->database);
    return insert_wishes(journal, *number, job, error);
}

int journal_job_add(struct journal *journal, const struct journal_job *job, int64_t *number, struct error *error)
{
    *number = 0;
    return insert_job(journal, number, job, error);
}

int journal_job_put(struct journal *journal, const struct journal_job *job, struct error *error)
{
    int64_t number = job->number;
    return insert_job(journal, &number, job, error);
}

/* Those that end before that time, or have that number; 0: none has. */
static int forget_jobs(struct journal *journal, int64_t job, double before, struct error *error)
{
    static const char *const tables[] = {"stay",    "resize",   "move",       "energy", "queueing",
                                         "account", "deadline", "dependency", "event"};
    static const char those[] = "(SELECT number FROM job WHERE number=? OR (ended >= 0 AND ended < ?))";
    char sql[160];
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        snprintf(sql, sizeof sql, "DELETE FROM %s WHERE job IN %s", tables[i], those);
        if (store_run(journal, "earlier jobs", error, sql, "ld", job, before))
            return -1;
    }
    snprintf(sql, sizeof sql, "DELETE FROM job WHERE number IN %s", those);
    return store_run(journal, "earlier jobs", error, sql, "ld", job, before);
}

int journal_job_forget(struct journal *journal, int64_t job, struct error *error)
{
    return forget_jobs(journal, job, 0, error);
}

int journal_jobs_forget(struct journal *journal, double before, struct error *error)
{
    return forget_jobs(journal, 0, before, error);
}

static const char *const no_such_job = "there is no such job";

int journal_job_set_state(struct journal *journal, int64_t job, const char *state, const char *reason,
                          struct error *error)
{
    return store_change(journal, "a job's state", no_such_job, error, "UPDATE job SET state=?, reason=? WHERE number=?",
                        "ssl", state, reason ? reason : "", job);
}

int journal_job_set_kind(struct journal *journal, int64_t job, const char *kind, struct error *error)
{
    return store_change(journal, "a job's kind", no_such_job, error, "UPDATE job SET kind=? WHERE number=?", "sl", kind,
                        job);
}

int journal_job_set_started(struct journal *journal, int64_t job, double time, struct error *error)
{
    return store_change(journal, "a job's start", no_such_job, error, "UPDATE job SET started=? WHERE number=?", "dl",
                        time, job);
}

int journal_job_ended(struct journal *journal, int64_t job, const char *state, const char *reason, int status,
                      double time, struct error *error)
{
    return store_change(journal, "a job's end", no_such_job, error,
                        "UPDATE job SET state=?, reason=?, status=?, ended=? WHERE number=?", "ssidl", state,
                        reason ? reason : "", status, time, job);
}

struct job_reader {
    void (*each)(void *to, const struct journal_job *job);
    void *to;
    bool failed; /* no memory */
};

static void found_row(sqlite3_stmt *row, void *to)
{
    *(bool *)to = sqlite3_column_int(row, 0) > 0;
}

/* Whether this file, which may be of before it, has the table. */
static int has_table(struct journal *journal, const char *name, bool *found, struct error *error)
{
    *found = false;
    return store_rows(journal, found_row, found, error,
                      "SELECT count(*) FROM sqlite_master WHERE type='table' AND name=?", "s", name);
}

/* The columns of the statement below, in its order. */
static void job_row(sqlite3_stmt *row, void *to)
{
    struct job_reader *reader = to;
    char **argv = read_words(store_text(row, 3)), **environment = read_words(store_text(row, 5));
    struct journal_job job = {.number = sqlite3_column_int64(row, 0),
                              .name = store_text(row, 1),
                              .kind = store_text(row, 2),
                              .argv = (const char *const *)argv,
                              .cwd = store_text(row, 4),
                              .environment = (const char *const *)environment,
                              .output = store_text(row, 6),
                              .ranks_min = sqlite3_column_int(row, 7),
                              .ranks_max = sqlite3_column_int(row, 8),
                              .nodes_min = sqlite3_column_int(row, 9),
                              .nodes_max = sqlite3_column_int(row, 10),
                              .wanted = sqlite3_column_int(row, 11),
                              .limit = sqlite3_column_double(row, 12),
                              .once = sqlite3_column_int(row, 13),
                              .state = store_text(row, 14),
                              .reason = store_text(row, 15),
                              .submitted = sqlite3_column_double(row, 16),
                              .started = sqlite3_column_double(row, 17),
                              .ended = sqlite3_column_double(row, 18),
                              .status = sqlite3_column_int(row, 19),
                              .account = store_text(row, 20),
                              .deadline = sqlite3_column_double(row, 21),
                              .drop_late = sqlite3_column_int(row, 22)};
    if (argv && environment)
        reader->each(reader->to, &job);
    else
        reader->failed = true;
    free_words(argv);
    free_words(environment);
}

#define JOBS_OF(wishes, tables)                                                                                        \
    "SELECT number, job.name, kind, argv, cwd, environment, output, ranks_min, ranks_max, nodes_min, nodes_max,"       \
    " wanted, limit_seconds, once, state, reason, submitted, started, ended, status, " wishes " FROM job " tables      \
    " WHERE ?1 OR ended < 0 ORDER BY number"

int journal_jobs(struct journal *journal, bool ended, void (*each)(void *to, const struct journal_job *job), void *to,
                 struct error *error)
{
    struct job_reader reader = {.each = each, .to = to};
    bool wishes;
    if (has_table(journal, "deadline", &wishes, error))
        return -1;
    int failed = store_rows(journal, job_row, &reader, error,
                            wishes ? JOBS_OF("account.name, deadline.time, drop_late",
                                             "LEFT JOIN account ON account.job = number"
                                             " LEFT JOIN deadline ON deadline.job = number")
                                   : JOBS_OF("'', 0, 0", ""),
                            "i", (int)ended);
    return !failed && reader.failed ? error_set(error, ERROR_FAILED, "%s: a job's words cannot be read", journal->path)
                                    : failed;
}

int journal_job_state(struct journal *journal, int64_t job, char **state, struct error *error)
{
    *state = NULL;
    return store_rows(journal, take_word, state, error, "SELECT state FROM job WHERE number=?", "l", job);
}

int journal_after_add(struct journal *journal, int64_t job, int64_t other, struct error *error)
{
    return store_run(journal, "what a job comes after", error, "INSERT OR IGNORE INTO dependency VALUES(?,?)", "ll",
                     job, other);
}

struct after_reader {
    void (*each)(void *to, int64_t other);
    void *to;
};

static void after_row(sqlite3_stmt *row, void *to)
{
    const struct after_reader *reader = to;
    reader->each(reader->to, sqlite3_column_int64(row, 0));
}

int journal_afters(struct journal *journal, int64_t job, void (*each)(void *to, int64_t other), void *to,
                   struct error *error)
{
    struct after_reader reader = {each, to};
    return store_rows(journal, after_row, &reader, error, "SELECT other FROM dependency WHERE job=? ORDER BY other",
                      "l", job);
}

int journal_queueing_set(struct journal *journal, const struct journal_queueing *queueing, struct error *error)
{
    return store_run(journal, "a job's place in the queue", error, "INSERT OR REPLACE INTO queueing VALUES(?,?,?,?,?)",
                     "liiis", queueing->job, queueing->priority, (int)queueing->held, (int)queueing->leaves,
                     queueing->saved);
}

static void queueing_row(sqlite3_stmt *row, void *to)
{
    struct journal_queueing *queueing = to;
    queueing->priority = sqlite3_column_int(row, 0);
    queueing->held = sqlite3_column_int(row, 1);
    queueing->leaves = sqlite3_column_int(row, 2);
    free((char *)queueing->saved);
    queueing->saved = strdup(store_text(row, 3));
}

int journal_queueing_get(struct journal *journal, int64_t job, struct journal_queueing *queueing, struct error *error)
{
    *queueing = (struct journal_queueing){.job = job, .saved = strdup("")};
    return store_rows(journal, queueing_row, queueing, error,
                      "SELECT priority, held, leaves, saved FROM queueing WHERE job=?", "l", job);
}

/* ---- Who holds what ----------------------------------------------------------------------------- */

int journal_hold(struct journal *journal, const char *node, int64_t job, int place, double time, struct error *error)
{
    return store_run(journal, "a job takes a node", error,
                     "INSERT INTO holding(node, job, place, since)"
                     " VALUES(?,?,?,?)",
                     "slid", node, job, place, time);
}

int journal_release(struct journal *journal, const char *node, int64_t job, struct error *error)
{
    return store_change(journal, "a job gives a node back", "it does not hold it", error,
                        "DELETE FROM holding WHERE node=? AND job=?", "sl", node, job);
}

struct holding_reader {
    void (*each)(void *to, const struct journal_holding *holding);
    void *to;
};

static void holding_row(sqlite3_stmt *row, void *to)
{
    const struct holding_reader *reader = to;
    struct journal_holding holding = {store_text(row, 0), sqlite3_column_int64(row, 1), sqlite3_column_double(row, 2)};
    reader->each(reader->to, &holding);
}

int journal_holdings(struct journal *journal, void (*each)(void *to, const struct journal_holding *holding), void *to,
                     struct error *error)
{
    struct holding_reader reader = {each, to};
    return store_rows(journal, holding_row, &reader, error,
                      "SELECT node, job, since FROM holding ORDER BY job, place, node", "");
}

/* ---- What jobs computed on ---------------------------------------------------------------------- */

int journal_stay_end(struct journal *journal, int64_t job, double time, struct error *error)
{
    return store_run(journal, "a job's stay", error, "UPDATE stay SET end=max(?, begin) WHERE job=? AND end<0", "dl",
                     time, job);
}

int journal_count(const char *nodes)
{
    int count = *nodes ? 1 : 0;
    for (; *nodes; nodes++)
        count += *nodes == ',';
    return count;
}

int journal_stay(struct journal *journal, int64_t job, double time, const char *nodes, int ranks, struct error *error)
{
    if (journal_stay_end(journal, job, time, error))
        return -1;
    return store_run(journal, "a job's stay", error, "INSERT INTO stay VALUES(?,?,-1,?,?)", "ldsi", job, time, nodes,
                     ranks);
}

struct stay_reader {
    void (*each)(void *to, const struct journal_stay *stay);
    void *to;
};

static void stay_row(sqlite3_stmt *row, void *to)
{
    const struct stay_reader *reader = to;
    struct journal_stay stay = {.job = sqlite3_column_int64(row, 0),
                                .begin = sqlite3_column_double(row, 1),
                                .end = sqlite3_column_double(row, 2),
                                .nodes = store_text(row, 3),
                                .ranks = sqlite3_column_int(row, 4),
                                .account = store_text(row, 5)};
    reader->each(reader->to, &stay);
}

int journal_stays(struct journal *journal, void (*each)(void *to, const struct journal_stay *stay), void *to,
                  struct error *error)
{
    struct stay_reader reader = {each, to};
    bool accounts;
    if (has_table(journal, "account", &accounts, error))
        return -1;
    return store_rows(journal, stay_row, &reader, error,
                      accounts ? "SELECT stay.job, begin, end, nodes, ranks, name FROM stay LEFT JOIN account"
                                 " ON account.job = stay.job ORDER BY stay.job, begin, stay.rowid"
                               : "SELECT job, begin, end, nodes, ranks, '' FROM stay ORDER BY job, begin, rowid",
                      "");
}

/* ---- What its nodes used ------------------------------------------------------------------------ */

int journal_energy_set(struct journal *journal, int64_t job, double joules, double time, struct error *error)
{
    return store_run(journal, "a job's energy", error, "INSERT OR REPLACE INTO energy VALUES(?,?,?)", "ldd", job,
                     joules, time);
}

struct energy_reader {
    void (*each)(void *to, const struct journal_energy *energy);
    void *to;
};

static void energy_row(sqlite3_stmt *row, void *to)
{
    const struct energy_reader *reader = to;
    const struct journal_energy energy = {sqlite3_column_int64(row, 0), sqlite3_column_double(row, 1),
                                          sqlite3_column_double(row, 2)};
    reader->each(reader->to, &energy);
}

int journal_energies(struct journal *journal, void (*each)(void *to, const struct journal_energy *energy), void *to,
                     struct error *error)
{
    struct energy_reader reader = {each, to};
    bool found;
    if (has_table(journal, "energy", &found, error))
        return -1;
    return found ? store_rows(journal, energy_row, &reader, error, "SELECT job, joules, time FROM energy ORDER BY job",
                              "")
                 : 0;
}

/* ---- Resizes ------------------------------------------------------------------------------------ */

const char *const journal_step_names[JOURNAL_STEPS] = {"decided", "asked",     "prepared",
                                                       "agreed",  "committed", "settled"};

int journal_resize_decided(struct journal *journal, int64_t job, int from, int to, const char *nodes,
                           const char *reason, double time, int64_t *id, struct error *error)
{
    if (store_run(journal, "a resize", error,
                  "INSERT INTO resize(job, from_nodes, to_nodes, nodes, step, decided, outcome, reason)"
                  " VALUES(?,?,?,?,0,?,'',?)",
                  "liisds", job, from, to, nodes, time, reason ? reason : ""))
        return -1;
    *id = sqlite3_last_insert_rowid(journal->database);
    return 0;
}

int journal_resize_step(struct journal *journal, int64_t id, enum journal_step step, double time, struct error *error)
{
    char sql[128];
    snprintf(sql, sizeof sql, "UPDATE resize SET step=max(step, ?), %s=? WHERE id=?", journal_step_names[step]);
    return store_change(journal, "a resize's step", "there is no such resize", error, sql, "idl", (int)step, time, id);
}

int journal_resize_over(struct journal *journal, int64_t id, const char *outcome, const char *reason,
                        struct error *error)
{
    return store_change(journal, "a resize's end", "there is no such resize", error,
                        "UPDATE resize SET outcome=?, reason=coalesce(?, reason) WHERE id=?", "ssl", outcome, reason,
                        id);
}

struct resize_reader {
    void (*each)(void *to, const struct journal_resize *resize);
    void *to;
};

static void resize_row(sqlite3_stmt *row, void *to)
{
    const struct resize_reader *reader = to;
    struct journal_resize resize = {.id = sqlite3_column_int64(row, 0),
                                    .job = sqlite3_column_int64(row, 1),
                                    .from = sqlite3_column_int(row, 2),
                                    .to = sqlite3_column_int(row, 3),
                                    .nodes = store_text(row, 4),
                                    .step = (enum journal_step)sqlite3_column_int(row, 5),
                                    .outcome = store_text(row, 6),
                                    .reason = store_text(row, 7)};
    for (int i = 0; i < JOURNAL_STEPS; i++)
        resize.times[i] = sqlite3_column_double(row, 8 + i);
    reader->each(reader->to, &resize);
}

int journal_resizes(struct journal *journal, bool over, void (*each)(void *to, const struct journal_resize *resize),
                    void *to, struct error *error)
{
    struct resize_reader reader = {each, to};
    return store_rows(journal, resize_row, &reader, error,
                      "SELECT id, job, from_nodes, to_nodes, nodes, step, outcome, reason, decided, asked,"
                      " prepared, agreed, committed, settled FROM resize WHERE ?1 OR outcome='' ORDER BY id",
                      "i", (int)over);
}

int journal_move_set(struct journal *journal, int64_t job, const struct journal_move *move, struct error *error)
{
    if (!move->size)
        return store_run(journal, "a job's move", error, "DELETE FROM move WHERE job=?", "l", job);
    return store_run(journal, "a job's move", error, "INSERT OR REPLACE INTO move VALUES(?,?,?)", "lii", job,
                     move->size, (int)move->drained);
}

static void move_row(sqlite3_stmt *row, void *to)
{
    struct journal_move *move = to;
    *move = (struct journal_move){.size = sqlite3_column_int(row, 0), .drained = sqlite3_column_int(row, 1)};
}

int journal_move_get(struct journal *journal, int64_t job, struct journal_move *move, struct error *error)
{
    *move = (struct journal_move){0};
    return store_rows(journal, move_row, move, error, "SELECT size, drained FROM move WHERE job=?", "l", job);
}

/* ---- What happened ------------------------------------------------------------------------------ */

int journal_event_add(struct journal *journal, const struct journal_event *event, struct error *error)
{
    return store_run(journal, "an event", error,
                     "INSERT INTO event(time, job, kind, text, state, from_nodes, to_nodes, nodes, at)"
                     " VALUES(?,?,?,?,?,?,?,?,?)",
                     "dlsssiisd", event->time, event->job, event->kind, event->text, event->state, event->from,
                     event->to, event->nodes, event->at);
}

struct event_reader {
    void (*each)(void *to, const struct journal_event *event);
    void *to;
};

static void event_row(sqlite3_stmt *row, void *to)
{
    const struct event_reader *reader = to;
    struct journal_event event = {.id = sqlite3_column_int64(row, 0),
                                  .time = sqlite3_column_double(row, 1),
                                  .job = sqlite3_column_int64(row, 2),
                                  .kind = store_text(row, 3),
                                  .text = store_text(row, 4),
                                  .state = (const char *)sqlite3_column_text(row, 5),
                                  .from = sqlite3_column_int(row, 6),
                                  .to = sqlite3_column_int(row, 7),
                                  .nodes = (const char *)sqlite3_column_text(row, 8),
                                  .at = sqlite3_column_double(row, 9)};
    reader->each(reader->to, &event);
}

int journal_events(struct journal *journal, int64_t job, int most,
                   void (*each)(void *to, const struct journal_event *event), void *to, struct error *error)
{
    struct event_reader reader = {each, to};
    return store_rows(journal, event_row, &reader, error,
                      "SELECT * FROM (SELECT id, time, job, kind, text, state, from_nodes, to_nodes, nodes, at FROM"
                      " event WHERE ?1=0 OR job=?1 ORDER BY id DESC LIMIT ?2) ORDER BY id",
                      "li", job, most > 0 ? most : -1);
}
