/* What happened: see journal.h. */
#include "scheduler/journal/journal.h"
#include "scheduler/journal/statement.h"

int journal_event_add(struct journal *journal, const struct journal_event *event, struct error *error)
{
    return statement_run(journal, "an event", error,
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
                                  .kind = column_text(row, 3),
                                  .text = column_text(row, 4),
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
    return statement_rows(journal, event_row, &reader, error,
                          "SELECT * FROM (SELECT id, time, job, kind, text, state, from_nodes, to_nodes, nodes, at FROM"
                          " event WHERE ?1=0 OR job=?1 ORDER BY id DESC LIMIT ?2) ORDER BY id",
                          "li", job, most > 0 ? most : -1);
}
