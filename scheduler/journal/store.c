/*
 * The SQLite file of the journal: what a failure is called, transactions, statements with parameters, the tables, and
 * opening it.
 */
#include "scheduler/journal/store.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Failures and transactions ------------------------------------------------------------------ */

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

/* What SQLite last said, as a line: -1. ERROR_REFUSED where a rule of the file forbids it. */
static int failed_as(const struct journal *journal, const char *doing, struct error *error)
{
    int code = sqlite3_errcode(journal->database);
    if (code == SQLITE_NOMEM)
        return error_memory(error);
    return error_set(error, code == SQLITE_CONSTRAINT ? ERROR_REFUSED : ERROR_FAILED, "%s: %s: %s%s", journal->path,
                     doing, sqlite3_errmsg(journal->database), advice(code));
}

/* SQL without parameters and rows. */
static int execute_sql(struct journal *journal, const char *doing, const char *sql, struct error *error)
{
    return sqlite3_exec(journal->database, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : failed_as(journal, doing, error);
}

int journal_begin(struct journal *journal, struct error *error)
{
    return execute_sql(journal, "cannot begin a change", "BEGIN IMMEDIATE", error);
}

int journal_commit(struct journal *journal, struct error *error)
{
    if (!execute_sql(journal, "cannot keep a change", "COMMIT", error))
        return 0;
    journal_rollback(journal);
    return -1;
}

void journal_rollback(struct journal *journal)
{
    if (journal->database && !sqlite3_get_autocommit(journal->database))
        sqlite3_exec(journal->database, "ROLLBACK", NULL, NULL, NULL);
}

/* ---- Statements --------------------------------------------------------------------------------- */

static int bind_values(sqlite3_stmt *statement, const char *types, va_list *values)
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

static sqlite3_stmt *prepare_statement(struct journal *journal, const char *sql, const char *types, va_list *values)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(journal->database, sql, -1, &statement, NULL) != SQLITE_OK)
        return NULL;
    if (bind_values(statement, types, values) == SQLITE_OK)
        return statement;
    sqlite3_finalize(statement);
    return NULL;
}

static int run_once(struct journal *journal, const char *doing, struct error *error, const char *sql, const char *types,
                    va_list *values)
{
    sqlite3_stmt *statement = prepare_statement(journal, sql, types, values);
    int failed = !statement || sqlite3_step(statement) != SQLITE_DONE ? failed_as(journal, doing, error) : 0;
    sqlite3_finalize(statement);
    return failed;
}

int store_run(struct journal *journal, const char *doing, struct error *error, const char *sql, const char *types, ...)
{
    va_list values;
    va_start(values, types);
    int failed = run_once(journal, doing, error, sql, types, &values);
    va_end(values);
    return failed;
}

int store_change(struct journal *journal, const char *doing, const char *missing, struct error *error, const char *sql,
                 const char *types, ...)
{
    va_list values;
    va_start(values, types);
    int failed = run_once(journal, doing, error, sql, types, &values);
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
    return code == SQLITE_DONE ? 0 : failed_as(journal, "cannot be read", error);
}

int store_rows(struct journal *journal, void (*row)(sqlite3_stmt *statement, void *to), void *to, struct error *error,
               const char *sql, const char *types, ...)
{
    va_list values;
    va_start(values, types);
    sqlite3_stmt *statement = prepare_statement(journal, sql, types, &values);
    va_end(values);
    int failed = statement ? each_row(journal, statement, row, to, error) : failed_as(journal, "cannot be read", error);
    sqlite3_finalize(statement);
    return failed;
}

static void take_number(sqlite3_stmt *statement, void *to)
{
    *(int64_t *)to = sqlite3_column_int64(statement, 0);
}

/* The first column of the first row. */
static int read_number(struct journal *journal, const char *sql, int64_t *number, struct error *error)
{
    return store_rows(journal, take_number, number, error, sql, "");
}

static void take_text(sqlite3_stmt *statement, void *to)
{
    char **text = to;
    if (!*text)
        *text = strdup(store_text(statement, 0));
}

/* *text: the caller's to free; NULL where there is no row. */
static int read_text(struct journal *journal, const char *sql, char **text, struct error *error)
{
    *text = NULL;
    return store_rows(journal, take_text, text, error, sql, "");
}

const char *store_text(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return text ? text : "";
}

/* ---- The tables --------------------------------------------------------------------------------- */

/*
 * What must never be, the file itself refuses: a node with two jobs, a job that has ended and holds a node, a job with
 * two resizes at a time.
 */

enum { LAYOUT_VERSION = 1 };

static const char *const tables =
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE node(number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, host TEXT NOT NULL,"
    " slots INTEGER NOT NULL CHECK(slots > 0), state TEXT NOT NULL CHECK(state IN ('up', 'drain', 'down')),"
    " reason TEXT NOT NULL, since REAL NOT NULL);"
    "CREATE TABLE job(number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL,"
    " kind TEXT NOT NULL CHECK(kind IN ('rigid', 'moldable', 'malleable', 'evolving')), argv TEXT NOT NULL,"
    " cwd TEXT NOT NULL, environment TEXT NOT NULL, output TEXT NOT NULL, ranks_min INTEGER NOT NULL,"
    " ranks_max INTEGER NOT NULL, nodes_min INTEGER NOT NULL, nodes_max INTEGER NOT NULL, wanted INTEGER NOT NULL,"
    " limit_seconds REAL NOT NULL, once INTEGER NOT NULL, state TEXT NOT NULL CHECK(state IN ('waiting', 'starting',"
    " 'running', 'adapting', 'ending', 'done', 'failed', 'cancelled')), reason TEXT NOT NULL,"
    " submitted REAL NOT NULL, started REAL NOT NULL, ended REAL NOT NULL, status INTEGER NOT NULL);"
    "CREATE TABLE holding(node TEXT PRIMARY KEY REFERENCES node(name), job INTEGER NOT NULL REFERENCES job(number),"
    " place INTEGER NOT NULL, since REAL NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE stay(job INTEGER NOT NULL REFERENCES job(number), begin REAL NOT NULL, end REAL NOT NULL,"
    " nodes TEXT NOT NULL, ranks INTEGER NOT NULL);"
    "CREATE UNIQUE INDEX stay_open ON stay(job) WHERE end < 0;"
    "CREATE INDEX stay_job ON stay(job, begin);"
    "CREATE TABLE resize(id INTEGER PRIMARY KEY AUTOINCREMENT, job INTEGER NOT NULL REFERENCES job(number),"
    " from_nodes INTEGER NOT NULL, to_nodes INTEGER NOT NULL, nodes TEXT NOT NULL, step INTEGER NOT NULL,"
    " decided REAL NOT NULL DEFAULT -1, asked REAL NOT NULL DEFAULT -1, prepared REAL NOT NULL DEFAULT -1,"
    " agreed REAL NOT NULL DEFAULT -1, committed REAL NOT NULL DEFAULT -1, settled REAL NOT NULL DEFAULT -1,"
    " outcome TEXT NOT NULL CHECK(outcome IN ('', 'done', 'refused', 'failed')), reason TEXT NOT NULL);"
    "CREATE UNIQUE INDEX resize_open ON resize(job) WHERE outcome = '';"
    "CREATE TABLE event(id INTEGER PRIMARY KEY AUTOINCREMENT, time REAL NOT NULL, job INTEGER NOT NULL,"
    " kind TEXT NOT NULL, text TEXT NOT NULL, state TEXT, from_nodes INTEGER NOT NULL, to_nodes INTEGER NOT NULL,"
    " nodes TEXT, at REAL NOT NULL);"
    "CREATE INDEX event_job ON event(job, id);"
    "CREATE TRIGGER ended_holds_nothing BEFORE UPDATE OF state ON job"
    " WHEN NEW.state IN ('done', 'failed', 'cancelled') AND EXISTS (SELECT 1 FROM holding WHERE job = NEW.number)"
    " BEGIN SELECT RAISE(ABORT, 'a job that has ended holds a node'); END;"
    "CREATE TRIGGER ended_gets_nothing BEFORE INSERT ON holding"
    " WHEN (SELECT state FROM job WHERE number = NEW.job) IN ('done', 'failed', 'cancelled')"
    " BEGIN SELECT RAISE(ABORT, 'a job that has ended is given a node'); END;"
    "PRAGMA user_version=1;";

/* Came later: a file of before gets it when it is opened for writing. */
static const char *const later_tables =
    "CREATE TABLE IF NOT EXISTS history(user INTEGER NOT NULL, program TEXT NOT NULL, phase INTEGER NOT NULL,"
    " ranks INTEGER NOT NULL, iterations REAL NOT NULL, seconds REAL NOT NULL, mtct REAL NOT NULL, trend REAL NOT NULL,"
    " variance REAL NOT NULL, lo REAL NOT NULL, hi REAL NOT NULL, job INTEGER NOT NULL, time REAL NOT NULL,"
    " PRIMARY KEY(user, program, phase, ranks)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS dependency(job INTEGER NOT NULL REFERENCES job(number),"
    " other INTEGER NOT NULL REFERENCES job(number), PRIMARY KEY(job, other)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS energy(job INTEGER PRIMARY KEY REFERENCES job(number), joules REAL NOT NULL,"
    " time REAL NOT NULL);"
    "CREATE TABLE IF NOT EXISTS queueing(job INTEGER PRIMARY KEY REFERENCES job(number), priority INTEGER NOT NULL,"
    " held INTEGER NOT NULL, leaves INTEGER NOT NULL, saved TEXT NOT NULL);"
    "CREATE TABLE IF NOT EXISTS account(job INTEGER PRIMARY KEY REFERENCES job(number), name TEXT NOT NULL);"
    "CREATE TABLE IF NOT EXISTS deadline(job INTEGER PRIMARY KEY REFERENCES job(number), time REAL NOT NULL,"
    " drop_late INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS move(job INTEGER PRIMARY KEY REFERENCES job(number), size INTEGER NOT NULL,"
    " drained INTEGER NOT NULL);";

/* -1: the line says why. */
static int version_of(struct journal *journal, struct error *error)
{
    int64_t version = 0;
    if (read_number(journal, "PRAGMA user_version", &version, error))
        return -1;
    if (version > LAYOUT_VERSION)
        return error_set(error, ERROR_FAILED,
                         "%s: written by a newer epoprm (layout %d, this one knows %d): use that one, or move the "
                         "file away",
                         journal->path, (int)version, LAYOUT_VERSION);
    return (int)version;
}

static int make_tables(struct journal *journal, struct error *error)
{
    if (journal_begin(journal, error))
        return -1;
    if (!execute_sql(journal, "its tables cannot be made", tables, error))
        return journal_commit(journal, error);
    journal_rollback(journal);
    return -1;
}

/* SQLite's findings have several lines. */
static void to_one_line(char *text)
{
    for (; text && *text; text++)
        if (*text == '\n')
            *text = ' ';
}

static int check_soundness(struct journal *journal, struct error *error)
{
    char *said = NULL;
    if (read_text(journal, "PRAGMA quick_check(1)", &said, error))
        return -1;
    int failed = 0;
    to_one_line(said);
    if (!said || sqlite3_stricmp(said, "ok"))
        failed = error_set(error, ERROR_FAILED, "%s: it is damaged (%s): move it away, or put a copy of it there",
                           journal->path, said ? said : "no answer");
    free(said);
    return failed;
}

/* The tables are made where the file is new. A machine that loses its power loses the jobs, too, so what is written
 * need not be on the disk at once. */
static int make_layout(struct journal *journal, struct error *error)
{
    int version = version_of(journal, error);
    if (version < 0 || check_soundness(journal, error) ||
        execute_sql(journal, "cannot be written", "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL", error))
        return -1;
    if (!version && make_tables(journal, error))
        return -1;
    return execute_sql(journal, "its tables cannot be made", later_tables, error);
}

/* For a process that only reads. */
static int check_layout(struct journal *journal, struct error *error)
{
    int version = version_of(journal, error);
    if (version)
        return version < 0 ? -1 : 0;
    return error_set(error, ERROR_FAILED, "%s: has no tables of epoprm", journal->path);
}

/* ---- Opening and closing ------------------------------------------------------------------------ */

static const int patience_ms = 5000; /* for another process that writes */

static int open_file(struct journal *journal, int flags, struct error *error)
{
    if (sqlite3_open_v2(journal->path, &journal->database, flags | SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        return journal->database ? failed_as(journal, "cannot be opened", error) : error_memory(error);
    sqlite3_extended_result_codes(journal->database, 0);
    sqlite3_busy_timeout(journal->database, patience_ms);
    return execute_sql(journal, "cannot be read", "PRAGMA foreign_keys=ON", error);
}

static int new_journal(struct journal **result, const char *path, struct error *error)
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
    if (new_journal(journal, path, error))
        return -1;
    mask = umask(077);
    int failed = open_file(*journal, SQLITE_OPEN_CREATE, error) || make_layout(*journal, error);
    umask(mask);
    return failed ? close_failed(journal) : 0;
}

int journal_open_reading(struct journal **journal, const char *path, struct error *error)
{
    *journal = NULL;
    if (access(path, F_OK))
        return error_set(error, ERROR_REFUSED, "%s: %s: no daemon of epoprm has run here", path, strerror(errno));
    if (new_journal(journal, path, error))
        return -1;
    if (open_file(*journal, 0, error) || check_layout(*journal, error) ||
        execute_sql(*journal, "cannot be read", "PRAGMA query_only=ON", error))
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
