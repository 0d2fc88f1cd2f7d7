/* The daemon's directory: see place.h. */
#include "scheduler/epoprm/place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int below(char path[PLACE_MAX], const char *base, const char *rest, struct error *error)
{
    int length = snprintf(path, PLACE_MAX, "%s%s", base, rest);
    if (base[0] != '/')
        return error_set(error, ERROR_REFUSED, "\"%.200s\" is no absolute path: set EPOPRM_DIR to one", base);
    if (length >= PLACE_MAX - 64)
        return error_set(error, ERROR_REFUSED, "the path of the state directory is too long: set EPOPRM_DIR");
    return 0;
}

int place_directory(char path[PLACE_MAX], struct error *error)
{
    const char *own = getenv("EPOPRM_DIR"), *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (own && *own)
        return below(path, own, "", error);
    if (state && state[0] == '/')
        return below(path, state, "/epop/epoprm", error);
    if (home && *home)
        return below(path, home, "/.local/state/epop/epoprm", error);
    return error_set(error, ERROR_REFUSED, "there is no HOME: set EPOPRM_DIR to a directory for the daemon's state");
}

int place_file(char path[PLACE_MAX], const char *name, struct error *error)
{
    if (place_directory(path, error))
        return -1;
    size_t used = strlen(path);
    snprintf(path + used, PLACE_MAX - used, "/%s", name);
    return 0;
}

static int make_parents(const char *path)
{
    char *copy = strdup(path);
    int failed = copy ? 0 : -1;
    for (char *slash = copy ? strchr(copy + 1, '/') : NULL; slash && !failed; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        failed = mkdir(copy, 0700) && errno != EEXIST ? -1 : 0;
        *slash = '/';
    }
    free(copy);
    return failed;
}

int place_make(const char *path, struct error *error)
{
    struct stat status;
    if (make_parents(path) || (mkdir(path, 0700) && errno != EEXIST) || stat(path, &status))
        return error_set(error, ERROR_FAILED, "%s: cannot be made: %s", path, strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return error_set(error, ERROR_FAILED, "%s: is no directory", path);
    if (status.st_uid != geteuid() || status.st_mode & 022)
        return error_set(error, ERROR_FAILED, "%s: others may write there: chmod 700 it, or set EPOPRM_DIR", path);
    return 0;
}
