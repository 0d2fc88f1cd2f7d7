/*
 * Parsing in one pass: a driver's options are known from --driver on, so that they come after it. The
 * program's own arguments begin with its name and are left alone.
 */
#include "driver/options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/capabilities.h"
#include "driver/help.h"
#include "driver/launch.h"

enum {
    START = 256,
    MAXIMUM,
    BACKEND,
    SPAWN_METHOD,
    SPAWN_STRATEGY,
    SPAWN_ASYNC,
    NO_AHEAD,
    LEAVE,
    CAPABILITIES,
    JSON,
    DRIVER,
    PREPARE_TIMEOUT,
    MIN_INTERVAL,
    FINISH_TIMEOUT,
    WATCHDOG,
    WATCHDOG_ABORT,
    VERSION,
    OF_DRIVER
};

static const struct option_text own_options[] = {
    {"start", "N", "start on N ranks of the launch, the others stand by (all)", START},
    {"max", "N", "most ranks that a resize may ask for, where processes are started (256)", MAXIMUM},
    {"backend", "NAME", "how processes come and go: auto, join, pool or spawn (auto)", BACKEND},
    {"leave", "exit|park|auto", "processes that leave end, or stand by to join again (as the backend does)", LEAVE},
    {"spawn-method", "NAME", "with --backend spawn: merge (old ranks stay) or baseline (all are replaced) (merge)",
     SPAWN_METHOD},
    {"spawn-strategy", "NAME", "with --backend spawn: plain (all ranks spawn) or single (rank 0 does) (plain)",
     SPAWN_STRATEGY},
    {"spawn-async", NULL, "with --backend spawn: a helper thread spawns while the ranks compute", SPAWN_ASYNC},
    {"no-ahead", NULL, "connect joining ranks only when the others stand still; MPI then needs no threads", NO_AHEAD},
    {"driver", "NAME", "what walks the program: see Drivers; several with commas (run)", DRIVER},
    {"prepare-timeout", "SECONDS", "how long joining ranks may take to get ready (60)", PREPARE_TIMEOUT},
    {"min-interval", "SECONDS", "least time between two adaptations (0)", MIN_INTERVAL},
    {"finish-timeout", "SECONDS", "how long the end of the job may take (10)", FINISH_TIMEOUT},
    {"watchdog", "SECONDS", "say where all ranks are when none comes to its next iteration for so long", WATCHDOG},
    {"watchdog-abort", NULL, "with --watchdog: end the job then", WATCHDOG_ABORT},
    {"quiet", NULL, "print no notes, only errors", 'q'},
    {"verbose", NULL, "print each resize, pause and stop as it happens", 'v'},
    {"capabilities", NULL, "try what the MPI library can do, and which backend that gives", CAPABILITIES},
    {"json", NULL, "with --capabilities: as JSON", JSON},
    {"version", NULL, "print the version, and of which MPI", VERSION},
    {"help", NULL, "print this", 'h'},
};
#define OWN_COUNT    (int)(sizeof own_options / sizeof *own_options)
#define TABLE_MAX    128
#define SHORT_LETTER "+:qvh" /* stop at the program; tell a missing argument from an unknown option */

struct parse {
    struct options *options;
    struct drivers *drivers;
    struct option table[TABLE_MAX]; /* getopt's: own options, then those of the drivers */
    int help, version;
};

/* One line on stderr, from one process of the launch. Returns the exit status. */
static int __attribute__((format(printf, 1, 2))) usage_error(const char *format, ...)
{
    if (launch_speaks()) {
        char text[1024];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        fprintf(stderr, "epop: %s (see epop --help)\n", text);
    }
    return EXIT_USAGE;
}

static int find_in_table(const struct option *table, const char *name)
{
    for (int i = 0; table[i].name; i++) {
        if (strcmp(table[i].name, name) == 0)
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
        parse->table[(*count)++] = (struct option){option->name, option->argument != NULL, NULL, OF_DRIVER};
    }
    return OPTIONS_GO_ON;
}

static int fill_table(struct parse *parse)
{
    int count = 0, status = OPTIONS_GO_ON;
    memset(parse->table, 0, sizeof parse->table);
    for (; count < OWN_COUNT; count++) {
        const struct option_text *own = &own_options[count];
        parse->table[count] = (struct option){own->name, own->argument != NULL, NULL, own->letter};
    }
    for (int i = 0; i < parse->drivers->count && status == OPTIONS_GO_ON; i++)
        status = add_driver_options(parse, &parse->drivers->slots[i].table, &count);
    return status;
}

static int set_seconds(double *seconds, const char *name)
{
    char *end;
    double value = strtod(optarg, &end);
    if (end == optarg || *end || !isfinite(value) || value < 0)
        return usage_error("--%s wants a number of seconds, not '%s'", name, optarg);
    *seconds = value;
    return OPTIONS_GO_ON;
}

static int set_ranks(int *ranks, const char *name)
{
    char *end;
    errno = 0;
    long value = strtol(optarg, &end, 10);
    if (end == optarg || *end || errno || value < 1 || value > INT_MAX)
        return usage_error("--%s wants a number of ranks from 1 on, not '%s'", name, optarg);
    *ranks = (int)value;
    return OPTIONS_GO_ON;
}

/* One of two words: *second tells which. */
static int set_choice(int *second, const char *name, const char *words[2])
{
    *second = strcmp(optarg, words[1]) == 0;
    if (!*second && strcmp(optarg, words[0]) != 0)
        return usage_error("--%s wants %s or %s, not '%s'", name, words[0], words[1], optarg);
    return OPTIONS_GO_ON;
}

static int open_drivers(struct parse *parse, const char *names)
{
    char error[1024];
    if (drivers_open(parse->drivers, names, error, sizeof error) != 0)
        return usage_error("%s", error);
    return fill_table(parse);
}

static int set_driver_option(struct parse *parse, const char *name)
{
    char error[1024];
    if (drivers_option(parse->drivers, name, optarg, error, sizeof error) != 0)
        return usage_error("%s", error);
    return OPTIONS_GO_ON;
}

/* What getopt could not make sense of; `word` is the argument that it was looking at. */
static int refuse_word(int problem, const char *word)
{
    if (problem == ':')
        return usage_error("%s wants an argument", word);
    return usage_error("unknown option %s; options of a driver come after --driver", word);
}

static int apply(struct parse *parse, int letter, const char *name, const char *word)
{
    struct options *options = parse->options;
    switch (letter) {
    case START:
        return set_ranks(&options->start, name);
    case MAXIMUM:
        return set_ranks(&options->maximum, name);
    case BACKEND:
        options->backend = optarg;
        return OPTIONS_GO_ON;
    case SPAWN_METHOD:
        return set_choice(&options->spawn_baseline, name, (const char *[]){"merge", "baseline"});
    case SPAWN_STRATEGY:
        return set_choice(&options->spawn_single, name, (const char *[]){"plain", "single"});
    case SPAWN_ASYNC:
        options->spawn_async = 1;
        return OPTIONS_GO_ON;
    case NO_AHEAD:
        options->no_ahead = 1;
        return OPTIONS_GO_ON;
    case LEAVE:
        options->leave = optarg;
        return OPTIONS_GO_ON;
    case CAPABILITIES:
        options->capabilities = 1;
        return OPTIONS_GO_ON;
    case JSON:
        options->json = 1;
        return OPTIONS_GO_ON;
    case DRIVER:
        return open_drivers(parse, optarg);
    case PREPARE_TIMEOUT:
        return set_seconds(&options->prepare_timeout, name);
    case MIN_INTERVAL:
        return set_seconds(&options->min_interval, name);
    case FINISH_TIMEOUT:
        return set_seconds(&options->finish_timeout, name);
    case WATCHDOG:
        return set_seconds(&options->watchdog, name);
    case WATCHDOG_ABORT:
        options->watchdog_abort = 1;
        return OPTIONS_GO_ON;
    case 'q':
        options->quiet = 1;
        return OPTIONS_GO_ON;
    case 'v':
        options->verbose = 1;
        return OPTIONS_GO_ON;
    case 'h':
        parse->help = 1;
        return OPTIONS_GO_ON;
    case VERSION:
        parse->version = 1;
        return OPTIONS_GO_ON;
    case OF_DRIVER:
        return set_driver_option(parse, name);
    default:
        return refuse_word(letter, word);
    }
}

static int parse_words(struct parse *parse, int argc, char **argv)
{
    int status = fill_table(parse);
    opterr = 0;
    optind = 1;
    while (status == OPTIONS_GO_ON) {
        int index = -1;
        const char *word = optind < argc ? argv[optind] : "";
        int letter = getopt_long(argc, argv, SHORT_LETTER, parse->table, &index);
        if (letter == -1)
            break;
        status = apply(parse, letter, index >= 0 ? parse->table[index].name : "", word);
    }
    return status;
}

/* What --help and --version print, and the program that is missing or not. */
static int finish(struct parse *parse, int argc, char **argv)
{
    if (parse->help || parse->version) {
        if (parse->help && launch_speaks())
            help_print(own_options, OWN_COUNT, parse->drivers);
        else if (launch_speaks())
            version_print();
        return EXIT_DONE;
    }
    if (parse->options->json && !parse->options->capabilities)
        return usage_error("--json goes with --capabilities");
    if (parse->options->watchdog_abort && !parse->options->watchdog)
        return usage_error("--watchdog-abort goes with --watchdog SECONDS");
    if (parse->options->capabilities)
        return capabilities_print(parse->options->json) ? EXIT_USAGE : EXIT_DONE;
    if (optind >= argc)
        return usage_error("no program: name a shared object");
    parse->options->program = argv[optind];
    parse->options->argc = argc - optind;
    parse->options->argv = argv + optind;
    return OPTIONS_GO_ON;
}

int options_parse(int argc, char **argv, struct options *options, struct drivers *drivers)
{
    struct parse parse = {.options = options, .drivers = drivers};
    memset(drivers, 0, sizeof *drivers);
    *options = (struct options){.backend = "auto",
                                .leave = "auto",
                                .maximum = 256,
                                .prepare_timeout = 60,
                                .finish_timeout = 10,
                                .full_argv = argv};
    int status = parse_words(&parse, argc, argv);
    if (status == OPTIONS_GO_ON && drivers->count == 0)
        status = open_drivers(&parse, "run");
    return status == OPTIONS_GO_ON ? finish(&parse, argc, argv) : status;
}
