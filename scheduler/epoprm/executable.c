/* Looking for programs: see executable.h. */
#include "scheduler/epoprm/executable.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/helper.h"
#include "scheduler/epoprm/say.h"

static bool is_file(const char *path, int mode)
{
    struct stat status;
    return !stat(path, &status) && S_ISREG(status.st_mode) && !access(path, mode);
}

char *executable_beside(const char *name)
{
    char path[PATH_MAX];
    return !tree_path(name, path, sizeof path) && is_file(path, R_OK) ? strdup(path) : NULL;
}

static bool in_path(const char *name)
{
    const char *at = getenv("PATH");
    bool found = false;
    while (at && *at && !found) {
        size_t length = strcspn(at, ":");
        char *path = NULL;
        if (asprintf(&path, "%.*s/%s", (int)length, at, name) >= 0)
            found = is_file(path, X_OK);
        free(path);
        at += length + (at[length] == ':');
    }
    return found;
}

/* The programs and examples that EPOP brings are found by their name. */
static bool is_ours(const char *name)
{
    static const char *const folders[] = {"lib/epop/programs", "lib/epop/examples"};
    for (int i = 0; i < 2 && !strchr(name, '/'); i++) {
        char *inside = NULL, *path = NULL;
        if (asprintf(&inside, "%s/%s", folders[i], name) >= 0)
            path = executable_beside(inside);
        free(inside);
        free(path);
        if (path)
            return true;
    }
    return false;
}

static int check_file(const char *name, int mode)
{
    struct stat status;
    if (is_file(name, mode))
        return 0;
    if (stat(name, &status))
        rm_complain("submit: %s: %s", name, strerror(errno));
    else if (!S_ISREG(status.st_mode))
        rm_complain("submit: %s: is no file", name);
    else
        rm_complain("submit: %s: cannot be %s: chmod +%c it", name, mode == X_OK ? "executed" : "read",
                    mode == X_OK ? 'x' : 'r');
    return -1;
}

int executable_check(const char *name)
{
    const char *end = strrchr(name, '.');
    if (end && !strcmp(end, ".so"))
        return is_ours(name) ? 0 : check_file(name, R_OK);
    if (strchr(name, '/'))
        return check_file(name, X_OK);
    if (*name && in_path(name))
        return 0;
    rm_complain("submit: %s: there is no such command (a program here is ./%s)", name, name);
    return -1;
}
