/*
 * One statement with its parameters, in the order of their letters in `types`: i int, l int64_t, d double, s text that
 * may be NULL.
 */
#ifndef SCHEDULER_JOURNAL_STATEMENT_H
#define SCHEDULER_JOURNAL_STATEMENT_H

#include <sqlite3.h>

#include "scheduler/journal/store.h"

/* A change; `doing` begins the line of a failure. */
int statement_run(struct journal *journal, const char *doing, struct error *error, const char *sql, const char *types,
                  ...);
/* The same, and a failure when it changes nothing: `missing` says so. */
int statement_change(struct journal *journal, const char *doing, const char *missing, struct error *error,
                     const char *sql, const char *types, ...);

/* Rows: a reader makes what it likes of each. */
int statement_rows(struct journal *journal, void (*row)(sqlite3_stmt *statement, void *to), void *to,
                   struct error *error, const char *sql, const char *types, ...);

/* The first column of the first row. */
int statement_number(struct journal *journal, const char *sql, int64_t *number, struct error *error);
/* *text: the caller's to free; NULL where there is no row. */
int statement_text(struct journal *journal, const char *sql, char **text, struct error *error);

/* A column that is never NULL for its reader. */
const char *column_text(sqlite3_stmt *statement, int column);

#endif
