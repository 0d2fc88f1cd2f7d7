/* epopctl: looks at running EPOP jobs and tells them what to do. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "epopctl/command.h"
#include "epopctl/output.h"
#include "runtime/wire/messages.h"

#define TIMEOUT_HELP   "  --timeout SECONDS   give up after so long\n"
#define EXIT_CODE_HELP "Exit status: 0 done, 1 refused, 2 wrong usage, 3 no such job, 4 timed out.\n"

const struct ctl_command ctl_commands[] = {
    {"list", "[--json]", "show the jobs of this user", "  --json              print a JSON array\n", CTL_TAKES_JSON,
     ctl_list},
    {"top", "[--once] [--json]", "show the jobs of this user and how far they are, again and again",
     "  --once              print the table once, as when the output is no terminal\n"
     "  --json              print a JSON array, once\n",
     CTL_TAKES_JSON | CTL_TAKES_ONCE, ctl_top},
    {"status", "[JOB] [--json] [--timeout SECONDS]", NULL,
     "  --json              print the job's status as JSON\n" TIMEOUT_HELP,
     CTL_TAKES_JOB | CTL_TAKES_JSON | CTL_TAKES_TIMEOUT, ctl_status},
    {"where", "[JOB] [--json] [--timeout SECONDS]", NULL,
     "  --json              print it as JSON\n" TIMEOUT_HELP
     "Answered also when ranks hang in a phase; FOR counts the seconds in this iteration, and in this call of MPI.\n",
     CTL_TAKES_JOB | CTL_TAKES_JSON | CTL_TAKES_TIMEOUT, ctl_where},
    {"psets", "[JOB] [--json] [--timeout SECONDS]", NULL,
     "  --json              print a JSON array\n" TIMEOUT_HELP
     "A set whose name begins with mpi://rte/ is of a resource change: what it adds, or takes.\n",
     CTL_TAKES_JOB | CTL_TAKES_JSON | CTL_TAKES_TIMEOUT, ctl_psets},
    {"measure", "[JOB] [--asker NAME] [--keep SECONDS] [--json] [--timeout SECONDS]", NULL,
     "  --asker NAME        since NAME was answered last (what is asked from this terminal)\n"
     "  --keep SECONDS      go on measuring for so long, unless asked again (30)\n"
     "  --json              print it as JSON\n" TIMEOUT_HELP
     "The first one begins to measure, and has nothing to show yet. MTCT is MPI time over compute time.\n",
     CTL_TAKES_JOB | CTL_TAKES_JSON | CTL_TAKES_TIMEOUT | CTL_TAKES_MEASURE, ctl_measure},
    {"resize",
     "[JOB] N|+N|-N [--wait[=vacated]] [--timeout SECONDS] [--hosts HOST,...] [--slurm-job JOB] "
     "[--companions] [--release HOST,...] [--release-ranks R,...] [--pset SET]",
     NULL,
     "  N                   the number of ranks wanted; +N or -N: so many more or less\n"
     "  --wait[=vacated]    come back when it has happened, not when it is accepted;\n"
     "                      vacated: and the processes that left have ended\n" TIMEOUT_HELP
     "  --hosts HOST,...    take new ranks on these hosts only\n"
     "  --slurm-job JOB     these hosts are that Slurm job; HOST=JOB,...: each is one of its own\n"
     "  --companions        +N one-node jobs wait in Slurm's queue, and lend their nodes when they run\n"
     "  --release HOST,...  the ranks on these hosts leave\n"
     "  --release-ranks R,...  and these ranks leave; N may be left out with one of these\n"
     "  --pset SET          the number is that of this process set, and of its processes some leave, or others join "
     "it\n"
     "A job that cannot run at N ranks takes the next smaller number that it can, and says so.\n",
     CTL_TAKES_JOB | CTL_TAKES_JSON | CTL_TAKES_WAIT | CTL_TAKES_TIMEOUT | CTL_TAKES_RESIZE, ctl_resize},
    {"pause", "[JOB] [--timeout SECONDS]", NULL, TIMEOUT_HELP, CTL_TAKES_JOB | CTL_TAKES_JSON | CTL_TAKES_TIMEOUT,
     ctl_pause},
    {"resume", "[JOB] [--timeout SECONDS]", NULL, TIMEOUT_HELP, CTL_TAKES_JOB | CTL_TAKES_JSON | CTL_TAKES_TIMEOUT,
     ctl_resume},
    {"stop", "[JOB] [--wait] [--force] [--timeout SECONDS]", NULL,
     "  --wait              come back when the job is gone\n"
     "  --force             end it at once, whatever its ranks do, as one that has failed; come back when it is "
     "gone\n" TIMEOUT_HELP,
     CTL_TAKES_JOB | CTL_TAKES_JSON | CTL_TAKES_WAIT | CTL_TAKES_TIMEOUT | CTL_TAKES_FORCE, ctl_stop},
    {"checkpoint", "[JOB] [--wait] [--timeout SECONDS]", NULL,
     "  --wait              come back when the file is complete, and print its name\n" TIMEOUT_HELP,
     CTL_TAKES_JOB | CTL_TAKES_JSON | CTL_TAKES_WAIT | CTL_TAKES_TIMEOUT, ctl_checkpoint},
    {"cancel", "[JOB] [--timeout SECONDS]", NULL, TIMEOUT_HELP, CTL_TAKES_JOB | CTL_TAKES_JSON | CTL_TAKES_TIMEOUT,
     ctl_cancel},
    {"note", "[JOB] TEXT [--timeout SECONDS]", NULL,
     "  TEXT                one line; behind \"epop: note: \" it comes on the job's standard error\n" TIMEOUT_HELP,
     CTL_TAKES_JOB | CTL_TAKES_JSON | CTL_TAKES_TIMEOUT | CTL_TAKES_TEXT, ctl_note},
    {"watch", "[JOB] [--json]", NULL,
     "  --json              print one JSON object a line\n"
     "On a terminal a line below shows how far the job is, its size, and its last resize.\n",
     CTL_TAKES_JOB | CTL_TAKES_JSON, ctl_watch},
    {"break", "[JOB] PHASE[:ITERATION][@RANK] [--wait] [--remove] [--timeout SECONDS]", NULL,
     "  PHASE               the element's name or number; in each visit the ranks stop once, before its next exec "
     "block\n"
     "  ITERATION           only before this one, counted from 0\n"
     "  RANK                only this rank stops\n"
     "  --wait              come back when they are stopped, and print how to attach a debugger\n"
     "  --remove            do not stop there any more\n" TIMEOUT_HELP,
     CTL_TAKES_JOB | CTL_TAKES_JSON | CTL_TAKES_WAIT | CTL_TAKES_TIMEOUT | CTL_TAKES_BREAKPOINT, ctl_break},
    {"step", "[JOB] [--timeout SECONDS]", NULL, TIMEOUT_HELP, CTL_TAKES_JOB | CTL_TAKES_JSON | CTL_TAKES_TIMEOUT,
     ctl_step},
    {"continue", "[JOB] [--timeout SECONDS]", NULL, TIMEOUT_HELP, CTL_TAKES_JOB | CTL_TAKES_JSON | CTL_TAKES_TIMEOUT,
     ctl_continue},
    {NULL, NULL, NULL, NULL, 0, NULL},
};

/* Of a command that is a request what the request's row says. */
static const char *summary_of(const struct ctl_command *command)
{
    return command->summary ? command->summary : message_help(KIND_REQUEST, command->name);
}

static void print_help(FILE *stream)
{
    fputs("Usage: epopctl COMMAND [JOB] [OPTIONS]\n"
          "Looks at running EPOP jobs and tells them what to do.\n\n",
          stream);
    for (const struct ctl_command *command = ctl_commands; command->name; command++)
        fprintf(stream, "  %-10s  %s\n", command->name, summary_of(command));
    fputs("\nJOB may be left out when there is one job, and cut short to a unique beginning.\n"
          "epopctl COMMAND --help tells more of a command; epopctl --version prints the version.\n" EXIT_CODE_HELP,
          stream);
}

static void print_command_help(const struct ctl_command *command)
{
    printf("Usage: epopctl %s %s\n%s\n\n%s%s", command->name, command->synopsis, summary_of(command), command->details,
           EXIT_CODE_HELP);
}

static const struct ctl_command *find_command(const char *name)
{
    for (const struct ctl_command *command = ctl_commands; command->name; command++)
        if (!strcmp(command->name, name))
            return command;
    return NULL;
}

static bool is_help(const char *word)
{
    return !strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help");
}

/* What was printed must have got there: `epopctl list > /dev/full` has not done its work. */
static int finish(int code)
{
    if (!fflush(stdout) && !ferror(stdout))
        return code;
    ctl_complain("cannot write to the standard output");
    return code == CTL_DONE ? CTL_REFUSED : code;
}

int main(int argc, char **argv)
{
    struct ctl_arguments arguments;
    signal(SIGPIPE, SIG_IGN); /* what cannot be written is told */
    if (argc < 2) {
        print_help(stderr);
        return CTL_USAGE;
    }
    if (is_help(argv[1])) {
        print_help(stdout);
        return finish(CTL_DONE);
    }
    if (!strcmp(argv[1], "--version")) {
        printf("epopctl %s\n", EPOP_VERSION);
        return finish(CTL_DONE);
    }
    const struct ctl_command *command = find_command(argv[1]);
    if (!command) {
        ctl_complain("unknown command \"%s\" (see epopctl --help)", argv[1]);
        return CTL_USAGE;
    }
    if (ctl_parse(command, argc - 2, argv + 2, &arguments))
        return CTL_USAGE;
    if (arguments.help) {
        print_command_help(command);
        return finish(CTL_DONE);
    }
    return finish(command->run(&arguments));
}
