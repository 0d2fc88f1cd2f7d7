/* Nodes, and which job holds which: see journal.h. */
#include <stddef.h>

#include "scheduler/journal/journal.h"
#include "scheduler/journal/statement.h"

int journal_node_put(struct journal *journal, const struct journal_node *node, struct error *error)
{
    return statement_run(journal, "a node", error,
                         "INSERT INTO node VALUES(?,?,?,?,?,?,?) ON CONFLICT(number) DO UPDATE SET name=excluded.name,"
                         " host=excluded.host, slots=excluded.slots, state=excluded.state, reason=excluded.reason,"
                         " since=excluded.since",
                         "ississd", node->number, node->name, node->host, node->slots, node->state,
                         node->reason ? node->reason : "", node->since);
}

int journal_node_state(struct journal *journal, const char *name, const char *state, const char *reason, double time,
                       struct error *error)
{
    return statement_change(journal, "a node's state", "there is no such node", error,
                            "UPDATE node SET state=?, reason=?, since=? WHERE name=?", "ssds", state,
                            reason ? reason : "", time, name);
}

struct node_reader {
    void (*each)(void *to, const struct journal_node *node);
    void *to;
};

static void node_row(sqlite3_stmt *row, void *to)
{
    const struct node_reader *reader = to;
    struct journal_node node = {.number = sqlite3_column_int(row, 0),
                                .name = column_text(row, 1),
                                .host = column_text(row, 2),
                                .slots = sqlite3_column_int(row, 3),
                                .state = column_text(row, 4),
                                .reason = column_text(row, 5),
                                .since = sqlite3_column_double(row, 6)};
    reader->each(reader->to, &node);
}

int journal_nodes(struct journal *journal, void (*each)(void *to, const struct journal_node *node), void *to,
                  struct error *error)
{
    struct node_reader reader = {each, to};
    return statement_rows(journal, node_row, &reader, error,
                          "SELECT number, name, host, slots, state, reason, since FROM node ORDER BY number", "");
}

/* ---- Holdings ----------------------------------------------------------------------------- */

int journal_hold(struct journal *journal, const char *node, int64_t job, int place, double time, struct error *error)
{
    return statement_run(journal, "a job takes a node", error,
                         "INSERT INTO holding(node, job, place, since)"
                         " VALUES(?,?,?,?)",
                         "slid", node, job, place, time);
}

int journal_release(struct journal *journal, const char *node, int64_t job, struct error *error)
{
    return statement_change(journal, "a job gives a node back", "it does not hold it", error,
                            "DELETE FROM holding WHERE node=? AND job=?", "sl", node, job);
}

struct holding_reader {
    void (*each)(void *to, const struct journal_holding *holding);
    void *to;
};

static void holding_row(sqlite3_stmt *row, void *to)
{
    const struct holding_reader *reader = to;
    struct journal_holding holding = {column_text(row, 0), sqlite3_column_int64(row, 1), sqlite3_column_double(row, 2)};
    reader->each(reader->to, &holding);
}

int journal_holdings(struct journal *journal, void (*each)(void *to, const struct journal_holding *holding), void *to,
                     struct error *error)
{
    struct holding_reader reader = {each, to};
    return statement_rows(journal, holding_row, &reader, error,
                          "SELECT node, job, since FROM holding ORDER BY job, place, node", "");
}
