/*
 * The table of epop's options, to which a driver's are added at --driver, so that they come after it. The program's own
 * arguments begin with its name and are left alone.
 */
#include "driver/epop/options.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "driver/epop/capabilities.h"
#include "driver/epop/launch.h"
#include "runtime/backends/device.h"
#include "runtime/base/error.h"
#include "runtime/base/say.h"
#include "runtime/base/tried.h"

/* ---- The table ---------------------------------------------------------------------------------- */

static int take_drivers(const struct option_row *row, struct options *options, const char *names, struct error *error);
static int take_tuned(const struct option_row *row, struct options *options, const char *path, struct error *error);

static const struct option_row own_rows[] = {
    {"start", "N", "start on N ranks of the launch, the others stand by (all)", OPT_COUNT(job.start)},
    {"max", "N", "most ranks that a resize may ask for, where processes are started (256)", OPT_COUNT(job.maximum)},
    {"backend", "auto|join|pool|spawn", "how processes come and go (auto)", OPT_TEXT(job.backend)},
    {"leave", "exit|park|auto", "processes that leave end, or stand by to join again (as the backend does)",
     OPT_TEXT(job.leave)},
    {"spawn-method", "merge|baseline", "with --backend spawn: old ranks stay, or all are replaced (merge)",
     OPT_CHOICE(job.spawn.method)},
    {"spawn-strategy", "plain|single", "with --backend spawn: all ranks spawn, or rank 0 does (plain)",
     OPT_CHOICE(job.spawn.strategy)},
    {"spawn-async", NULL, "with --backend spawn: a helper thread spawns while the ranks compute",
     OPT_FLAG(job.spawn.async)},
    {"no-ahead", NULL, "connect joining ranks only when the others stand still; MPI then needs no threads",
     OPT_FLAG(job.no_ahead)},
    {"no-ahead-data", NULL, "move described data that is constant only when all ranks stand still",
     OPT_FLAG(job.no_ahead_data)},
    {"ahead-limit", "SECONDS", "how long a resize is put off for that (3); then the ranks wait for the rest",
     OPT_SECONDS(job.ahead_limit)},
    {"no-pmix", NULL, "without the gateway that answers tools of PMIx", OPT_FLAG(job.no_pmix)},
    {"driver", "NAME,...", "what walks the program: see Drivers (run)", OPT_OWN(take_drivers)},
    {"tuned", "FILE", "begin with the settings that the driver tune has found", OPT_OWN(take_tuned)},
    {"elastic", "MIN-MAX", "in Slurm: how many nodes the job may have, for those who give it more",
     OPT_TEXT(job.elastic)},
    {"companions", NULL, "in Slurm: queue one-node jobs for the nodes that are missing to MAX",
     OPT_FLAG(job.companions), .goes_with = "elastic"},
    {"prepare-timeout", "SECONDS", "how long joining ranks may take to get ready (60)",
     OPT_SECONDS(job.prepare_timeout)},
    {"min-interval", "SECONDS", "least time between two adaptations (0)", OPT_SECONDS(job.min_interval)},
    {"balance", "RATIO", "deal the data out anew when the busiest rank computes RATIO times the mean, as 1.2",
     OPT_NUMBER(job.balance, 1.01, 1000)},
    {"finish-timeout", "SECONDS", "how long the end of the job may take (10)", OPT_SECONDS(job.finish_timeout)},
    {"recover", "TIMES", "start mpiexec, and the job again when it dies by a fault, so often at most",
     OPT_COUNT(recover.times)},
    {"ranks", "N", "with --recover: how many processes mpiexec starts (1)", OPT_COUNT(recover.ranks), .letter = 'n',
     .goes_with = "recover"},
    {"hosts", "LIST", "with --recover: where, as n1:4,n2:4; what is more than N are spare", OPT_TEXT(recover.hosts),
     .goes_with = "recover"},
    {"launcher", "NAME", "with --recover: as mpiexec's", OPT_TEXT(recover.launcher), .goes_with = "recover"},
    {"launcher-exec", "FILE", "with --recover: as mpiexec's", OPT_TEXT(recover.launcher_exec), .goes_with = "recover"},
    {"watchdog", "SECONDS", "say where all ranks are when none comes to its next iteration for so long",
     OPT_SECONDS(job.watchdog)},
    {"watchdog-abort", NULL, "with --watchdog: end the job then", OPT_FLAG(job.watchdog_abort),
     .goes_with = "watchdog"},
    {"checkpoint-every", "TIME", "save the program's described data again and again, as 10m",
     OPT_SECONDS(job.checkpoint.every)},
    {"checkpoint-memory", "TIME", "with --recover: save it again and again in the memory of the hosts, as 30s",
     OPT_SECONDS(job.checkpoint.memory)},
    {"checkpoint-dir", "DIR", "where checkpoints are written (here)", OPT_TEXT(job.checkpoint.directory)},
    {"checkpoint-keep", "N", "how many complete checkpoints stay, the newest ones (all)",
     OPT_COUNT(job.checkpoint.keep)},
    {"checkpoint-async", NULL, "write checkpoints while the ranks go on: these wait for a copy in memory only",
     OPT_FLAG(job.checkpoint.behind)},
    {"restart", "FILE", "go on from that checkpoint, or from the newest one in a directory",
     OPT_TEXT(job.checkpoint.restart)},
    {"new-arguments", NULL, "with --restart: the program's arguments may be others than before",
     OPT_FLAG(job.checkpoint.new_arguments), .goes_with = "restart"},
    {"quiet", NULL, "print no notes, only errors", OPT_FLAG(job.quiet), .letter = 'q'},
    {"verbose", NULL, "print each resize, pause and stop as it happens", OPT_FLAG(job.verbose), .letter = 'v'},
    {"capabilities", NULL, "try what the MPI library can do, and which backend that gives", OPT_FLAG(capabilities)},
    {"json", NULL, "with --capabilities: as JSON", OPT_FLAG(json), .goes_with = "capabilities"},
    {"version", NULL, "print the version, and of which MPI", OPT_FLAG(version)},
    {"help", NULL, "print this", OPT_FLAG(help), .letter = 'h'},
    {0},
};

enum { OWN_COUNT = sizeof own_rows / sizeof *own_rows - 1 };

static const struct option_table own_table = {.rows = own_rows, .column = 34};

/* ---- --help and --version ----------------------------------------------------------------------- */

static void help_print(const struct drivers *drivers)
{
    printf("Usage: epop [options] PROGRAM.so [arguments of the program]\n"
           "       mpiexec -n N epop [options] PROGRAM.so [arguments of the program]\n\n"
           "Runs an EPOP program, whose number of processes can change while it runs. A program that does not use MPI\n"
           "needs no mpiexec; PROGRAM may also be the bare name of an installed program or example. An MPI program "
           "with a\n"
           "main() of its own is run as it is, and measured: --driver profile says how its loops spend their "
           "time.\n\nOptions:\n");
    options_print(stdout, &own_table);
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

#ifdef MPICH_VERSION
#define BUILT_WITH "MPICH " MPICH_VERSION
#else
#define BUILT_WITH "MPI's standard interface"
#endif

static void version_print(void)
{
    struct device device = device_read();
    char untried[TRIED_TEXT];
    printf("epop %s (interfaces: programs %u, drivers %u)\n", EPOP_VERSION, EPOP_ABI_VERSION, EPOP_DRIVER_ABI_VERSION);
    printf("%s, device %s; built with %s\n", device.library, device.name, BUILT_WITH);
    if (device.maker[0] && !tried_with(device.maker, device.version, untried))
        puts(untried);
}

/* ---- Options of drivers ------------------------------------------------------------------------- */

/* A driver's are known from --driver on, behind epop's own. */
static struct {
    struct drivers *drivers;
    struct option_row rows[OPTIONS_MAX + 1];
    int count;
} all;

static bool is_known(const char *name)
{
    for (int i = 0; i < all.count; i++)
        if (!strcmp(all.rows[i].name, name))
            return true;
    return false;
}

static int take_for_driver(const struct option_row *row, struct options *options, const char *value,
                           struct error *error)
{
    if (!strcmp(row->name, "output"))
        options->output = value;
    return drivers_option(all.drivers, row->name, value, error);
}

static int add_driver_options(const epop_driver_t *driver, struct error *error)
{
    for (const epop_driver_option_t *option = driver->options; option && option->name; option++) {
        if (is_known(option->name))
            return error_set(error, ERROR_REFUSED, "the driver '%s' has an option --%s, which is epop's own",
                             driver->name, option->name);
        if (all.count == OPTIONS_MAX)
            return error_set(error, ERROR_REFUSED, "the drivers have too many options");
        all.rows[all.count++] = (struct option_row){option->name, option->argument, "", OPT_OWN(take_for_driver)};
    }
    return 0;
}

static int take_drivers(const struct option_row *row, struct options *options, const char *names, struct error *error)
{
    (void)row;
    (void)options;
    int before = all.drivers->count;
    if (drivers_open(all.drivers, names, error))
        return -1;
    for (int i = before; i < all.drivers->count; i++)
        if (add_driver_options(&all.drivers->slots[i].table, error))
            return -1;
    return 0;
}

/* As often as it is given, the last one counts. */
static int take_tuned(const struct option_row *row, struct options *options, const char *path, struct error *error)
{
    static struct tuned tuned;
    (void)row;
    options->tuned = &tuned;
    return tuned_read(path, &tuned, error) || tuned_preset(&tuned, error) ? -1 : 0;
}

/* ---- Parsing ------------------------------------------------------------------------------------ */

/* One line on stderr, from one process of the launch. Returns the exit status. */
static int usage_error(const char *text)
{
    if (launch_speaks())
        say_line("%s (see epop --help)", text);
    return EXIT_USAGE;
}

static int print_about(const struct options *options)
{
    if (options->help && launch_speaks())
        help_print(all.drivers);
    else if (launch_speaks())
        version_print();
    return EXIT_DONE;
}

/* What is printed instead of running a program, and the program that is missing or not. */
static int finish_parsing(struct options *options, int argc, char **argv)
{
    if (options->help || options->version)
        return print_about(options);
    if (options->capabilities)
        return capabilities_print(options->json) ? EXIT_USAGE : EXIT_DONE;
    if (argc < 1)
        return usage_error("no program: name a shared object");
    options->program = argv[0];
    options->argc = argc;
    options->argv = argv;
    options->job.checkpoint.arguments = argv;
    return OPTIONS_GO_ON;
}

int options_parse(int argc, char **argv, struct options *options, struct drivers *drivers)
{
    static const struct option_table table = {
        .rows = all.rows, .ends_at_word = true, .hint = "; options of a driver come after --driver"};
    struct error error = {0};
    memset(drivers, 0, sizeof *drivers);
    all.drivers = drivers;
    all.count = OWN_COUNT;
    memcpy(all.rows, own_rows, sizeof own_rows);
    *options = (struct options){.job = {JOB_OPTIONS_USUAL, .finish_timeout = 10, .command = argv}};
    int first = options_read(&table, argc, argv, options, &error);
    if (first < 0 || (drivers->count == 0 && drivers_open(drivers, "run", &error)))
        return usage_error(error.text);
    return finish_parsing(options, argc - first, argv + first);
}
