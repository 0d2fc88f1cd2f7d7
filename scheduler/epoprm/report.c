/* epoprm report: the journal as the record of a schedule, and epop-report to make a page of it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/spawn.h"
#include "scheduler/epoprm/command.h"
#include "scheduler/epoprm/executable.h"
#include "scheduler/epoprm/past.h"
#include "scheduler/epoprm/record.h"
#include "scheduler/epoprm/say.h"

static int write_record(const cJSON *record, const char *path)
{
    bool here = !strcmp(path, "-");
    char *text = cJSON_PrintUnformatted(record);
    FILE *file = here ? stdout : fopen(path, "we");
    int failed = !text || !file || fputs(text, file) < 0 || fputc('\n', file) == EOF || fflush(file);
    if (failed)
        rm_complain("report: %s: cannot be written: %s", path, strerror(errno));
    if (file && !here)
        fclose(file);
    free(text);
    return failed ? RM_REFUSED : RM_DONE;
}

static int run(char *program, char *input, char *output)
{
    char *argv[] = {program, input, "-o", output, NULL};
    struct spawn what = {.argv = argv, .in = SPAWN_NOTHING, .out = STDOUT_FILENO, .err = STDERR_FILENO};
    pid_t pid;
    int status, failed = spawn_program(&what, &pid);
    if (failed) {
        rm_complain("report: %s: %s", program, strerror(failed));
        return RM_REFUSED;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? RM_DONE : RM_REFUSED;
}

static int make_page(const cJSON *record, const char *output)
{
    char input[] = "/tmp/epoprm-XXXXXX.json", *program = executable_beside("bin/epop-report");
    char *page = strdup(output);
    int file = program && page ? mkstemps(input, 5) : -1;
    int code = file >= 0 ? write_record(record, input) : RM_REFUSED;
    if (!program)
        rm_complain("report: epop-report is not here: it was left out of the build (REPORT=no); --format json has the "
                    "record that it wants");
    else if (file < 0)
        rm_complain("report: %s: %s", input, strerror(errno));
    if (code == RM_DONE)
        code = run(program, input, page);
    if (file >= 0) {
        close(file);
        unlink(input);
    }
    free(program);
    free(page);
    return code;
}

int rm_report(const struct rm_arguments *arguments)
{
    bool json = arguments->format && !strcmp(arguments->format, "json");
    struct journal *journal;
    struct error error;
    if (!arguments->output || (arguments->format && !json && strcmp(arguments->format, "html"))) {
        rm_complain(arguments->output ? "report: --format: html or json" : "report: where to? -o FILE");
        return RM_USAGE;
    }
    if (past_open(&journal, &error)) {
        rm_complain("report: %s", error.text);
        return RM_NO_JOB;
    }
    cJSON *record = record_make(journal, &error);
    journal_close(journal);
    if (!record)
        rm_complain("report: %s", error.text);
    int code = !record ? RM_REFUSED
               : json  ? write_record(record, arguments->output)
                       : make_page(record, arguments->output);
    cJSON_Delete(record);
    return code;
}
