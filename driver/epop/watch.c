/* The program takes the place of this process, so that it is what its launcher started. */
#include "driver/epop/watch.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/epop/launch.h"
#include "runtime/base/paths.h"
#include "runtime/base/say.h"

static bool has_driver(const struct drivers *drivers, const char *name)
{
    for (int i = 0; i < drivers->count; i++)
        if (!strcmp(drivers->slots[i].table.name, name))
            return true;
    return false;
}

/* What walks a program of phases has nothing to walk here. */
static const char *unfit_driver(const struct drivers *drivers)
{
    for (int i = 0; i < drivers->count; i++) {
        const char *name = drivers->slots[i].table.name;
        if (strcmp(name, "run") && strcmp(name, "profile"))
            return name;
    }
    return NULL;
}

/* Before what is preloaded already. */
static int preload(void)
{
    char library[PATH_MAX], all[2 * PATH_MAX];
    const char *others = getenv("LD_PRELOAD");
    if (tree_path("lib/libepop_mpi.so.0", library, sizeof library) || access(library, R_OK)) {
        say_line("cannot find lib/libepop_mpi.so.0 beside this epop, by which executables are measured");
        return -1;
    }
    snprintf(all, sizeof all, "%s%s%s", library, others && *others ? ":" : "", others ? others : "");
    return setenv("LD_PRELOAD", all, 1);
}

/* Of the words before the program; NULL: all are of use. */
static const char *useless_option(const struct options *options)
{
    static const char *const useful[] = {"--driver", "--output", "--quiet", "-q"};
    for (char **word = options->job.command + 1; word < options->argv; word++) {
        bool is_useful = **word != '-';
        for (size_t i = 0; i < sizeof useful / sizeof *useful; i++)
            is_useful |= !strncmp(*word, useful[i], strlen(useful[i]));
        if (!is_useful)
            return *word;
    }
    return NULL;
}

/* 0, or -1 with a line. */
static int check(const struct options *options, const struct drivers *drivers, struct error *error)
{
    const char *driver = unfit_driver(drivers), *option = useless_option(options);
    if (driver)
        return error_set(error, ERROR_REFUSED,
                         "%s has a main() of its own, and the driver '%s' walks programs of phases; drivers for "
                         "executables are run and profile",
                         options->program, driver);
    if (option)
        return error_set(
            error, ERROR_REFUSED,
            "%s has a main() of its own, for which %s means nothing: it is measured, at the size of its launch",
            options->program, option);
    return 0; /* whether the output can be written is seen where all processes hear of it */
}

int watch_run(const struct options *options, const struct drivers *drivers)
{
    struct error error = {0};
    const char *output = options->output ? options->output : "-";
    if (check(options, drivers, &error)) {
        if (launch_speaks())
            say_line("%s", error.text);
        return EXIT_USAGE;
    }
    if (!launch_detect().launcher) {
        launch_again_under_mpiexec(options->job.command, options->job.quiet);
        return EXIT_USAGE;
    }
    if (preload() || setenv("EPOP_WATCH", has_driver(drivers, "profile") ? output : "", 1))
        return EXIT_FAILED;
    execv(options->program, options->argv);
    say_line("cannot start '%s': %s", options->program, strerror(errno));
    return EXIT_USAGE;
}
