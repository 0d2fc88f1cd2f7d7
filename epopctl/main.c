/* epopctl: looks at running EPOP jobs and tells them what to do. */
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "epopctl/client.h"
#include "epopctl/command.h"
#include "runtime/base/clock.h"
#include "runtime/wire/messages.h"

/* ---- The commands ------------------------------------------------------------------------------- */

/* Which options a command takes. */
enum {
    CTL_TAKES_JSON = 1,
    CTL_TAKES_WAIT = 2,
    CTL_TAKES_TIMEOUT = 4,
    CTL_TAKES_RESIZE = 8,
    CTL_TAKES_JOB = 16,
    CTL_TAKES_BREAKPOINT = 32,
    CTL_TAKES_ONCE = 64,
    CTL_TAKES_MEASURE = 128,
    CTL_TAKES_FORCE = 256,
    CTL_TAKES_TEXT = 512
};

struct ctl_command {
    const char *name, *synopsis;
    const char *summary; /* NULL: it is that of the request of this name (runtime/wire/messages.def) */
    const char *details;
    int takes;
    int (*run)(const struct ctl_arguments *arguments);
};

#define TIMEOUT_HELP   "  --timeout SECONDS   give up after so long\n"
#define EXIT_CODE_HELP "Exit status: 0 done, 1 refused, 2 wrong usage, 3 no such job, 4 timed out.\n"

/* Ends with a NULL name. */
static const struct ctl_command ctl_commands[] = {
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

/* ---- Help --------------------------------------------------------------------------------------- */

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

/* ---- Arguments ---------------------------------------------------------------------------------- */

/*
 * The arguments behind a command's name. By hand rather than with getopt: `epopctl resize -2` asks for two ranks less,
 * and options may stand before or behind the job.
 */

#define SHORT_TIMEOUT_MS 10000
#define LONG_TIMEOUT_MS  60000 /* of a request that is answered when it has happened */
#define SECONDS_MAX      1000000.0

/* N, +N or -N */
static bool is_size(const char *word)
{
    if (*word == '+' || *word == '-')
        word++;
    size_t digits = strspn(word, "0123456789");
    return digits > 0 && !word[digits];
}

static int parse_timeout(const char *text, int *timeout_ms)
{
    char *end;
    double seconds = decimal_read(text, &end);
    if (end == text || *end || !(seconds >= 0 && seconds <= SECONDS_MAX)) {
        ctl_complain("--timeout: \"%s\" is no number of seconds", text);
        return -1;
    }
    *timeout_ms = seconds * 1000 < INT_MAX ? (int)(seconds * 1000) : INT_MAX;
    return 0;
}

/* The option's name without dashes, its value behind '=' or in the next word. */
struct option {
    const char *word;
    size_t length;
    const char *value;
};

static bool is_option(const struct option *option, const char *name)
{
    return strlen(name) == option->length && !strncmp(option->word, name, option->length);
}

/* The options: which commands take them (0: all), and where in the arguments they go: a value as the word that it is,
 * a flag as true. */
static const struct option_row {
    const char *name;
    int takes;
    enum { FLAG, VALUE } kind;
    size_t offset;
} option_rows[] = {
    {"--timeout", CTL_TAKES_TIMEOUT, VALUE, offsetof(struct ctl_arguments, timeout)},
    {"--hosts", CTL_TAKES_RESIZE, VALUE, offsetof(struct ctl_arguments, hosts)},
    {"--slurm-job", CTL_TAKES_RESIZE, VALUE, offsetof(struct ctl_arguments, slurm_job)},
    {"--companions", CTL_TAKES_RESIZE, FLAG, offsetof(struct ctl_arguments, companions)},
    {"--release", CTL_TAKES_RESIZE, VALUE, offsetof(struct ctl_arguments, release)},
    {"--pset", CTL_TAKES_RESIZE, VALUE, offsetof(struct ctl_arguments, pset)},
    {"--release-ranks", CTL_TAKES_RESIZE, VALUE, offsetof(struct ctl_arguments, release_ranks)},
    {"--asker", CTL_TAKES_MEASURE, VALUE, offsetof(struct ctl_arguments, asker)},
    {"--keep", CTL_TAKES_MEASURE, VALUE, offsetof(struct ctl_arguments, keep)},
    {"--json", CTL_TAKES_JSON, FLAG, offsetof(struct ctl_arguments, json)},
    {"--once", CTL_TAKES_ONCE, FLAG, offsetof(struct ctl_arguments, once)},
    {"--wait", CTL_TAKES_WAIT, FLAG, offsetof(struct ctl_arguments, wait)},
    {"--force", CTL_TAKES_FORCE, FLAG, offsetof(struct ctl_arguments, force)},
    {"--remove", CTL_TAKES_BREAKPOINT, FLAG, offsetof(struct ctl_arguments, remove)},
    {"--help", 0, FLAG, offsetof(struct ctl_arguments, help)},
    {"-h", 0, FLAG, offsetof(struct ctl_arguments, help)},
};

/* Of this command; NULL: it has none of that name. */
static const struct option_row *find_option_of_command(const struct ctl_command *command, const struct option *option)
{
    for (const struct option_row *row = option_rows; row < option_rows + sizeof option_rows / sizeof *option_rows;
         row++)
        if ((!row->takes || command->takes & row->takes) && is_option(option, row->name))
            return row;
    return NULL;
}

/* --wait=vacated; the words used up, or -1. */
static int take_wait(const struct ctl_command *command, const char *until, struct ctl_arguments *arguments)
{
    if (strcmp(until, "vacated")) {
        ctl_complain("%s: --wait=%s: only --wait=vacated is known, or --wait", command->name, until);
        return -1;
    }
    arguments->wait = arguments->vacated = true;
    return 1;
}

/* Takes an option, and its value from the next word if it has none. The words used up, or -1. */
static int take_option(const struct ctl_command *command, char **words, int count, struct ctl_arguments *arguments)
{
    const char *equals = strchr(words[0], '=');
    struct option option = {.word = words[0],
                            .length = equals ? (size_t)(equals - words[0]) : strlen(words[0]),
                            .value = equals ? equals + 1 : NULL};
    const struct option_row *row = find_option_of_command(command, &option);
    void *target = row ? (char *)arguments + row->offset : NULL;
    if (row && row->kind == FLAG && !option.value) {
        *(bool *)target = true;
        return 1;
    }
    if (row && option.value && command->takes & CTL_TAKES_RESIZE && is_option(&option, "--wait"))
        return take_wait(command, option.value, arguments);
    if (!row || row->kind == FLAG) {
        ctl_complain("%s: unknown option \"%s\" (see epopctl %s --help)", command->name, words[0], command->name);
        return -1;
    }
    if (!option.value && count < 2) {
        ctl_complain("%s: %s needs a value", command->name, words[0]);
        return -1;
    }
    *(const char **)target = option.value ? option.value : words[1];
    return option.value ? 1 : 2;
}

/* What has to stand behind [JOB], and what to ask where it does not. */
static const char **last_word(const struct ctl_command *command, struct ctl_arguments *arguments, const char **missing)
{
    bool text = command->takes & CTL_TAKES_TEXT;
    *missing = text ? "which text?" : "where? PHASE[:ITERATION][@RANK]";
    return text ? &arguments->text : command->takes & CTL_TAKES_BREAKPOINT ? &arguments->breakpoint : NULL;
}

/* The words that are no options: [JOB], and behind it a size (resize), a breakpoint (break), a text (note). */
static int take_words(const struct ctl_command *command, char **words, int count, struct ctl_arguments *arguments)
{
    const char *missing, **last = last_word(command, arguments, &missing);
    bool resize = command->takes & CTL_TAKES_RESIZE;
    int most = ((command->takes & CTL_TAKES_JOB) != 0) + (resize || last);
    if (count > most) {
        ctl_complain("%s: \"%s\" is one argument too many (see epopctl %s --help)", command->name, words[most],
                     command->name);
        return -1;
    }
    if (last && count == 0 && !arguments->help) {
        ctl_complain("%s: %s (see epopctl %s --help)", command->name, missing, command->name);
        return -1;
    }
    if (last && count > 0)
        *last = words[--count];
    if (!resize) {
        arguments->job = count > 0 ? words[0] : NULL;
        return 0;
    }
    if (count > 0 && is_size(words[count - 1]))
        arguments->size = words[--count];
    arguments->job = count > 0 ? words[0] : NULL;
    if (count > 1) {
        ctl_complain("resize: \"%s\" is no number of ranks: N, +N or -N", words[1]);
        return -1;
    }
    if (!arguments->size && !arguments->release && !arguments->release_ranks && !arguments->help) {
        ctl_complain("resize: how many ranks? N, +N or -N (see epopctl resize --help)");
        return -1;
    }
    if (arguments->slurm_job && !arguments->hosts && !arguments->help) {
        ctl_complain("resize: --slurm-job: which hosts are that job's? It goes with --hosts");
        return -1;
    }
    return 0;
}

/* What stands behind the command's name. 0, or -1 after one line on stderr. */
static int parse_arguments(const struct ctl_command *command, int argc, char **argv, struct ctl_arguments *arguments)
{
    char *words[3];
    int count = 0;
    bool options = true;
    *arguments = (struct ctl_arguments){0};
    for (int i = 0; i < argc;) {
        if (options && !strcmp(argv[i], "--")) {
            options = false;
            i++;
        } else if (options && argv[i][0] == '-' && !((command->takes & CTL_TAKES_RESIZE) && is_size(argv[i]))) {
            int used = take_option(command, argv + i, argc - i, arguments);
            if (used < 0)
                return -1;
            i += used;
        } else {
            if (count < 3)
                words[count++] = argv[i];
            i++;
        }
    }
    /* pause and step are answered when all ranks hold, so they wait like the others with --wait. */
    bool waits = arguments->wait || arguments->force || command->run == ctl_pause || command->run == ctl_step;
    arguments->timeout_ms = waits ? LONG_TIMEOUT_MS : SHORT_TIMEOUT_MS;
    if (arguments->timeout && parse_timeout(arguments->timeout, &arguments->timeout_ms))
        return -1;
    return take_words(command, words, count, arguments);
}

/* ---- From the command line to the exit code ----------------------------------------------------- */

/* What was printed must have got there: `epopctl list > /dev/full` has not done its work. */
static int finish_output(int code)
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
        return finish_output(CTL_DONE);
    }
    if (!strcmp(argv[1], "--version")) {
        printf("epopctl %s\n", EPOP_VERSION);
        return finish_output(CTL_DONE);
    }
    const struct ctl_command *command = find_command(argv[1]);
    if (!command) {
        ctl_complain("unknown command \"%s\" (see epopctl --help)", argv[1]);
        return CTL_USAGE;
    }
    if (parse_arguments(command, argc - 2, argv + 2, &arguments))
        return CTL_USAGE;
    if (arguments.help) {
        print_command_help(command);
        return finish_output(CTL_DONE);
    }
    return finish_output(command->run(&arguments));
}
