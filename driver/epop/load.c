/* Loads a program: finds its file, opens it, calls get_program, and says what is wrong with the result. */
#include "driver/epop/load.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver/epop/launch.h"
#include "driver/epop/object.h"
#include "runtime/base/error.h"
#include "runtime/crash/crash.h"

/* ../lib/epop/FOLDER/NAME seen from the executable's directory, with .so at the end if it is missing there. */
static int find_installed(const char *folder, const char *name, char path[PATH_MAX])
{
    char own[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length < 0)
        return 0;
    own[length] = 0;
    *strrchr(own, '/') = 0;
    for (int with_end = 0; with_end < 2; with_end++) {
        int used = snprintf(path, PATH_MAX, "%s/../lib/epop/%s/%s%s", own, folder, name, with_end ? ".so" : "");
        if (used < PATH_MAX && access(path, F_OK) == 0)
            return 1;
    }
    return 0;
}

/* The file that is meant. dlopen would look for a name without a slash among the system's libraries. */
static int find_program(const char *given, char path[PATH_MAX], struct error *error)
{
    struct stat status;
    int bare = !strchr(given, '/');
    if (!given[0] || strlen(given) + 3 > PATH_MAX) {
        return error_set(error, ERROR_FAILED, "the path of the program is %s", given[0] ? "too long" : "empty");
    }
    snprintf(path, PATH_MAX, "%s%s", bare ? "./" : "", given);
    if (stat(path, &status) != 0 && errno != ENOENT) {
        return error_set(error, ERROR_FAILED, "%s: cannot be read: %s", given, strerror(errno));
    }
    if (access(path, F_OK) != 0) {
        if (bare && (find_installed("programs", given, path) || find_installed("examples", given, path)))
            return 0;
        error_set(error, ERROR_FAILED, "%s: no such file%s", given,
                  bare ? " here, and no installed program or example of that name" : "; check the path");
        return -1;
    }
    if (S_ISDIR(status.st_mode)) {
        error_set(error, ERROR_FAILED, "%s: is a directory; name the program's shared object in it", given);
        return -1;
    }
    if (!S_ISREG(status.st_mode)) { /* reading a pipe could take for ever */
        error_set(error, ERROR_FAILED, "%s: is no file; name a shared object", given);
        return -1;
    }
    return 0;
}

/* The file's name without directories and .so. */
static char *name_of_file(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = strlen(name);
    if (length > 3 && !strcmp(name + length - 3, ".so"))
        length -= 3;
    return strndup(name, length);
}

static int check_abi(const struct loaded_program *p, struct error *error)
{
    /* Nothing behind abi_version may be looked at before it is known to be ours. */
    if (p->program->abi_version && p->program->abi_version <= EPOP_ABI_VERSION)
        return 0;
    if (!p->program->abi_version) /* a structure of the program's own, as the two constructors set it */
        return error_set(error, ERROR_FAILED,
                         "%s: abi_version is not set in the epop_program_t that get_program returned; write "
                         ".abi_version = EPOP_ABI_VERSION there, or take one from epop_program_create",
                         p->path);
    error_set(
        error, ERROR_FAILED,
        "%s: compiled for ABI version %u of the program model, but this epop has versions up to %u; compile it against "
        "the epop/program.h of this version",
        p->path, p->program->abi_version, EPOP_ABI_VERSION);
    return -1;
}

static int get_program_of(struct loaded_program *p, struct error *error)
{
    epop_program_t *(*get)(void);
    *(void **)&get = dlsym(p->handle, "get_program");
    if (!get) {
        error_set(error, ERROR_FAILED,
                  "%s: it has no function get_program; define it, with default visibility, to return the program",
                  p->path);
        return -1;
    }
    epop__crash_loading("in get_program of", p->path, launch_speaks());
    p->program = get();
    if (!p->program) {
        return error_set(error, ERROR_FAILED, "%s: its get_program returned NULL instead of a program", p->path);
    }
    return 0;
}

static int name_program(struct loaded_program *p, struct error *error)
{
    if (p->program->name)
        return 0;
    p->given_name = name_of_file(p->path);
    if (!p->given_name) {
        return error_set(error, ERROR_FAILED, "%s: out of memory", p->path);
    }
    p->program->name = p->given_name;
    return 0;
}

static int validate_program(const struct loaded_program *p, struct error *error)
{
    struct error problem = {0};
    epop__crash_loading("reading what get_program returned in", p->path, launch_speaks());
    if (epop_program_validate(p->program, problem.text, sizeof problem.text) == EPOP_OK)
        return 0;
    return error_set(error, ERROR_FAILED, "%s: %s", p->path, problem.text);
}

/* Runs code of the program for the first time: its constructors, and get_program. */
static int load_object(struct loaded_program *out, const char *path, struct error *error)
{
    struct loaded_program p = {.path = strdup(path)};
    if (!p.path)
        return error_set(error, ERROR_FAILED, "%s: out of memory", path);
    epop__crash_loading("in a constructor of", p.path, launch_speaks());
    p.handle = object_open("program", p.path, &p.uses, error);
    if (!p.handle || get_program_of(&p, error) != 0)
        goto fail;
    if (check_abi(&p, error) != 0) {
        p.program = NULL; /* not ours to free: it has another layout */
        goto fail;
    }
    if (name_program(&p, error) != 0 || validate_program(&p, error) != 0)
        goto fail;
    if (p.program->finalizer == 0)
        p.program->finalizer = -1; /* a program in a static variable that did not set it */
    *out = p;
    return 0;
fail:
    unload_program(&p);
    return -1;
}

int load_program(const char *path, struct loaded_program *out, struct error *error)
{
    char found[PATH_MAX];
    memset(out, 0, sizeof *out);
    int result = find_program(path, found, error) == 0 ? load_object(out, found, error) : -1;
    epop__crash_loaded();
    return result;
}

int unload_program(struct loaded_program *p)
{
    int stayed = 0;
    if (p->program && p->given_name)
        p->program->name = NULL;
    epop_program_free(p->program);
    if (p->handle)
        stayed = object_close(p->handle, p->path);
    free(p->given_name);
    free(p->path);
    memset(p, 0, sizeof *p);
    return stayed;
}
