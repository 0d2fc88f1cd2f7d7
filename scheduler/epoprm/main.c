/* epoprm: rules jobs on a list of hosts. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "scheduler/epoprm/command.h"
#include "scheduler/epoprm/nearest.h"
#include "scheduler/epoprm/say.h"

#define EXIT_CODE_HELP "Exit status: 0 done, 1 refused, 2 wrong usage, 3 no such job or daemon, 4 timed out.\n"
#define JSON_HELP      "  --json              print JSON\n"

static const struct rm_command commands[] = {
    {"start", "[--hosts HOST[:SLOTS],... | --local N] [--policy NAME[,OPTION=VALUE...]] [OPTIONS]",
     "begin to rule nodes, in the background",
     "  --hosts LIST        the nodes: n1:4,n2:4; all have the same number of slots (1)\n"
     "  --local N           N nodes of one slot each on this machine (its cores)\n"
     "  --site hosts|slurm  rule hosts, or advise the jobs of a Slurm cluster (hosts)\n"
     "  --policy POLICY     what decides: a name that epopsim --list-policies shows, or ./MINE.so\n"
     "  --launcher NAME     how mpiexec starts processes on other hosts: ssh, slurm, ... (its own choice)\n"
     "  --launcher-exec PROGRAM  by this program\n"
     "  --port N            slurm: where jobs find it (that of the last time, or any)\n"
     "  --address-file FILE slurm: which file tells jobs so (adviser, where address files are; of root "
     "/etc/epop/adviser)\n"
     "  --reader libslurm|squeue  slurm: by what to read the queue (libslurm, where its module is)\n"
     "  --foreground        stay in the foreground; the log goes to the terminal\n"
     "Without --hosts and --local: the nodes that it had before, with the jobs that run there still.\n",
     RM_TAKES_START, 0, 0, rm_start},
    {"submit", "[--ranks N|MIN-MAX] [--nodes N|MIN-MAX] [--time TIME] [OPTIONS] -- PROGRAM [ARGUMENTS...]",
     "put a job into the queue; its number is printed",
     "  --ranks N|MIN-MAX   the ranks that it may have (1)\n"
     "  --nodes N|MIN-MAX   the nodes that it may have (as many as the ranks need)\n"
     "  --time TIME         it takes no longer: 90, 90s, 10m, 2h, 1d (as the daemon has it)\n"
     "  --name NAME         what it is called (the program's name)\n"
     "  -o, --output FILE   where its output goes (a file in the daemon's directory)\n"
     "  --once              start PROGRAM as it is, once, on the first of its nodes\n"
     "PROGRAM is an EPOP program (.so), or any MPI program. One size is rigid; a range is resized where the program "
     "can be.\n",
     RM_TAKES_SUBMIT | RM_TAKES_OUTPUT | RM_TAKES_JSON, 1, -1, rm_submit},
    {"queue", "[--all] [--json]", "show the jobs that wait and run",
     "  --all               those that have ended, too; also where no daemon runs\n" JSON_HELP,
     RM_TAKES_ALL | RM_TAKES_JSON, 0, 0, rm_queue},
    {"nodes", "[--json]", "show the nodes, and which job is there", JSON_HELP, RM_TAKES_JSON, 0, 0, rm_nodes},
    {"why", "JOB [--json]", "show what was decided on a job, and why",
     JSON_HELP "Also of jobs that have ended, and where no daemon runs.\n", RM_TAKES_JSON, 1, 1, rm_why},
    {"cancel", "JOB...", "end jobs, or take them out of the queue", "", 0, 1, 1000, rm_cancel},
    {"drain", "NODE [--undo]", "give no more work to a node; its jobs leave it where they can",
     "  --undo              use it again\n", RM_TAKES_UNDO, 1, 1, rm_drain},
    {"watch", "[--json]", "print what happens, as it happens", "  --json              print one JSON object a line\n",
     RM_TAKES_JSON, 0, 0, rm_watch},
    {"report", "-o FILE [--format html|json]", "write what has happened: Gantt chart, queue, utilisation, decisions",
     "  -o, --output FILE   where to; - is the standard output\n"
     "  --format html|json  a page, by epop-report, or the record that it is made of (html)\n",
     RM_TAKES_OUTPUT | RM_TAKES_FORMAT, 0, 0, rm_report},
    {"stop", "[--jobs | --leave]", "end the daemon",
     "  --jobs              and all jobs\n"
     "  --leave             jobs run on; the next epoprm start finds them\n"
     "Without either it is refused while jobs run or wait.\n",
     RM_TAKES_STOP, 0, 0, rm_stop},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_help(FILE *stream)
{
    fputs("Usage: epoprm COMMAND [OPTIONS]\n"
          "Rules jobs on a list of hosts, or on this machine: starts them, and resizes those that can be.\n\n",
          stream);
    for (const struct rm_command *command = commands; command < commands + COMMANDS; command++)
        fprintf(stream, "  %-8s  %s\n", command->name, command->summary);
    fputs("\nepoprm COMMAND --help tells more of a command; epoprm --version prints the version.\n" EXIT_CODE_HELP,
          stream);
}

static void print_command_help(const struct rm_command *command)
{
    printf("Usage: epoprm %s %s\n%s\n\n%s%s", command->name, command->synopsis, command->summary, command->details,
           EXIT_CODE_HELP);
}

static const struct rm_command *find(const char *name)
{
    const char *names[COMMANDS];
    for (int i = 0; i < COMMANDS; i++) {
        names[i] = commands[i].name;
        if (!strcmp(names[i], name))
            return &commands[i];
    }
    const char *near = nearest(name, names, COMMANDS);
    if (near)
        rm_complain("unknown command \"%s\": %s?", name, near);
    else
        rm_complain("unknown command \"%s\" (see epoprm --help)", name);
    return NULL;
}

/* What was printed must have got there: `epoprm queue > /dev/full` has not done its work. */
static int finish(int code)
{
    if (!fflush(stdout) && !ferror(stdout))
        return code;
    rm_complain("cannot write to the standard output");
    return code == RM_DONE ? RM_REFUSED : code;
}

static int run(const struct rm_command *command, int argc, char **argv)
{
    struct rm_arguments arguments;
    if (rm_parse(command, argc, argv, &arguments))
        return RM_USAGE;
    if (!arguments.help)
        return command->run(&arguments);
    print_command_help(command);
    return RM_DONE;
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    if (argc < 2) {
        print_help(stderr);
        return RM_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        print_help(stdout);
        return finish(RM_DONE);
    }
    if (!strcmp(argv[1], "--version")) {
        printf("epoprm %s\n", EPOP_VERSION);
        return finish(RM_DONE);
    }
    const struct rm_command *command = find(argv[1]);
    return command ? finish(run(command, argc - 2, argv + 2)) : RM_USAGE;
}
