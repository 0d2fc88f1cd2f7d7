/*
 * Reads the files of shared objects, looks for a second MPI among the libraries that they need, and opens and closes
 * them.
 */
#include "driver/epop/object.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interpose/layer/redirect.h"
#include "runtime/base/error.h"
#include "runtime/crash/crash.h"

/* ---- Reading the file, without running any of its code ------------------------------------------ */

/* Every offset of the file is checked before it is followed: a truncated file would end the process. */
struct elf_file {
    const unsigned char *base; /* the mapped file */
    size_t size;
    const ElfW(Dyn) * dynamic;
    size_t dynamic_count;
    const ElfW(Sym) * symbols;
    size_t symbol_count;
    const char *dynamic_strings, *symbol_strings; /* end with a zero byte */
    size_t dynamic_strings_size, symbol_strings_size;
};

static int elf_refuse(struct error *error, const char *text)
{
    return error_set(error, ERROR_FAILED, "%s", text);
}

static int elf_map(const char *path, struct elf_file *file)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    struct stat status;
    if (fstat(fd, &status) != 0) {
        close(fd);
        return -1;
    }
    void *base = status.st_size > 0 ? mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (base == MAP_FAILED)
        return status.st_size == 0 ? 0 : -1;
    file->base = base;
    file->size = (size_t)status.st_size;
    return 0;
}

/* `size` bytes at `offset` of the file, NULL if it ends before. */
static const void *elf_part(const struct elf_file *file, size_t offset, size_t size)
{
    return offset <= file->size && size <= file->size - offset ? file->base + offset : NULL;
}

static const char *machine_name(unsigned machine)
{
    switch (machine) {
    case EM_X86_64:
        return "x86-64";
    case EM_386:
        return "32-bit x86";
    case EM_AARCH64:
        return "64-bit ARM";
    case EM_ARM:
        return "32-bit ARM";
    case EM_PPC64:
        return "64-bit POWER";
    case EM_RISCV:
        return "RISC-V";
    case EM_S390:
        return "S/390";
    default:
        return "another machine";
    }
}

/* The e_machine of this process's executable. */
static unsigned own_machine(void)
{
    ElfW(Ehdr) header = {.e_machine = EM_NONE};
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        if (read(fd, &header, sizeof header) != (ssize_t)sizeof header)
            header.e_machine = EM_NONE;
        close(fd);
    }
    return header.e_machine;
}

static int elf_check_header(const ElfW(Ehdr) * header, struct error *error)
{
    const unsigned short one = 1;
    unsigned order = *(const unsigned char *)&one ? ELFDATA2LSB : ELFDATA2MSB;
    unsigned class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32, machine = own_machine();
    /* e_machine stands at the same place in both classes. */
    if (header->e_ident[EI_CLASS] != class || header->e_ident[EI_DATA] != order || header->e_machine != machine) {
        error_set(error, ERROR_FAILED, "is built for %s, but epop for %s; compile it on this kind of machine",
                  machine_name(header->e_machine), machine_name(machine));
        return -1;
    }
    if (header->e_type == ET_EXEC)
        return elf_refuse(error, "is an executable, not a shared object; link it with -shared -fPIC");
    if (header->e_type != ET_DYN)
        return elf_refuse(error, "is an object file, not a shared object; link it with -shared -fPIC");
    return 0;
}

/* Are all segments there? */
static int elf_check_segments(const struct elf_file *file, const ElfW(Ehdr) * header)
{
    const ElfW(Phdr) *segments = elf_part(file, header->e_phoff, (size_t)header->e_phnum * sizeof *segments);
    if (!segments || header->e_phentsize != sizeof *segments || header->e_phoff % sizeof(void *) != 0)
        return -1;
    for (int i = 0; i < header->e_phnum; i++) {
        if (segments[i].p_type == PT_LOAD && !elf_part(file, segments[i].p_offset, segments[i].p_filesz))
            return -1;
    }
    return 0;
}

/* The strings that a section links to, NULL unless they end with a zero byte. */
static const char *elf_linked_strings(const struct elf_file *file, const ElfW(Shdr) * sections, int count,
                                      const ElfW(Shdr) * section, size_t *size)
{
    if (section->sh_link >= (unsigned)count)
        return NULL;
    const ElfW(Shdr) *strings = &sections[section->sh_link];
    const char *text = elf_part(file, strings->sh_offset, strings->sh_size);
    if (!text || strings->sh_size == 0 || text[strings->sh_size - 1] != 0)
        return NULL;
    *size = strings->sh_size;
    return text;
}

/* Finds the dynamic section and the dynamic symbols; what is not there stays empty. */
static void elf_find_sections(struct elf_file *file, const ElfW(Ehdr) * header)
{
    const ElfW(Shdr) *sections = elf_part(file, header->e_shoff, (size_t)header->e_shnum * sizeof *sections);
    if (!sections || header->e_shentsize != sizeof *sections || header->e_shoff % sizeof(void *) != 0)
        return;
    for (int i = 0; i < header->e_shnum; i++) {
        const ElfW(Shdr) *section = &sections[i];
        const void *content = elf_part(file, section->sh_offset, section->sh_size);
        if (!content || section->sh_offset % sizeof(void *) != 0)
            continue;
        if (section->sh_type == SHT_DYNSYM &&
            (file->symbol_strings =
                 elf_linked_strings(file, sections, header->e_shnum, section, &file->symbol_strings_size))) {
            file->symbols = content;
            file->symbol_count = section->sh_size / sizeof *file->symbols;
        }
        if (section->sh_type == SHT_DYNAMIC &&
            (file->dynamic_strings =
                 elf_linked_strings(file, sections, header->e_shnum, section, &file->dynamic_strings_size))) {
            file->dynamic = content;
            file->dynamic_count = section->sh_size / sizeof *file->dynamic;
        }
    }
}

static int elf_is_executable(const struct elf_file *file)
{
    for (size_t i = 0; i < file->dynamic_count; i++) {
        if (file->dynamic[i].d_tag == DT_FLAGS_1)
            return (file->dynamic[i].d_un.d_val & DF_1_PIE) != 0;
    }
    return 0;
}

static int elf_inspect(struct elf_file *file, struct error *error)
{
    const ElfW(Ehdr) *header = elf_part(file, 0, sizeof *header);
    if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return elf_refuse(error, "is not a shared object; compile the program with -shared -fPIC");
    if (elf_check_header(header, error) != 0)
        return -1;
    if (elf_check_segments(file, header) != 0)
        return elf_refuse(error, "is a damaged or truncated shared object; build it again");
    elf_find_sections(file, header);
    if (elf_is_executable(file))
        return elf_refuse(error, "is an executable, not a shared object; link it with -shared -fPIC");
    return 0;
}

static void elf_close(struct elf_file *file)
{
    if (file->base)
        munmap((void *)file->base, file->size);
    memset(file, 0, sizeof *file);
}

/*
 * Maps the file and checks that it is a complete shared object for this machine. 0, or -1 with text that says
 * what is wrong with it ("is not a shared object") in error.
 */
static int elf_open(const char *path, struct elf_file *file, struct error *error)
{
    memset(file, 0, sizeof *file);
    if (elf_map(path, file) != 0) {
        return error_set(error, ERROR_FAILED, "cannot be read: %s", strerror(errno));
    }
    if (elf_inspect(file, error) != 0) {
        elf_close(file);
        return -1;
    }
    return 0;
}

/* The string of the index-th entry with that tag (DT_NEEDED, DT_RUNPATH ...), NULL if there is none. */
static const char *elf_string(const struct elf_file *file, long tag, int index)
{
    for (size_t i = 0; i < file->dynamic_count && file->dynamic[i].d_tag != DT_NULL; i++) {
        const ElfW(Dyn) *entry = &file->dynamic[i];
        if (entry->d_tag == tag && entry->d_un.d_val < file->dynamic_strings_size && index-- == 0)
            return file->dynamic_strings + entry->d_un.d_val;
    }
    return NULL;
}

static const char *elf_symbol_name(const struct elf_file *file, const ElfW(Sym) * symbol)
{
    return symbol->st_name < file->symbol_strings_size ? file->symbol_strings + symbol->st_name : "";
}

/* Non-zero if it defines `name`. */
static int elf_defines(const struct elf_file *file, const char *name)
{
    for (size_t i = 0; i < file->symbol_count; i++) {
        if (file->symbols[i].st_shndx != SHN_UNDEF && !strcmp(elf_symbol_name(file, &file->symbols[i]), name))
            return 1;
    }
    return 0;
}

/* Non-zero if it refers to a symbol of another object that `wanted` accepts. */
static int elf_refers(const struct elf_file *file, int (*wanted)(const char *name))
{
    for (size_t i = 0; i < file->symbol_count; i++) {
        if (file->symbols[i].st_shndx == SHN_UNDEF && wanted(elf_symbol_name(file, &file->symbols[i])))
            return 1;
    }
    return 0;
}

/* Its DT_FLAGS_1; 0: it has none. */
static unsigned long elf_flags_1(const struct elf_file *file)
{
    for (size_t i = 0; i < file->dynamic_count && file->dynamic[i].d_tag != DT_NULL; i++)
        if (file->dynamic[i].d_tag == DT_FLAGS_1)
            return file->dynamic[i].d_un.d_val;
    return 0;
}

/* The name of a symbol that it defines with that binding (STB_WEAK ...), NULL if there is none. */
static const char *elf_bound(const struct elf_file *file, int binding)
{
    for (size_t i = 0; i < file->symbol_count; i++) {
        const ElfW(Sym) *symbol = &file->symbols[i];
        if (symbol->st_shndx != SHN_UNDEF && ELF64_ST_BIND(symbol->st_info) == binding) /* the same in both classes */
            return elf_symbol_name(file, symbol);
    }
    return NULL;
}

/* ---- The libraries that it needs, and a second MPI among them ----------------------------------- */

/*
 * The libraries that an object needs are found as the dynamic loader would find them, as far as that is known
 * without it; what only the loader finds is looked at right after loading.
 */

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
    while (*start && *text == *start) {
        text++;
        start++;
    }
    return !*start;
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
static int scan_object(const char *path, struct scan *scan, struct error *error)
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

/* ---- Opening and closing ------------------------------------------------------------------------ */

/* dlerror's text in our words, as far as it is one of the usual. */
static void describe_load_failure(const char *kind, const char *path, const char *text, struct error *error)
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
    if (scan_object(path, &scan, error) != 0)
        return NULL;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        describe_load_failure(kind, path, dlerror(), error);
        return NULL;
    }
    if (scan.unresolved && scan_object(path, &scan, error) != 0) {
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
static struct range range_of_object(void *handle)
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
    struct range range = range_of_object(handle);
    epop__crash_unloading(range.begin, range.end, path); /* before: a thread of it may crash at once */
    dlclose(handle);
    void *still = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (still) {
        epop__crash_still_loaded(range.begin);
        dlclose(still);
    }
    return !!still;
}

/* ---- Why one stays in memory after it is closed ------------------------------------------------- */

/*
 * glibc never unloads what defines a symbol that is to be unique in the process, is marked so, or has thread-local
 * destructors to come; nor that which something else that stays has taken a symbol from, as libstdc++ does with what a
 * C++ compiler emits in every object and exports from it.
 */

#define HIDE "export get_program alone: -Wl,--version-script=FILE with { global: get_program; local: *; };"

static int is_thread_destructor(const char *name)
{
    return !strcmp(name, "__cxa_thread_atexit") || !strcmp(name, "__cxa_thread_atexit_impl");
}

void object_why_it_stays(const char *path, char *text, size_t size)
{
    struct elf_file file;
    struct error unread;
    const char *symbol = NULL;
    snprintf(text, size, "the reason is not known");
    if (elf_open(path, &file, &unread))
        return;
    if (elf_flags_1(&file) & DF_1_NODELETE)
        snprintf(text, size, "it is linked with -z nodelete; link it without");
    else if ((symbol = elf_bound(&file, STB_GNU_UNIQUE)))
        snprintf(text, size, "it defines GNU-unique symbols, as %.100s; " HIDE, symbol);
    else if (elf_refers(&file, is_thread_destructor))
        snprintf(text, size,
                 "it has thread-local variables with destructors; allocate these in INIT, and free them in the "
                 "finalizer and where EPOP_LEAVING");
    else if ((symbol = elf_bound(&file, STB_WEAK)))
        snprintf(text, size, "a library that stays, as libstdc++ does, may use symbols of it, as %.100s; " HIDE,
                 symbol);
    elf_close(&file);
}

bool object_is_executable(const char *path)
{
    ElfW(Ehdr) header = {.e_phnum = 0};
    ElfW(Phdr) segment;
    struct stat file;
    if (!strchr(path, '/') || stat(path, &file) || !S_ISREG(file.st_mode) || access(path, X_OK))
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is = false;
    ssize_t length = fd >= 0 ? read(fd, &header, sizeof header) : 0;
    if (length > 2 && !memcmp(&header, "#!", 2))
        is = true;
    else if (length == (ssize_t)sizeof header && !memcmp(&header, ELFMAG, SELFMAG))
        for (int i = 0; i < header.e_phnum && !is; i++) {
            off_t at = (off_t)(header.e_phoff + (size_t)i * sizeof segment);
            is = pread(fd, &segment, sizeof segment, at) == (ssize_t)sizeof segment && segment.p_type == PT_INTERP;
        }
    if (fd >= 0)
        close(fd);
    return is;
}
