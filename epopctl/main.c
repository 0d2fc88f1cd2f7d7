/* epopctl: looks at running EPOP jobs and tells them what to do. */
#include <limits.h>
#include <string.h>

#include "epopctl/command.h"
#include "runtime/wire/messages.h"

/* ---- Their options ------------------------------------------------------------------------------ */

#define TIMEOUT    "timeout", "SECONDS", "give up after so long", OPT_NUMBER(timeout, 0, 1000000)
#define JSON(what) "json", NULL, what, OPT_FLAG(json)
#define WAIT(what) "wait", NULL, what, OPT_FLAG(wait)

static int take_wait(const struct option_row *row, struct options *options, const char *value, struct error *error)
{
    (void)row;
    if (value && strcmp(value, "vacated"))
        return error_set(error, ERROR_REFUSED, "--wait=%s: only --wait=vacated is known, or --wait", value);
    options->wait = true;
    options->vacated = value;
    return 0;
}

static const struct option_row list_options[] = {{WAIT("for a job to come up, if there is none yet")},
                                                 {JSON("print a JSON array")},
                                                 {TIMEOUT, .goes_with = "wait"},
                                                 {0}};
static const struct option_row top_options[] = {
    {"once", NULL, "print the table once, as when the output is no terminal", OPT_FLAG(once)},
    {JSON("print a JSON array, once")},
    {0}};
static const struct option_row status_options[] = {
    {WAIT("for the job to come up, if it has not yet")}, {JSON("print the job's status as JSON")}, {TIMEOUT}, {0}};
static const struct option_row where_options[] = {{JSON("print it as JSON")}, {TIMEOUT}, {0}};
static const struct option_row psets_options[] = {{JSON("print a JSON array")}, {TIMEOUT}, {0}};
static const struct option_row measure_options[] = {
    {"asker", "NAME", "since NAME was answered last (what is asked from this terminal)", OPT_TEXT(asker)},
    {"keep", "SECONDS", "go on measuring for so long, unless asked again (30)", OPT_NUMBER(keep, 0, 3600)},
    {"from", "FILE,...",
     "show what epop --driver profile has written of an executable instead; of several runs\nthe "
     "efficiency of each loop, too",
     OPT_TEXT(from)},
    {JSON("print it as JSON")},
    {TIMEOUT},
    {0}};
static const struct option_row loops_options[] = {
    {"rank", "RANK", "how that rank calls MPI (0)", OPT_WHOLE(rank, 0, INT_MAX)},
    {"dot", NULL, "as a graph for dot, of Graphviz", OPT_FLAG(dot)},
    {JSON("print it as JSON")},
    {TIMEOUT},
    {0}};
static const struct option_row resize_options[] = {
    {"wait", "[=vacated]",
     "come back when it has happened, not when it is accepted;\nvacated: and the processes that left have ended",
     OPT_OWN(take_wait)},
    {TIMEOUT},
    {"hosts", "HOST,...", "take new ranks on these hosts only", OPT_TEXT(hosts)},
    {"slurm-job", "JOB", "these hosts are that Slurm job; HOST=JOB,...: each is one of its own", OPT_TEXT(slurm_job),
     .goes_with = "hosts"},
    {"companions", NULL, "+N one-node jobs wait in Slurm's queue, and lend their nodes when they run",
     OPT_FLAG(companions)},
    {"release", "HOST,...", "the ranks on these hosts leave", OPT_TEXT(release)},
    {"release-ranks", "R,...", "and these ranks leave; N may be left out with one of these", OPT_TEXT(release_ranks)},
    {"pset", "SET", "the number is that of this process set, and of its processes some leave,\nor others join it",
     OPT_TEXT(pset)},
    {JSON("print the answer as JSON")},
    {0}};
static const struct option_row balance_options[] = {{WAIT("come back when it has happened, not when it is accepted")},
                                                    {TIMEOUT},
                                                    {JSON("print the answer as JSON")},
                                                    {0}};
static const struct option_row plain_options[] = {{TIMEOUT}, {JSON("print the answer as JSON")}, {0}};
static const struct option_row stop_options[] = {
    {WAIT("come back when the job is gone")},
    {"force", NULL, "end it at once, whatever its ranks do, as one that has failed; come back when it is gone",
     OPT_FLAG(force)},
    {TIMEOUT},
    {JSON("print the answer as JSON")},
    {0}};
static const struct option_row checkpoint_options[] = {
    {WAIT("come back when the file is complete, and print its name")},
    {TIMEOUT},
    {JSON("print the answer as JSON")},
    {0}};
static const struct option_row watch_options[] = {{JSON("print one JSON object a line")}, {0}};
static const struct option_row break_options[] = {
    {WAIT("come back when they are stopped, and print how to attach a debugger")},
    {"remove", NULL, "do not stop there any more", OPT_FLAG(remove)},
    {TIMEOUT},
    {JSON("print the answer as JSON")},
    {0}};

/* ---- The commands ------------------------------------------------------------------------------- */

/* N, +N or -N */
static bool is_size(const char *word)
{
    if (*word == '+' || *word == '-')
        word++;
    size_t digits = strspn(word, "0123456789");
    return digits > 0 && !word[digits];
}

/* Without a summary: that of the request of this name (runtime/wire/messages.def). */
static struct command rows[] = {
    {"list", "[--wait] [--json] [--timeout SECONDS]", "show the jobs of this user", .options = list_options,
     .run = ctl_list},
    {"top", "[--once] [--json]", "show the jobs of this user and how far they are, again and again",
     .options = top_options, .run = ctl_top},
    {"status", "[JOB] [--wait] [--json] [--timeout SECONDS]", .options = status_options, .most = 1, .run = ctl_status},
    {"where", "[JOB] [--json] [--timeout SECONDS]", .options = where_options, .most = 1, .run = ctl_where,
     .notes = "Answered also when ranks hang in a phase; FOR counts the seconds in this iteration, and in this call of "
              "MPI.\n"},
    {"psets", "[JOB] [--json] [--timeout SECONDS]", .options = psets_options, .most = 1, .run = ctl_psets,
     .notes = "A set whose name begins with mpi://rte/ is of a resource change: what it adds, or takes.\n"},
    {"measure", "[JOB] [--asker NAME] [--keep SECONDS] [--from FILE,...] [--json] [--timeout SECONDS]",
     .options = measure_options, .most = 1, .run = ctl_measure,
     .notes = "The first one begins to measure, and has nothing to show yet. MTCT is MPI time over compute time.\n"},
    {"loops", "[JOB] [--rank RANK] [--dot] [--json] [--timeout SECONDS]", .options = loops_options, .most = 1,
     .run = ctl_loops, .summary = "show the calls of MPI of an executable, and which of them are loops",
     .notes = "Of an executable, as one rank sees it. The first one begins to measure, and waits for a moment.\n"},
    {"resize",
     "[JOB] N|+N|-N [--wait[=vacated]] [--timeout SECONDS] [--hosts HOST,...] [--slurm-job JOB] "
     "[--companions] [--release HOST,...] [--release-ranks R,...] [--pset SET]",
     .words = "  N                   the number of ranks wanted; +N or -N: so many more or less\n",
     .options = resize_options, .most = 2, .run = ctl_resize, .is_word = is_size,
     .notes = "A job that cannot run at N ranks takes the next smaller number that it can, and says so.\n"},
    {"balance", "[JOB] [--wait] [--timeout SECONDS]", .options = balance_options, .most = 1, .run = ctl_balance,
     .notes = "The ranks stay the same. What each has to compute is measured in the next iterations.\n"},
    {"pause", "[JOB] [--timeout SECONDS]", .options = plain_options, .most = 1, .run = ctl_pause},
    {"resume", "[JOB] [--timeout SECONDS]", .options = plain_options, .most = 1, .run = ctl_resume},
    {"stop", "[JOB] [--wait] [--force] [--timeout SECONDS]", .options = stop_options, .most = 1, .run = ctl_stop},
    {"checkpoint", "[JOB] [--wait] [--timeout SECONDS]", .options = checkpoint_options, .most = 1,
     .run = ctl_checkpoint},
    {"cancel", "[JOB] [--timeout SECONDS]", .options = plain_options, .most = 1, .run = ctl_cancel},
    {"note", "[JOB] TEXT [--timeout SECONDS]",
     .words = "  TEXT                one line; behind \"epop: note: \" it comes on the job's standard error\n",
     .options = plain_options, .least = 1, .most = 2, .run = ctl_note},
    {"watch", "[JOB] [--json]", .options = watch_options, .most = 1, .run = ctl_watch,
     .notes = "On a terminal a line below shows how far the job is, its size, and its last resize.\n"},
    {"break", "[JOB] PHASE[:ITERATION][@RANK] [--wait] [--remove] [--timeout SECONDS]",
     .words =
         "  PHASE               the element's name or number; in each visit the ranks stop once, before its next exec "
         "block\n"
         "  ITERATION           only before this one, counted from 0\n"
         "  RANK                only this rank stops\n",
     .options = break_options, .least = 1, .most = 2, .run = ctl_break},
    {"step", "[JOB] [--timeout SECONDS]", .options = plain_options, .most = 1, .run = ctl_step},
    {"continue", "[JOB] [--timeout SECONDS]", .options = plain_options, .most = 1, .run = ctl_continue},
    {0},
};

/* ---- The words that are no options -------------------------------------------------------------- */

#define SHORT_TIMEOUT_MS 10000
#define LONG_TIMEOUT_MS  60000 /* of a request that is answered when it has happened */

static int check_size(const struct options *options, struct error *error)
{
    if (options->size || options->release || options->release_ranks)
        return 0;
    return error_set(error, ERROR_REFUSED, "how many ranks? N, +N or -N");
}

/* [JOB], and behind it a size (resize), a breakpoint (break), a text (note). */
static int take_words(const struct command *command, struct options *options, int count, char **words,
                      struct error *error)
{
    /* pause and step are answered when all ranks hold, so they wait like the others with --wait */
    bool waits = options->wait || options->force || command->run == ctl_pause || command->run == ctl_step;
    options->timeout_ms = waits ? LONG_TIMEOUT_MS : SHORT_TIMEOUT_MS;
    if (options->timeout >= 0)
        options->timeout_ms = options->timeout * 1000 < INT_MAX ? (int)(options->timeout * 1000) : INT_MAX;
    if (command->run == ctl_note)
        options->text = words[--count];
    else if (command->run == ctl_break)
        options->breakpoint = words[--count];
    else if (command->run == ctl_resize && count > 0 && is_size(words[count - 1]))
        options->size = words[--count];
    options->job = count > 0 ? words[0] : NULL;
    if (count > 1)
        return error_set(error, ERROR_REFUSED, "\"%s\" is no number of ranks: N, +N or -N", words[1]);
    return command->run == ctl_resize ? check_size(options, error) : 0;
}

int main(int argc, char **argv)
{
    struct options options = {.timeout = -1, .keep = -1};
    const struct commands commands = {
        .program = "epopctl",
        .usage = "[JOB] [OPTIONS]",
        .purpose = "Looks at running EPOP jobs and tells them what to do.",
        .notes = "JOB may be left out when there is one job, and cut short to a unique beginning.\n",
        .statuses = "Exit status: 0 done, 1 refused, 2 wrong usage, 3 no such job, 4 timed out.\n",
        .rows = rows,
        .take = take_words,
        .options = &options,
    };
    for (struct command *row = rows; row->name; row++)
        row->summary = row->summary ? row->summary : message_help(KIND_REQUEST, row->name);
    return commands_main(&commands, argc, argv);
}
