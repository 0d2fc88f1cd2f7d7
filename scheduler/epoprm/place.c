/* The daemon's directory: see place.h. */
#include "scheduler/epoprm/place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/statedir.h"

int place_directory(char path[PLACE_MAX], struct error *error)
{
    const char *own = getenv("EPOPRM_DIR"), *home = getenv("HOME");
    size_t most = PLACE_MAX - 64; /* with room for the names of what is in it */
    if (own && *own) {
        if (own[0] != '/')
            return error_set(error, ERROR_REFUSED, "\"%.200s\" is no absolute path: set EPOPRM_DIR to one", own);
        if (strlen(own) < most)
            return strcpy(path, own), 0;
    } else if (!statedir_path(path, most, "epoprm")) {
        return 0;
    } else if (!home || home[0] != '/') {
        return error_set(error, ERROR_REFUSED,
                         "there is no HOME: set EPOPRM_DIR to a directory for the daemon's state");
    }
    return error_set(error, ERROR_REFUSED, "the path of the state directory is too long: set EPOPRM_DIR");
}

int place_file(char path[PLACE_MAX], const char *name, struct error *error)
{
    if (place_directory(path, error))
        return -1;
    size_t used = strlen(path);
    snprintf(path + used, PLACE_MAX - used, "/%s", name);
    return 0;
}

int place_make(const char *path, struct error *error)
{
    struct stat status;
    if (make_parents(path, 0700) || (mkdir(path, 0700) && errno != EEXIST) || stat(path, &status))
        return error_set(error, ERROR_FAILED, "%s: cannot be made: %s", path, strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return error_set(error, ERROR_FAILED, "%s: is no directory", path);
    if (status.st_uid != geteuid() || status.st_mode & 022)
        return error_set(error, ERROR_FAILED, "%s: others may write there: chmod 700 it, or set EPOPRM_DIR", path);
    return 0;
}
