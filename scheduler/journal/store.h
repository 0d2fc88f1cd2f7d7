/* The file of the journal, as the files of this folder see it. */
#ifndef SCHEDULER_JOURNAL_STORE_H
#define SCHEDULER_JOURNAL_STORE_H

#include <sqlite3.h>

#include "scheduler/journal/journal.h"

struct journal {
    sqlite3 *database;
    char *path;
};

/* What SQLite last said, as a line: -1. ERROR_REFUSED where a rule of the file forbids it. */
int store_failed(const struct journal *journal, const char *doing, struct error *error);

/* SQL without parameters and rows. */
int store_execute(struct journal *journal, const char *doing, const char *sql, struct error *error);

#endif
