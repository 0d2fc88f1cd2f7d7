/* Statements with parameters: see statement.h. */
#include "scheduler/journal/statement.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static int bind(sqlite3_stmt *statement, const char *types, va_list *values)
{
    int failed = SQLITE_OK;
    for (int i = 0; types[i] && !failed; i++)
        switch (types[i]) {
        case 'i':
            failed = sqlite3_bind_int(statement, i + 1, va_arg(*values, int));
            break;
        case 'l':
            failed = sqlite3_bind_int64(statement, i + 1, va_arg(*values, int64_t));
            break;
        case 'd':
            failed = sqlite3_bind_double(statement, i + 1, va_arg(*values, double));
            break;
        default:
            failed = sqlite3_bind_text(statement, i + 1, va_arg(*values, const char *), -1, SQLITE_TRANSIENT);
        }
    return failed;
}

static sqlite3_stmt *prepare(struct journal *journal, const char *sql, const char *types, va_list *values)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(journal->database, sql, -1, &statement, NULL) != SQLITE_OK)
        return NULL;
    if (bind(statement, types, values) == SQLITE_OK)
        return statement;
    sqlite3_finalize(statement);
    return NULL;
}

static int run(struct journal *journal, const char *doing, struct error *error, const char *sql, const char *types,
               va_list *values)
{
    sqlite3_stmt *statement = prepare(journal, sql, types, values);
    int failed = !statement || sqlite3_step(statement) != SQLITE_DONE ? store_failed(journal, doing, error) : 0;
    sqlite3_finalize(statement);
    return failed;
}

int statement_run(struct journal *journal, const char *doing, struct error *error, const char *sql, const char *types,
                  ...)
{
    va_list values;
    va_start(values, types);
    int failed = run(journal, doing, error, sql, types, &values);
    va_end(values);
    return failed;
}

int statement_change(struct journal *journal, const char *doing, const char *missing, struct error *error,
                     const char *sql, const char *types, ...)
{
    va_list values;
    va_start(values, types);
    int failed = run(journal, doing, error, sql, types, &values);
    va_end(values);
    if (!failed && sqlite3_changes(journal->database) == 0)
        failed = error_set(error, ERROR_REFUSED, "%s: %s: %s", journal->path, doing, missing);
    return failed;
}

static int each_row(struct journal *journal, sqlite3_stmt *statement, void (*row)(sqlite3_stmt *statement, void *to),
                    void *to, struct error *error)
{
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW)
        row(statement, to);
    return code == SQLITE_DONE ? 0 : store_failed(journal, "cannot be read", error);
}

int statement_rows(struct journal *journal, void (*row)(sqlite3_stmt *statement, void *to), void *to,
                   struct error *error, const char *sql, const char *types, ...)
{
    va_list values;
    va_start(values, types);
    sqlite3_stmt *statement = prepare(journal, sql, types, &values);
    va_end(values);
    int failed =
        statement ? each_row(journal, statement, row, to, error) : store_failed(journal, "cannot be read", error);
    sqlite3_finalize(statement);
    return failed;
}

static void take_number(sqlite3_stmt *statement, void *to)
{
    *(int64_t *)to = sqlite3_column_int64(statement, 0);
}

int statement_number(struct journal *journal, const char *sql, int64_t *number, struct error *error)
{
    return statement_rows(journal, take_number, number, error, sql, "");
}

static void take_text(sqlite3_stmt *statement, void *to)
{
    char **text = to;
    if (!*text)
        *text = strdup(column_text(statement, 0));
}

int statement_text(struct journal *journal, const char *sql, char **text, struct error *error)
{
    *text = NULL;
    return statement_rows(journal, take_text, text, error, sql, "");
}

const char *column_text(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return text ? text : "";
}
