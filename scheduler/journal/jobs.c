/* Jobs: see journal.h. */
#include <stdlib.h>

#include "scheduler/journal/journal.h"
#include "scheduler/journal/statement.h"
#include "scheduler/journal/words.h"

static int add(struct journal *journal, const struct journal_job *job, const char *argv, const char *environment,
               struct error *error)
{
    return statement_run(journal, "a job", error,
                         "INSERT INTO job(name, kind, argv, cwd, environment, output, ranks_min, ranks_max, nodes_min,"
                         " nodes_max, wanted, limit_seconds, once, submitted, state, reason, started, ended, status)"
                         " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,'waiting','',-1,-1,-1)",
                         "ssssssiiiiidid", job->name, job->kind, argv, job->cwd, environment,
                         job->output ? job->output : "", job->ranks_min, job->ranks_max, job->nodes_min, job->nodes_max,
                         job->wanted, job->limit, (int)job->once, job->submitted);
}

int journal_job_add(struct journal *journal, const struct journal_job *job, int64_t *number, struct error *error)
{
    char *argv = words_text(job->argv), *environment = words_text(job->environment);
    int failed = argv && environment ? add(journal, job, argv, environment, error) : error_memory(error);
    if (!failed)
        *number = sqlite3_last_insert_rowid(journal->database);
    free(argv);
    free(environment);
    return failed;
}

static const char *const missing = "there is no such job";

int journal_job_state(struct journal *journal, int64_t job, const char *state, const char *reason, struct error *error)
{
    return statement_change(journal, "a job's state", missing, error, "UPDATE job SET state=?, reason=? WHERE number=?",
                            "ssl", state, reason ? reason : "", job);
}

int journal_job_kind(struct journal *journal, int64_t job, const char *kind, struct error *error)
{
    return statement_change(journal, "a job's kind", missing, error, "UPDATE job SET kind=? WHERE number=?", "sl", kind,
                            job);
}

int journal_job_output(struct journal *journal, int64_t job, const char *output, struct error *error)
{
    return statement_change(journal, "a job's output", missing, error, "UPDATE job SET output=? WHERE number=?", "sl",
                            output, job);
}

int journal_job_started(struct journal *journal, int64_t job, double time, struct error *error)
{
    return statement_change(journal, "a job's start", missing, error, "UPDATE job SET started=? WHERE number=?", "dl",
                            time, job);
}

int journal_job_ended(struct journal *journal, int64_t job, const char *state, const char *reason, int status,
                      double time, struct error *error)
{
    return statement_change(journal, "a job's end", missing, error,
                            "UPDATE job SET state=?, reason=?, status=?, ended=? WHERE number=?", "ssidl", state,
                            reason ? reason : "", status, time, job);
}

/* ---- Reading ------------------------------------------------------------------------------ */

struct job_reader {
    void (*each)(void *to, const struct journal_job *job);
    void *to;
    bool failed; /* no memory */
};

/* In the order of `columns`. */
static void job_row(sqlite3_stmt *row, void *to)
{
    struct job_reader *reader = to;
    char **argv = words_read(column_text(row, 3)), **environment = words_read(column_text(row, 5));
    struct journal_job job = {.number = sqlite3_column_int64(row, 0),
                              .name = column_text(row, 1),
                              .kind = column_text(row, 2),
                              .argv = (const char *const *)argv,
                              .cwd = column_text(row, 4),
                              .environment = (const char *const *)environment,
                              .output = column_text(row, 6),
                              .ranks_min = sqlite3_column_int(row, 7),
                              .ranks_max = sqlite3_column_int(row, 8),
                              .nodes_min = sqlite3_column_int(row, 9),
                              .nodes_max = sqlite3_column_int(row, 10),
                              .wanted = sqlite3_column_int(row, 11),
                              .limit = sqlite3_column_double(row, 12),
                              .once = sqlite3_column_int(row, 13),
                              .state = column_text(row, 14),
                              .reason = column_text(row, 15),
                              .submitted = sqlite3_column_double(row, 16),
                              .started = sqlite3_column_double(row, 17),
                              .ended = sqlite3_column_double(row, 18),
                              .status = sqlite3_column_int(row, 19)};
    if (argv && environment)
        reader->each(reader->to, &job);
    else
        reader->failed = true;
    words_free(argv);
    words_free(environment);
}

int journal_jobs(struct journal *journal, bool ended, void (*each)(void *to, const struct journal_job *job), void *to,
                 struct error *error)
{
    struct job_reader reader = {.each = each, .to = to};
    int failed = statement_rows(journal, job_row, &reader, error,
                                "SELECT number, name, kind, argv, cwd, environment, output, ranks_min, ranks_max,"
                                " nodes_min, nodes_max, wanted, limit_seconds, once, state, reason, submitted, started,"
                                " ended, status FROM job WHERE ?1 OR ended < 0 ORDER BY number",
                                "i", (int)ended);
    return !failed && reader.failed ? error_set(error, ERROR_FAILED, "%s: a job's words cannot be read", journal->path)
                                    : failed;
}
