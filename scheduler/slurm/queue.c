/* Reading Slurm: see queue.h. */
#include "scheduler/slurm/queue.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "scheduler/munge/module.h"
#include "scheduler/slurm/command.h"
#include "scheduler/slurm/text.h"

#define LONGEST 15 /* seconds for a command: Slurm's own limit is 10 */

int queue_reader_choose(struct queue_reader *reader, const char *how, struct error *error)
{
    bool any = !how || !*how;
    setenv("SLURM_TIME_FORMAT", "%s", 1); /* for commands; here, where no thread runs yet */
    *reader = (struct queue_reader){.name = "squeue"};
    if (command_check("squeue", error))
        return -1;
    if (!any && strcmp(how, "libslurm") && strcmp(how, "squeue"))
        return error_set(error, ERROR_REFUSED, "'%s' reads no queue: libslurm or squeue", how);
    if (!any && !strcmp(how, "squeue"))
        return 0;
    reader->module = module_load("slurm.so", "slurm_module", error);
    if (!reader->module)
        return any ? 0 : -1;
    reader->name = "libslurm";
    return 0;
}

static int read_jobs(struct slurm_view *view, struct error *error)
{
    uint64_t number = 0;
    char mark[32], format[512], *text;
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        return error_set(error, ERROR_FAILED, "no random number");
    snprintf(mark, sizeof mark, "%016" PRIx64, number);
    snprintf(format, sizeof format, "%s%s%s%s", TEXT_FIELD, mark, TEXT_FIELD, TEXT_SQUEUE);
    const char *const argv[] = {"squeue", "-h", "-a", "-o", format, NULL};
    if (command_read(argv, LONGEST, &text, error))
        return -1;
    int failed = text_jobs(text, mark, &view_sink, view, error);
    free(text);
    return failed;
}

static int read_nodes(struct slurm_view *view, struct error *error)
{
    static const char *const argv[] = {"sinfo", "-h", "-a", "-N", "-o", TEXT_SINFO, NULL};
    char *text;
    if (command_read(argv, LONGEST, &text, error))
        return -1;
    int failed = text_nodes(text, &view_sink, view, error);
    free(text);
    return failed;
}

static int read_commands(struct slurm_view *view, struct error *error)
{
    return read_nodes(view, error) || read_jobs(view, error) ? -1 : 0;
}

static int read_module(const struct queue_reader *reader, bool again, struct slurm_view *view, struct error *error)
{
    bool unchanged = false;
    const char *wrong = reader->module->read(&view_sink, view, again, &unchanged);
    if (wrong)
        return error_set(error, ERROR_FAILED, "libslurm: %s", wrong);
    return unchanged;
}

int queue_reader_read(const struct queue_reader *reader, bool again, struct slurm_view *view, struct error *error)
{
    *view = (struct slurm_view){0};
    int result = reader->module ? read_module(reader, again, view, error) : read_commands(view, error);
    if (!result && view_finish(view, error))
        result = -1;
    if (result)
        view_free(view);
    return result;
}
