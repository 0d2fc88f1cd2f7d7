/*
 * The libraries that an object needs are found as the dynamic loader would find them, as far as that is known
 * without it; what only the loader finds is looked at right after loading.
 */
#include "driver/epop/object.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "driver/epop/elf.h"
#include "interpose/layer/redirect.h"
#include "runtime/base/error.h"
#include "runtime/crash/crash.h"

#define OBJECTS_MAX 512 /* libraries of one program; those beyond are not looked at */

/* What a look at an object and its libraries finds. */
struct scan {
    char *paths[OBJECTS_MAX]; /* to look at; [0] is the object */
    int count;
    struct object_uses uses;
    int unresolved;         /* a library was not found */
    const char *second_mpi; /* one of paths */
};

static int starts_with(const char *text, const char *start)
{
    return !strncmp(text, start, strlen(start));
}

static int is_pmpi_init(const char *name)
{
    return !strcmp(name, "PMPI_Init");
}

static int makes_error_handlers(const char *name)
{
    static const char end[] = "_create_errhandler";
    size_t length = strlen(name);
    return !strcmp(name, "MPI_Errhandler_create") ||
           (starts_with(name, "MPI_") && length > sizeof end && !strcmp(name + length - (sizeof end - 1), end));
}

/* Symbols that only a program with MPI refers to; Fortran's are in small letters with an underscore at the end. */
static int is_of_mpi(const char *name)
{
    static const char *const starts[] = {"MPI_",           "PMPI_",        "epop_world", "epop_adapt_",
                                         "epop_describe_", "epop_request", "epop_redist"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        if (starts_with(name, starts[i]))
            return 1;
    }
    size_t length = strlen(name);
    return (starts_with(name, "mpi_") || starts_with(name, "pmpi_")) && name[length - 1] == '_';
}

/* The file of the MPI library that is in this process; "" if there is none. */
static const char *present_mpi(void)
{
    Dl_info info;
    void *init = dlsym(RTLD_DEFAULT, "PMPI_Init");
    return init && dladdr(init, &info) && info.dli_fname ? info.dli_fname : "";
}

static int same_file(const char *a, const char *b)
{
    struct stat of_a, of_b;
    return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

static void scan_add(struct scan *scan, const char *path)
{
    for (int i = 0; i < scan->count; i++) {
        if (!strcmp(scan->paths[i], path))
            return;
    }
    if (scan->count < OBJECTS_MAX && (scan->paths[scan->count] = strdup(path)))
        scan->count++;
}

/* Puts the file that `name` stands for in the process already into path. */
static int find_loaded(const char *name, char path[PATH_MAX])
{
    void *handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle)
        return 0;
    struct link_map *map = NULL;
    int found = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map->l_name[0];
    if (found)
        snprintf(path, PATH_MAX, "%s", map->l_name);
    dlclose(handle);
    return found;
}

static int exists_in(const char *directory, size_t length, const char *name, char path[PATH_MAX])
{
    struct stat status;
    int used = snprintf(path, PATH_MAX, "%.*s/%s", (int)length, directory, name);
    return used < PATH_MAX && stat(path, &status) == 0;
}

/* Looks for name in a colon-separated list, in which $ORIGIN is the directory of `owner`. */
static int find_in_list(const char *list, const char *owner, const char *name, char path[PATH_MAX])
{
    const char *slash = strrchr(owner, '/');
    for (const char *item = list; item && *item;) {
        size_t length = strcspn(item, ":");
        char directory[PATH_MAX];
        size_t marker = starts_with(item, "$ORIGIN") ? 7 : starts_with(item, "${ORIGIN}") ? 9 : 0;
        if (marker && slash)
            snprintf(directory, sizeof directory, "%.*s%.*s", (int)(slash - owner), owner, (int)(length - marker),
                     item + marker);
        else
            snprintf(directory, sizeof directory, "%.*s", (int)length, item);
        if (length > 0 && exists_in(directory, strlen(directory), name, path))
            return 1;
        item += length + (item[length] == ':');
    }
    return 0;
}

/* LD_LIBRARY_PATH and the system's directories, as the loader knows them. */
static int find_in_system(const char *name, char path[PATH_MAX])
{
    int found = 0;
    Dl_serinfo size, *directories;
    void *self = dlopen(NULL, RTLD_LAZY);
    if (!self || dlinfo(self, RTLD_DI_SERINFOSIZE, &size) != 0 || !(directories = malloc(size.dls_size)))
        return 0;
    if (dlinfo(self, RTLD_DI_SERINFOSIZE, directories) == 0 && dlinfo(self, RTLD_DI_SERINFO, directories) == 0) {
        for (unsigned i = 0; i < directories->dls_cnt && !found; i++) {
            const char *directory = directories->dls_serpath[i].dls_name;
            found = exists_in(directory, strlen(directory), name, path);
        }
    }
    free(directories);
    return found;
}

static int find_library(const struct elf_file *owner, const char *owner_path, const char *name, char path[PATH_MAX])
{
    if (strchr(name, '/'))
        return exists_in("", 0, name, path);
    const char *runpath = elf_string(owner, DT_RUNPATH, 0), *rpath = elf_string(owner, DT_RPATH, 0);
    return find_loaded(name, path) || find_in_list(runpath ? runpath : rpath, owner_path, name, path) ||
           find_in_system(name, path);
}

/* Looks at one file, and adds the libraries that it needs. */
static void scan_file(struct scan *scan, const char *path)
{
    struct elf_file file;
    struct error unused;
    char library[PATH_MAX];
    if (elf_open(path, &file, &unused) != 0)
        return;
    int defines_mpi = elf_defines(&file, "MPI_Init") && !elf_refers(&file, is_pmpi_init);
    if (defines_mpi && !same_file(path, present_mpi()))
        scan->second_mpi = path;
    /* MPI itself and libepop refer to all of it, whoever uses them. */
    if (!defines_mpi && !elf_defines(&file, "epop_world")) {
        scan->uses.mpi |= elf_refers(&file, is_of_mpi);
        scan->uses.error_handlers |= elf_refers(&file, makes_error_handlers);
        const char *name;
        for (int i = 0; (name = elf_string(&file, DT_NEEDED, i)); i++) {
            if (find_library(&file, path, name, library))
                scan_add(scan, library);
            else
                scan->unresolved = 1;
        }
    }
    elf_close(&file);
}

static void scan_end(struct scan *scan)
{
    for (int i = 0; i < scan->count; i++)
        free(scan->paths[i]);
}

/* Looks at the object and its libraries. -1 with text if they bring in a second MPI. */
static int look(const char *path, struct scan *scan, struct error *error)
{
    memset(scan, 0, sizeof *scan);
    scan_add(scan, path);
    for (int i = 0; i < scan->count && !scan->second_mpi; i++)
        scan_file(scan, scan->paths[i]);
    if (scan->second_mpi)
        error_set(error, ERROR_FAILED,
                  "%s: it would bring a second MPI library into the process: %s, beside epop's %s; build it with the "
                  "compiler of epop's MPI",
                  path, scan->second_mpi, present_mpi());
    int result = scan->second_mpi ? -1 : 0;
    scan_end(scan);
    return result;
}

/* dlerror's text in our words, as far as it is one of the usual. */
static void describe_failure(const char *kind, const char *path, const char *text, struct error *error)
{
    static const char undefined[] = "undefined symbol: ", missing[] = ": cannot open shared object file";
    const char *found = strstr(text, undefined), *end = strstr(text, missing);
    if (found) {
        found += strlen(undefined);
        error_set(error, ERROR_FAILED, "%s: unresolved symbol '%.*s'; link the %s with the library that defines it",
                  path, (int)strcspn(found, " ,\n"), found, kind);
    } else if (end) {
        error_set(error, ERROR_FAILED,
                  "%s: the library %.*s that it needs is not found; install it or set LD_LIBRARY_PATH", path,
                  (int)(end - text), text);
    } else {
        error_set(error, ERROR_FAILED, "%s: cannot be loaded: %.*s", path, (int)strcspn(text, "\n"), text);
    }
}

/* Libraries of a plug-in that stay for good. OpenMP's threads sleep in its runtime. libquadmath, which comes with
 * Fortran, prints "%g" for the whole process: as it goes, it takes the function away under a thread that is about to
 * call it. */
static void pin_libraries(void)
{
    static const char *const names[] = {"libgomp.so.1", "libomp.so.5", "libiomp5.so", "libquadmath.so.0"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *handle = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
        if (handle)
            dlclose(handle);
    }
}

void *object_open(const char *kind, const char *path, struct object_uses *uses, struct error *error)
{
    struct elf_file file;
    struct scan scan;
    struct error problem = {0};
    if (elf_open(path, &file, &problem) != 0) {
        error_set(error, ERROR_FAILED, "%s: %s", path, problem.text);
        return NULL;
    }
    elf_close(&file);
    if (look(path, &scan, error) != 0)
        return NULL;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        describe_failure(kind, path, dlerror(), error);
        return NULL;
    }
    if (scan.unresolved && look(path, &scan, error) != 0) {
        dlclose(handle);
        return NULL;
    }
    pin_libraries();
    interpose_redirect_fortran();
    *uses = scan.uses;
    return handle;
}

struct range {
    uintptr_t base, begin, end; /* base: identifies it */
};

static int add_segments(struct dl_phdr_info *info, size_t size, void *context)
{
    struct range *range = context;
    (void)size;
    if (info->dlpi_addr != range->base)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + segment->p_vaddr, end = begin + segment->p_memsz;
        if (segment->p_type != PT_LOAD)
            continue;
        range->begin = range->begin && range->begin < begin ? range->begin : begin;
        range->end = range->end > end ? range->end : end;
    }
    return 1;
}

/* Where the object itself is, without its libraries. */
static struct range range_of(void *handle)
{
    struct link_map *map = NULL;
    struct range range = {0};
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0) {
        range.base = map->l_addr;
        dl_iterate_phdr(add_segments, &range);
    }
    return range;
}

int object_close(void *handle, const char *path)
{
    struct range range = range_of(handle);
    epop__crash_unloading(range.begin, range.end, path); /* before: a thread of it may crash at once */
    dlclose(handle);
    void *still = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (still) {
        epop__crash_still_loaded(range.begin);
        dlclose(still);
    }
    return !!still;
}
