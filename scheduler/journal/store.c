/* Failures and transactions of the file: see store.h and journal.h. */
#include "scheduler/journal/store.h"

#include <stddef.h>

static const char *advice(int code)
{
    switch (code & 0xff) {
    case SQLITE_FULL:
        return ": make room on its disk";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return ": it is damaged; move it away, or put a copy of it there";
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
        return ": its directory must be there, and be writable";
    case SQLITE_BUSY:
        return ": another process writes to it";
    default:
        return "";
    }
}

int store_failed(const struct journal *journal, const char *doing, struct error *error)
{
    int code = sqlite3_errcode(journal->database);
    if (code == SQLITE_NOMEM)
        return error_memory(error);
    return error_set(error, code == SQLITE_CONSTRAINT ? ERROR_REFUSED : ERROR_FAILED, "%s: %s: %s%s", journal->path,
                     doing, sqlite3_errmsg(journal->database), advice(code));
}

int store_execute(struct journal *journal, const char *doing, const char *sql, struct error *error)
{
    return sqlite3_exec(journal->database, sql, NULL, NULL, NULL) == SQLITE_OK ? 0
                                                                               : store_failed(journal, doing, error);
}

int journal_begin(struct journal *journal, struct error *error)
{
    return store_execute(journal, "cannot begin a change", "BEGIN IMMEDIATE", error);
}

int journal_commit(struct journal *journal, struct error *error)
{
    if (!store_execute(journal, "cannot keep a change", "COMMIT", error))
        return 0;
    journal_rollback(journal);
    return -1;
}

void journal_rollback(struct journal *journal)
{
    if (journal->database && !sqlite3_get_autocommit(journal->database))
        sqlite3_exec(journal->database, "ROLLBACK", NULL, NULL, NULL);
}
