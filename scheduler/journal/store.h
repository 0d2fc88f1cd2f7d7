/*
 * The SQLite file below the journal: statements with their parameters. A parameter for each letter of `types`: i int,
 * l int64_t, d double, s text that may be NULL.
 */
#ifndef SCHEDULER_JOURNAL_STORE_H
#define SCHEDULER_JOURNAL_STORE_H

#include <sqlite3.h>

#include "scheduler/journal/journal.h"

struct journal {
    sqlite3 *database;
    char *path;
};

/* A change; `doing` begins the line of a failure. */
int store_run(struct journal *journal, const char *doing, struct error *error, const char *sql, const char *types, ...);
/* The same, and a failure when it changes nothing: `missing` says so. */
int store_change(struct journal *journal, const char *doing, const char *missing, struct error *error, const char *sql,
                 const char *types, ...);

/* Rows: a reader makes what it likes of each. */
int store_rows(struct journal *journal, void (*row)(sqlite3_stmt *statement, void *to), void *to, struct error *error,
               const char *sql, const char *types, ...);

/* A column that is never NULL for its reader. */
const char *store_text(sqlite3_stmt *statement, int column);

#endif
