/* How far each resize is: see journal.h. */
#include <stdio.h>

#include "scheduler/journal/journal.h"
#include "scheduler/journal/statement.h"

const char *const journal_step_names[JOURNAL_STEPS] = {"decided", "asked",     "prepared",
                                                       "agreed",  "committed", "settled"};

int journal_resize_decided(struct journal *journal, int64_t job, int from, int to, const char *nodes,
                           const char *reason, double time, int64_t *id, struct error *error)
{
    if (statement_run(journal, "a resize", error,
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
    return statement_change(journal, "a resize's step", "there is no such resize", error, sql, "idl", (int)step, time,
                            id);
}

int journal_resize_over(struct journal *journal, int64_t id, const char *outcome, const char *reason,
                        struct error *error)
{
    return statement_change(journal, "a resize's end", "there is no such resize", error,
                            "UPDATE resize SET outcome=?, reason=coalesce(?, reason) WHERE id=?", "ssl", outcome,
                            reason, id);
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
                                    .nodes = column_text(row, 4),
                                    .step = (enum journal_step)sqlite3_column_int(row, 5),
                                    .outcome = column_text(row, 6),
                                    .reason = column_text(row, 7)};
    for (int i = 0; i < JOURNAL_STEPS; i++)
        resize.times[i] = sqlite3_column_double(row, 8 + i);
    reader->each(reader->to, &resize);
}

int journal_resizes(struct journal *journal, bool over, void (*each)(void *to, const struct journal_resize *resize),
                    void *to, struct error *error)
{
    struct resize_reader reader = {each, to};
    return statement_rows(journal, resize_row, &reader, error,
                          "SELECT id, job, from_nodes, to_nodes, nodes, step, outcome, reason, decided, asked,"
                          " prepared, agreed, committed, settled FROM resize WHERE ?1 OR outcome='' ORDER BY id",
                          "i", (int)over);
}
