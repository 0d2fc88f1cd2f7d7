/* Opening and closing: see journal.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scheduler/journal/layout.h"

static const int patience_ms = 5000; /* for another process that writes */

static int store_open(struct journal *journal, int flags, struct error *error)
{
    if (sqlite3_open_v2(journal->path, &journal->database, flags | SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        return journal->database ? store_failed(journal, "cannot be opened", error) : error_memory(error);
    sqlite3_extended_result_codes(journal->database, 0);
    sqlite3_busy_timeout(journal->database, patience_ms);
    return store_execute(journal, "cannot be read", "PRAGMA foreign_keys=ON", error);
}

static int opened(struct journal **result, const char *path, struct error *error)
{
    struct journal *journal = calloc(1, sizeof *journal);
    *result = NULL;
    if (!journal || !(journal->path = strdup(path))) {
        free(journal);
        return error_memory(error);
    }
    *result = journal;
    return 0;
}

static int close_failed(struct journal **journal)
{
    journal_close(*journal);
    *journal = NULL;
    return -1;
}

int journal_open(struct journal **journal, const char *path, struct error *error)
{
    mode_t mask;
    if (opened(journal, path, error))
        return -1;
    mask = umask(077);
    int failed = store_open(*journal, SQLITE_OPEN_CREATE, error) || layout_make(*journal, error);
    umask(mask);
    return failed ? close_failed(journal) : 0;
}

int journal_open_reading(struct journal **journal, const char *path, struct error *error)
{
    *journal = NULL;
    if (access(path, F_OK))
        return error_set(error, ERROR_REFUSED, "%s: %s: no daemon of epoprm has run here", path, strerror(errno));
    if (opened(journal, path, error))
        return -1;
    if (store_open(*journal, 0, error) || layout_check(*journal, error) ||
        store_execute(*journal, "cannot be read", "PRAGMA query_only=ON", error))
        return close_failed(journal);
    return 0;
}

void journal_close(struct journal *journal)
{
    if (!journal)
        return;
    journal_rollback(journal);
    sqlite3_close(journal->database);
    free(journal->path);
    free(journal);
}
