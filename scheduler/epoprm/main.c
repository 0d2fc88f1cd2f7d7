/*
 * epoprm: rules jobs on a list of hosts, or advises those of Slurm. Its command line: which command, with which
 * arguments.
 */
#include "scheduler/epoprm/command.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* ---- What a mistyped word may have meant -------------------------------------------------------- */

enum { LONGEST = 40, FARTHEST = 2 };

static int least_of_three(int a, int b, int c)
{
    int two = a < b ? a : b;
    return two < c ? two : c;
}

/* Letters put in, left out, or changed. */
static int distance(const char *from, const char *to)
{
    int row[LONGEST + 1], length = (int)strlen(to);
    for (int j = 0; j <= length; j++)
        row[j] = j;
    for (int i = 1; from[i - 1]; i++) {
        int corner = row[0];
        row[0] = i;
        for (int j = 1; j <= length; j++) {
            int above = row[j];
            row[j] = least_of_three(row[j - 1] + 1, above + 1, corner + (from[i - 1] != to[j - 1]));
            corner = above;
        }
    }
    return row[length];
}

/* The name that differs in the fewest letters, at most two of them; NULL: none does. */
static const char *nearest(const char *word, const char *const *names, int count)
{
    const char *best = NULL;
    int least_far = FARTHEST + 1;
    for (int i = 0; i < count && strlen(word) <= LONGEST; i++) {
        int far = distance(word, names[i]);
        if (far < least_far && far < (int)strlen(names[i]) / 2) {
            best = names[i];
            least_far = far;
        }
    }
    return best;
}

/* ---- Arguments ---------------------------------------------------------------------------------- */

/*
 * They stand behind the name of a command; options may stand before or behind its words, but for those of the program
 * of submit.
 */

/* Which commands take an option (0: all), and where it goes: a value as the word that it is, a flag as true. */
static const struct row {
    const char *name;
    int takes;
    enum { FLAG, VALUE } kind;
    size_t offset;
} rows[] = {
#define AT(member) offsetof(struct rm_arguments, member)
    {"--hosts", RM_TAKES_START, VALUE, AT(hosts)},
    {"--local", RM_TAKES_START, VALUE, AT(local)},
    {"--site", RM_TAKES_START, VALUE, AT(site)},
    {"--policy", RM_TAKES_START, VALUE, AT(policy)},
    {"--launcher", RM_TAKES_START, VALUE, AT(launcher)},
    {"--launcher-exec", RM_TAKES_START, VALUE, AT(launcher_exec)},
    {"--port", RM_TAKES_START, VALUE, AT(port)},
    {"--address-file", RM_TAKES_START, VALUE, AT(address_file)},
    {"--reader", RM_TAKES_START, VALUE, AT(reader)},
    {"--foreground", RM_TAKES_START, FLAG, AT(foreground)},
    {"--ranks", RM_TAKES_SUBMIT, VALUE, AT(ranks)},
    {"--nodes", RM_TAKES_SUBMIT, VALUE, AT(nodes)},
    {"--time", RM_TAKES_SUBMIT, VALUE, AT(time)},
    {"--name", RM_TAKES_SUBMIT, VALUE, AT(name)},
    {"--once", RM_TAKES_SUBMIT, FLAG, AT(once)},
    {"--output", RM_TAKES_OUTPUT, VALUE, AT(output)},
    {"-o", RM_TAKES_OUTPUT, VALUE, AT(output)},
    {"--format", RM_TAKES_FORMAT, VALUE, AT(format)},
    {"--all", RM_TAKES_ALL, FLAG, AT(all)},
    {"--undo", RM_TAKES_UNDO, FLAG, AT(undo)},
    {"--jobs", RM_TAKES_STOP, FLAG, AT(jobs)},
    {"--leave", RM_TAKES_STOP, FLAG, AT(leave)},
    {"--json", RM_TAKES_JSON, FLAG, AT(json)},
    {"--help", 0, FLAG, AT(help)},
    {"-h", 0, FLAG, AT(help)},
#undef AT
};

enum { ROWS = sizeof rows / sizeof *rows };

static bool takes(const struct rm_command *command, const struct row *row)
{
    return !row->takes || command->takes & row->takes;
}

/* "--ranks=4" is "--ranks" with a value of its own. */
static const struct row *find_option(const struct rm_command *command, const char *word, size_t length)
{
    for (const struct row *row = rows; row < rows + ROWS; row++)
        if (takes(command, row) && strlen(row->name) == length && !strncmp(row->name, word, length))
            return row;
    return NULL;
}

static int complain_of_option(const struct rm_command *command, const char *word)
{
    const char *names[ROWS + 1];
    int count = 0;
    for (const struct row *row = rows; row < rows + ROWS; row++)
        if (takes(command, row))
            names[count++] = row->name;
    const char *near = nearest(word, names, count);
    if (near)
        rm_complain("%s: unknown option \"%s\": %s?", command->name, word, near);
    else
        rm_complain("%s: unknown option \"%s\" (see epoprm %s --help)", command->name, word, command->name);
    return -1;
}

/* The words used up, or -1. */
static int take_option(const struct rm_command *command, char **words, int count, struct rm_arguments *arguments)
{
    const char *equals = !strncmp(words[0], "--", 2) ? strchr(words[0], '=') : NULL;
    const struct row *row = find_option(command, words[0], equals ? (size_t)(equals - words[0]) : strlen(words[0]));
    void *target = row ? (char *)arguments + row->offset : NULL;
    if (!row || (row->kind == FLAG && equals))
        return complain_of_option(command, words[0]);
    if (row->kind == FLAG) {
        *(bool *)target = true;
        return 1;
    }
    if (!equals && count < 2) {
        rm_complain("%s: %s needs a value", command->name, words[0]);
        return -1;
    }
    *(const char **)target = equals ? equals + 1 : words[1];
    return equals ? 1 : 2;
}

static int check_count(const struct rm_command *command, const struct rm_arguments *arguments)
{
    if (arguments->help)
        return 0;
    if (arguments->count < command->least)
        rm_complain("%s: something is missing: epoprm %s %s", command->name, command->name, command->synopsis);
    else if (command->most >= 0 && arguments->count > command->most)
        rm_complain("%s: \"%s\" is one argument too many (see epoprm %s --help)", command->name,
                    arguments->words[command->most], command->name);
    else
        return 0;
    return -1;
}

/* The words are moved to the front of argv, in their order. */
static int read_arguments(const struct rm_command *command, int argc, char **argv, struct rm_arguments *arguments)
{
    bool options = true;
    *arguments = (struct rm_arguments){.words = argv};
    for (int i = 0; i < argc;) {
        bool option = options && argv[i][0] == '-' && argv[i][1];
        if (option && !strcmp(argv[i], "--")) {
            options = false;
            i++;
        } else if (option) {
            int used = take_option(command, argv + i, argc - i, arguments);
            if (used < 0)
                return -1;
            i += used;
        } else {
            options = options && command->most >= 0;
            argv[arguments->count++] = argv[i++];
        }
    }
    argv[arguments->count] = NULL;
    return check_count(command, arguments);
}

/* ---- The commands ------------------------------------------------------------------------------- */

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

static const struct rm_command *find_command(const char *name)
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

static int run_command(const struct rm_command *command, int argc, char **argv)
{
    struct rm_arguments arguments;
    if (read_arguments(command, argc, argv, &arguments))
        return RM_USAGE;
    if (!arguments.help)
        return command->run(&arguments);
    print_command_help(command);
    return RM_DONE;
}

/* What was printed must have got there: `epoprm queue > /dev/full` has not done its work. */
static int check_output_got_there(int code)
{
    if (!fflush(stdout) && !ferror(stdout))
        return code;
    rm_complain("cannot write to the standard output");
    return code == RM_DONE ? RM_REFUSED : code;
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
        return check_output_got_there(RM_DONE);
    }
    if (!strcmp(argv[1], "--version")) {
        printf("epoprm %s\n", EPOP_VERSION);
        return check_output_got_there(RM_DONE);
    }
    const struct rm_command *command = find_command(argv[1]);
    return command ? check_output_got_there(run_command(command, argc - 2, argv + 2)) : RM_USAGE;
}
