/* What jobs computed on: see journal.h. */
#include "scheduler/journal/journal.h"
#include "scheduler/journal/statement.h"

int journal_stay_end(struct journal *journal, int64_t job, double time, struct error *error)
{
    return statement_run(journal, "a job's stay", error, "UPDATE stay SET end=max(?, begin) WHERE job=? AND end<0",
                         "dl", time, job);
}

int journal_stay(struct journal *journal, int64_t job, double time, const char *nodes, int ranks, struct error *error)
{
    if (journal_stay_end(journal, job, time, error))
        return -1;
    return statement_run(journal, "a job's stay", error, "INSERT INTO stay VALUES(?,?,-1,?,?)", "ldsi", job, time,
                         nodes, ranks);
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
                                .nodes = column_text(row, 3),
                                .ranks = sqlite3_column_int(row, 4)};
    reader->each(reader->to, &stay);
}

int journal_stays(struct journal *journal, void (*each)(void *to, const struct journal_stay *stay), void *to,
                  struct error *error)
{
    struct stay_reader reader = {each, to};
    return statement_rows(journal, stay_row, &reader, error,
                          "SELECT job, begin, end, nodes, ranks FROM stay ORDER BY job, begin, rowid", "");
}
