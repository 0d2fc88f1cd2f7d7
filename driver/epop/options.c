/*
 * The table of epop's options, and parsing in one pass: a driver's options are known from --driver on, so that they
 * come after it. The program's own arguments begin with its name and are left alone.
 */
#include "driver/epop/options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/epop/capabilities.h"
#include "driver/epop/launch.h"
#include "runtime/base/clock.h"
#include "runtime/base/error.h"
#include "runtime/base/say.h"

/* ---- A row of the table of options, and the value of one ---------------------------------------- */

/*
 * One row of the table of options: what it is called, what kind of value it takes, and where that goes. Most options
 * are such a row and nothing else.
 */

struct parse;

/* What the option takes, and the type of its target. */
enum option_kind {
    OPTION_FLAG,    /* nothing; bool */
    OPTION_RANKS,   /* a number from 1 on; int */
    OPTION_COUNT,   /* a number from 1 on; int */
    OPTION_SECONDS, /* from 0 on, perhaps with s, m or h behind; double */
    OPTION_CHOICE,  /* the first of two words, which is false, or the second; bool */
    OPTION_TEXT,    /* anything; const char *, which points into the process's arguments */
    OPTION_ACTION,  /* anything: `act` is called with it */
};

struct option_row {
    const char *name;     /* without the dashes */
    const char *argument; /* for --help; NULL: takes none */
    const char *help;
    enum option_kind kind;
    size_t target; /* the distance of its value from the begin of the structure that is filled in */
    char letter;   /* short form; 0: has none */
    const char *words[2];
    const char *goes_with; /* another option, without which this one is refused */
    int (*act)(struct parse *parse, const char *value, struct error *error);
};

static int set_count(const struct option_row *row, int *count, const char *value, struct error *error)
{
    char *end;
    errno = 0;
    long number = strtol(value, &end, 10);
    if (end == value || *end || errno || number < 1 || number > INT_MAX)
        return error_set(error, ERROR_FAILED, "--%s wants a number from 1 on, not '%s'", row->name, value);
    *count = (int)number;
    return 0;
}

static int set_ranks(const struct option_row *row, int *ranks, const char *value, struct error *error)
{
    char *end;
    errno = 0;
    long number = strtol(value, &end, 10);
    if (end == value || *end || errno || number < 1 || number > INT_MAX)
        return error_set(error, ERROR_FAILED, "--%s wants a number of ranks from 1 on, not '%s'", row->name, value);
    *ranks = (int)number;
    return 0;
}

static int set_seconds(const struct option_row *row, double *seconds, const char *value, struct error *error)
{
    if (duration_read(value, seconds))
        return error_set(error, ERROR_FAILED, "--%s wants a time, as 30, 30s, 10m or 1h, not '%s'", row->name, value);
    return 0;
}

static int set_choice(const struct option_row *row, bool *second, const char *value, struct error *error)
{
    *second = !strcmp(value, row->words[1]);
    if (*second || !strcmp(value, row->words[0]))
        return 0;
    return error_set(error, ERROR_FAILED, "--%s wants %s or %s, not '%s'", row->name, row->words[0], row->words[1],
                     value);
}

/* Sets the option's value in the structure at `options`; no action. 0, or -1 with one line of text. */
static int option_set(const struct option_row *row, void *options, const char *value, struct error *error)
{
    void *target = (char *)options + row->target;
    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)target = true;
        return 0;
    case OPTION_RANKS:
        return set_ranks(row, target, value, error);
    case OPTION_COUNT:
        return set_count(row, target, value, error);
    case OPTION_SECONDS:
        return set_seconds(row, target, value, error);
    case OPTION_CHOICE:
        return set_choice(row, target, value, error);
    case OPTION_TEXT:
        *(const char **)target = value;
        return 0;
    case OPTION_ACTION:
        break;
    }
    return error_set(error, ERROR_FAILED, "--%s has no value", row->name);
}

/* Has it a value other than 0, false or NULL? */
static bool option_is_set(const struct option_row *row, const void *options)
{
    const void *target = (const char *)options + row->target;
    switch (row->kind) {
    case OPTION_FLAG:
    case OPTION_CHOICE:
        return *(const bool *)target;
    case OPTION_RANKS:
    case OPTION_COUNT:
        return *(const int *)target != 0;
    case OPTION_SECONDS:
        return *(const double *)target > 0;
    case OPTION_TEXT:
        return *(const char *const *)target;
    case OPTION_ACTION:
        break;
    }
    return false;
}

/* ---- The table ---------------------------------------------------------------------------------- */

/* A kind with its target, whose type must be that of the kind. */
#define TARGET(type, member)                                                                                           \
    (offsetof(struct options, member) + 0 * sizeof(char[_Generic(((struct options *)0)->member, type : 1)]))
#define TO(of_kind, type, member) .kind = (of_kind), .target = TARGET(type, member)
#define FLAG(member)              TO(OPTION_FLAG, bool, member)
#define RANKS(member)             TO(OPTION_RANKS, int, member)
#define COUNT(member)             TO(OPTION_COUNT, int, member)
#define SECONDS(member)           TO(OPTION_SECONDS, double, member)
#define TEXT(member)              TO(OPTION_TEXT, const char *, member)
#define CHOICE(member, no, yes)   TO(OPTION_CHOICE, bool, member), .words = {no, yes}
#define ACTION(function)          .kind = OPTION_ACTION, .act = (function)

static int open_drivers(struct parse *parse, const char *names, struct error *error);

/* An option is a line here, and one in docs/man/epop.1. */
static const struct option_row own_options[] = {
    {"start", "N", "start on N ranks of the launch, the others stand by (all)", RANKS(job.start)},
    {"max", "N", "most ranks that a resize may ask for, where processes are started (256)", RANKS(job.maximum)},
    {"backend", "auto|join|pool|spawn", "how processes come and go (auto)", TEXT(job.backend)},
    {"leave", "exit|park|auto", "processes that leave end, or stand by to join again (as the backend does)",
     TEXT(job.leave)},
    {"spawn-method", "merge|baseline", "with --backend spawn: old ranks stay, or all are replaced (merge)",
     CHOICE(job.spawn.baseline, "merge", "baseline")},
    {"spawn-strategy", "plain|single", "with --backend spawn: all ranks spawn, or rank 0 does (plain)",
     CHOICE(job.spawn.single, "plain", "single")},
    {"spawn-async", NULL, "with --backend spawn: a helper thread spawns while the ranks compute",
     FLAG(job.spawn.async)},
    {"no-ahead", NULL, "connect joining ranks only when the others stand still; MPI then needs no threads",
     FLAG(job.no_ahead)},
    {"no-ahead-data", NULL, "move described data that is constant only when all ranks stand still",
     FLAG(job.no_ahead_data)},
    {"ahead-limit", "SECONDS", "how long a resize is put off for that (3); then the ranks wait for the rest",
     SECONDS(job.ahead_limit)},
    {"no-pmix", NULL, "without the gateway that answers tools of PMIx", FLAG(job.no_pmix)},
    {"driver", "NAME,...", "what walks the program: see Drivers (run)", ACTION(open_drivers)},
    {"elastic", "MIN-MAX", "in Slurm: how many nodes the job may have, for those who give it more", TEXT(job.elastic)},
    {"companions", NULL, "in Slurm: queue one-node jobs for the nodes that are missing to MAX", FLAG(job.companions),
     .goes_with = "elastic"},
    {"prepare-timeout", "SECONDS", "how long joining ranks may take to get ready (60)", SECONDS(job.prepare_timeout)},
    {"min-interval", "SECONDS", "least time between two adaptations (0)", SECONDS(job.min_interval)},
    {"finish-timeout", "SECONDS", "how long the end of the job may take (10)", SECONDS(job.finish_timeout)},
    {"recover", "TIMES", "start mpiexec, and the job again when it dies by a fault, so often at most",
     RANKS(recover.times)},
    {"ranks", "N", "with --recover: how many processes mpiexec starts (1)", RANKS(recover.ranks), .letter = 'n',
     .goes_with = "recover"},
    {"hosts", "LIST", "with --recover: where, as n1:4,n2:4; what is more than N are spare", TEXT(recover.hosts),
     .goes_with = "recover"},
    {"launcher", "NAME", "with --recover: as mpiexec's", TEXT(recover.launcher), .goes_with = "recover"},
    {"launcher-exec", "FILE", "with --recover: as mpiexec's", TEXT(recover.launcher_exec), .goes_with = "recover"},
    {"watchdog", "SECONDS", "say where all ranks are when none comes to its next iteration for so long",
     SECONDS(job.watchdog)},
    {"watchdog-abort", NULL, "with --watchdog: end the job then", FLAG(job.watchdog_abort), .goes_with = "watchdog"},
    {"checkpoint-every", "TIME", "save the program's described data again and again, as 10m",
     SECONDS(job.checkpoint.every)},
    {"checkpoint-memory", "TIME", "with --recover: save it again and again in the memory of the hosts, as 30s",
     SECONDS(job.checkpoint.memory)},
    {"checkpoint-dir", "DIR", "where checkpoints are written (here)", TEXT(job.checkpoint.directory)},
    {"checkpoint-keep", "N", "how many complete checkpoints stay, the newest ones (all)", COUNT(job.checkpoint.keep)},
    {"checkpoint-async", NULL, "write checkpoints while the ranks go on: these wait for a copy in memory only",
     FLAG(job.checkpoint.behind)},
    {"restart", "FILE", "go on from that checkpoint, or from the newest one in a directory",
     TEXT(job.checkpoint.restart)},
    {"quiet", NULL, "print no notes, only errors", FLAG(job.quiet), .letter = 'q'},
    {"verbose", NULL, "print each resize, pause and stop as it happens", FLAG(job.verbose), .letter = 'v'},
    {"capabilities", NULL, "try what the MPI library can do, and which backend that gives", FLAG(capabilities)},
    {"json", NULL, "with --capabilities: as JSON", FLAG(json), .goes_with = "capabilities"},
    {"version", NULL, "print the version, and of which MPI", FLAG(version)},
    {"help", NULL, "print this", FLAG(help), .letter = 'h'},
};
#define OWN_COUNT (int)(sizeof own_options / sizeof *own_options)
#define TABLE_MAX 128
#define BEGIN     "+:" /* getopt: stop at the program; tell a missing argument from an unknown option */

/* What getopt_long returns for an option: this and the row's number, or this alone for one of a driver. */
enum { OF_TABLE = 256, OF_DRIVER = 1024 };

struct parse {
    struct options *options;
    struct drivers *drivers;
    struct option table[TABLE_MAX];             /* getopt's: own options, then those of the drivers */
    char letters[sizeof BEGIN + 2 * OWN_COUNT]; /* getopt's too */
};

/* ---- --help and --version ----------------------------------------------------------------------- */

static void print_option(const struct option_row *option)
{
    char left[64], letter[8] = "    ";
    if (option->letter)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(left, sizeof left, "%s--%s %s", letter, option->name, option->argument ? option->argument : "");
    printf("  %-30s %s\n", left, option->help);
}

static void help_print(const struct option_row *options, int count, const struct drivers *drivers)
{
    printf("Usage: epop [options] PROGRAM.so [arguments of the program]\n"
           "       mpiexec -n N epop [options] PROGRAM.so [arguments of the program]\n\n"
           "Runs an EPOP program, whose number of processes can change while it runs. A program that does not use MPI\n"
           "needs no mpiexec; PROGRAM may also be the bare name of an installed program or example.\n\nOptions:\n");
    for (int i = 0; i < count; i++)
        print_option(&options[i]);
    putchar('\n');
    drivers_help(drivers, stdout);
    printf("\nExamples:\n"
           "  mpiexec -n 4 epop ./cannon.so A.npy B.npy C.npy    run on 4 ranks\n"
           "  mpiexec -n 8 epop --start 4 ./cannon.so ...        4 ranks run, 4 stand by: see epopctl resize\n"
           "  epop --driver check ./cannon.so                    check the program and print its structure\n"
           "  epop --help --driver check                         the options of a driver\n\n"
           "Exit status:\n"
           "  0  the program ended well\n"
           "  1  the job failed while it ran\n"
           "  2  wrong usage, or a program or driver that cannot be loaded\n");
}

/* The value of a "KEY:<tab>value" line of MPI's version text, "" if it has none; *length without the line's end. */
static const char *version_field(const char *text, const char *key, int *length)
{
    const char *line = strstr(text, key);
    const char *value = line ? line + strlen(key) + strspn(line + strlen(key), ": \t") : "";
    *length = (int)strcspn(value, "\n");
    return value;
}

static void version_print(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, version_length, device_length;
    printf("epop %s (interfaces: programs %u, drivers %u)\n", EPOP_VERSION, EPOP_ABI_VERSION, EPOP_DRIVER_ABI_VERSION);
    if (MPI_Get_library_version(text, &length) != MPI_SUCCESS)
        return;
    const char *version = version_field(text, "MPICH Version", &version_length);
    const char *device = version_field(text, "MPICH Device", &device_length);
    printf("MPICH %.*s, device %.*s; built with MPICH %s\n", version_length, version, device_length, device,
           MPICH_VERSION);
}

/* ---- Parsing ------------------------------------------------------------------------------------ */

/* One line on stderr, from one process of the launch. Returns the exit status. */
static int __attribute__((format(printf, 1, 2))) usage_error(const char *format, ...)
{
    if (launch_speaks()) {
        char text[1024];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        say_line("%s (see epop --help)", text);
    }
    return EXIT_USAGE;
}

static int find_in_table(const struct option *table, const char *name)
{
    for (int i = 0; table[i].name; i++) {
        if (!strcmp(table[i].name, name))
            return 1;
    }
    return 0;
}

/* Adds the options of one driver to getopt's table. */
static int add_driver_options(struct parse *parse, const epop_driver_t *driver, int *count)
{
    for (const epop_driver_option_t *option = driver->options; option && option->name; option++) {
        if (find_in_table(parse->table, option->name))
            return usage_error("the driver '%s' has an option --%s, which is epop's own", driver->name, option->name);
        if (*count == TABLE_MAX - 1)
            return usage_error("the drivers have too many options");
        parse->table[(*count)++] = (struct option){option->name, !!option->argument, NULL, OF_DRIVER};
    }
    return OPTIONS_GO_ON;
}

static int fill_table(struct parse *parse)
{
    int count = 0, status = OPTIONS_GO_ON;
    size_t letters = strlen(BEGIN);
    memset(parse->table, 0, sizeof parse->table);
    memset(parse->letters, 0, sizeof parse->letters);
    memcpy(parse->letters, BEGIN, letters);
    for (; count < OWN_COUNT; count++) {
        const struct option_row *row = &own_options[count];
        parse->table[count] = (struct option){row->name, !!row->argument, NULL, OF_TABLE + count};
        if (row->letter)
            parse->letters[letters++] = row->letter;
        if (row->letter && row->argument)
            parse->letters[letters++] = ':';
    }
    for (int i = 0; i < parse->drivers->count && status == OPTIONS_GO_ON; i++)
        status = add_driver_options(parse, &parse->drivers->slots[i].table, &count);
    return status;
}

static int open_drivers(struct parse *parse, const char *names, struct error *error)
{
    return drivers_open(parse->drivers, names, error);
}

/* What getopt could not make sense of; `word` is the argument that it was looking at. */
static int refuse_word(int problem, const char *word)
{
    if (problem == ':')
        return usage_error("%s wants an argument", word);
    return usage_error("unknown option %s; options of a driver come after --driver", word);
}

/* Of what getopt returned: a row's number or its letter; NULL: neither. */
static const struct option_row *find_row(int returned)
{
    if (returned >= OF_TABLE && returned < OF_TABLE + OWN_COUNT)
        return &own_options[returned - OF_TABLE];
    for (int i = 0; i < OWN_COUNT; i++)
        if (own_options[i].letter == returned)
            return &own_options[i];
    return NULL;
}

static int apply_own(struct parse *parse, const struct option_row *row)
{
    struct error error = {0};
    int result = row->act ? row->act(parse, optarg, &error) : option_set(row, parse->options, optarg, &error);
    if (result)
        return usage_error("%s", error.text);
    return row->act ? fill_table(parse) : OPTIONS_GO_ON; /* there may be options of another driver now */
}

static int apply_drivers(struct parse *parse, const char *name)
{
    struct error error = {0};
    if (drivers_option(parse->drivers, name, optarg, &error) != 0)
        return usage_error("%s", error.text);
    return OPTIONS_GO_ON;
}

static int parse_options(struct parse *parse, int argc, char **argv)
{
    int status = fill_table(parse);
    opterr = 0;
    optind = 1;
    while (status == OPTIONS_GO_ON) {
        int index = -1;
        const char *word = optind < argc ? argv[optind] : "";
        int returned = getopt_long(argc, argv, parse->letters, parse->table, &index);
        const struct option_row *row = find_row(returned);
        if (returned == -1)
            break;
        if (returned == OF_DRIVER)
            status = apply_drivers(parse, parse->table[index].name);
        else
            status = row ? apply_own(parse, row) : refuse_word(returned, word);
    }
    return status;
}

static const struct option_row *find_own(const char *name)
{
    const struct option_row *row = own_options;
    while (strcmp(row->name, name))
        row++;
    return row;
}

/* Options that mean nothing without another one. */
static int check_pairs(const struct options *options)
{
    for (const struct option_row *row = own_options; row < own_options + OWN_COUNT; row++) {
        const struct option_row *other = row->goes_with ? find_own(row->goes_with) : NULL;
        if (other && option_is_set(row, options) && !option_is_set(other, options))
            return usage_error("--%s goes with --%s%s%s", row->name, other->name, other->argument ? " " : "",
                               other->argument ? other->argument : "");
    }
    return OPTIONS_GO_ON;
}

static int print_about(const struct parse *parse)
{
    if (parse->options->help && launch_speaks())
        help_print(own_options, OWN_COUNT, parse->drivers);
    else if (launch_speaks())
        version_print();
    return EXIT_DONE;
}

/* What is printed instead of running a program, and the program that is missing or not. */
static int finish_parsing(const struct parse *parse, int argc, char **argv)
{
    struct options *options = parse->options;
    if (options->help || options->version)
        return print_about(parse);
    int status = check_pairs(options);
    if (status != OPTIONS_GO_ON)
        return status;
    if (options->capabilities)
        return capabilities_print(options->json) ? EXIT_USAGE : EXIT_DONE;
    if (optind >= argc)
        return usage_error("no program: name a shared object");
    options->program = argv[optind];
    options->argc = argc - optind;
    options->argv = argv + optind;
    options->job.checkpoint.arguments = argv + optind;
    return OPTIONS_GO_ON;
}

int options_parse(int argc, char **argv, struct options *options, struct drivers *drivers)
{
    struct parse parse = {.options = options, .drivers = drivers};
    struct error error = {0};
    memset(drivers, 0, sizeof *drivers);
    *options = (struct options){.job = {JOB_OPTIONS_USUAL, .finish_timeout = 10, .command = argv}};
    int status = parse_options(&parse, argc, argv);
    if (status == OPTIONS_GO_ON && drivers->count == 0 && drivers_open(drivers, "run", &error) != 0)
        status = usage_error("%s", error.text);
    return status == OPTIONS_GO_ON ? finish_parsing(&parse, argc, argv) : status;
}
