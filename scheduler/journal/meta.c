/* Words of the daemon: see journal.h. */
#include <stdlib.h>
#include <string.h>

#include "scheduler/journal/journal.h"
#include "scheduler/journal/statement.h"

int journal_meta_set(struct journal *journal, const char *key, const char *value, struct error *error)
{
    return statement_run(journal, key, error,
                         "INSERT INTO meta VALUES(?,?) ON CONFLICT(key) DO UPDATE SET value=excluded.value", "ss", key,
                         value);
}

static void take(sqlite3_stmt *row, void *to)
{
    *(char **)to = strdup(column_text(row, 0));
}

int journal_meta_get(struct journal *journal, const char *key, char **value, struct error *error)
{
    *value = NULL;
    return statement_rows(journal, take, value, error, "SELECT value FROM meta WHERE key=?", "s", key);
}
