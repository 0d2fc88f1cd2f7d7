/*
 * The tables of the journal. What must never be, the file itself refuses: a node with two jobs, a job that has ended
 * and holds a node, a job with two resizes at a time.
 */
#include "scheduler/journal/layout.h"

#include <stdlib.h>

#include "scheduler/journal/statement.h"

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

/* -1: the line says why. */
static int version_of(struct journal *journal, struct error *error)
{
    int64_t version = 0;
    if (statement_number(journal, "PRAGMA user_version", &version, error))
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
    if (!store_execute(journal, "its tables cannot be made", tables, error))
        return journal_commit(journal, error);
    journal_rollback(journal);
    return -1;
}

/* SQLite's findings have several lines. */
static void one_line(char *text)
{
    for (; text && *text; text++)
        if (*text == '\n')
            *text = ' ';
}

static int sound(struct journal *journal, struct error *error)
{
    char *said = NULL;
    if (statement_text(journal, "PRAGMA quick_check(1)", &said, error))
        return -1;
    int failed = 0;
    one_line(said);
    if (!said || sqlite3_stricmp(said, "ok"))
        failed = error_set(error, ERROR_FAILED, "%s: it is damaged (%s): move it away, or put a copy of it there",
                           journal->path, said ? said : "no answer");
    free(said);
    return failed;
}

/* A machine that loses its power loses the jobs, too: what is written need not be on the disk at once. */
int layout_make(struct journal *journal, struct error *error)
{
    int version = version_of(journal, error);
    if (version < 0 || sound(journal, error) ||
        store_execute(journal, "cannot be written", "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL", error))
        return -1;
    return version ? 0 : make_tables(journal, error);
}

int layout_check(struct journal *journal, struct error *error)
{
    int version = version_of(journal, error);
    if (version)
        return version < 0 ? -1 : 0;
    return error_set(error, ERROR_FAILED, "%s: has no tables of epoprm", journal->path);
}
