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

int watch_run(const struct options *options, const struct drivers *drivers)
{
    const char *unfit = unfit_driver(drivers), *output = options->output ? options->output : "-";
    if (unfit) {
        if (launch_speaks())
            say_line("%s has a main() of its own, and the driver '%s' walks programs of phases; drivers for "
                     "executables are run "
                     "and profile",
                     options->program, unfit);
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
