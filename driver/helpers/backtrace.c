/*
 * backtrace PID < ADDRESSES: names for addresses of another process, a line each, with file and line as far as there is
 * debug information. The first address is that of an instruction, the others are return addresses.
 * Started by a process that has crashed (runtime/crash/trace.c), so that this needs none of its memory.
 * backtrace --places < PLACES: for each line FILE+0xOFFSET, a return address in that file, a line with function and
 * FILE:LINE behind a tab; what is not known is empty. Started by tools that show loops (terminal/places.c).
 */
#include <dlfcn.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FRAMES_MAX 256
#define SHOWN_MAX  40
#define LINE_MAX_  700

static Dwfl *open_process(pid_t pid)
{
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                             .find_debuginfo = dwfl_standard_find_debuginfo};
    Dwfl *dwfl = dwfl_begin(&callbacks);
    if (!dwfl || dwfl_linux_proc_report(dwfl, pid) != 0 || dwfl_report_end(dwfl, NULL, NULL) != 0)
        return NULL;
    return dwfl;
}

/* A C++ name as it was written, by the library that C++ programs need anyway. */
static char *demangle(const char *name)
{
    char *(*readable)(const char *, char *, size_t *, int *);
    void *library = !strncmp(name, "_Z", 2) ? dlopen("libstdc++.so.6", RTLD_NOW) : NULL;
    *(void **)&readable = library ? dlsym(library, "__cxa_demangle") : NULL;
    return readable ? readable(name, NULL, NULL, NULL) : NULL;
}

static const char *base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

/* "solve at gauss.c:12", "MPIR_Wait in libmpich.so.12", "0x12 in no file"; true for main, behind which nothing is of
 * interest. */
static bool describe(Dwfl *dwfl, uintptr_t address, char text[LINE_MAX_])
{
    Dwfl_Module *module = dwfl_addrmodule(dwfl, address);
    const char *name = module ? dwfl_module_addrname(module, address) : NULL;
    const char *file = module ? dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL) : NULL;
    Dwfl_Line *line = module ? dwfl_module_getsrc(module, address) : NULL;
    int number = 0;
    const char *source = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
    char *readable = name ? demangle(name) : NULL, shown[420];
    if (name)
        snprintf(shown, sizeof shown, "%s", readable ? readable : name);
    else
        snprintf(shown, sizeof shown, "%#lx", (unsigned long)address);
    free(readable);
    if (source)
        snprintf(text, LINE_MAX_, "%s at %.250s:%d", shown, base_name(source), number);
    else
        snprintf(text, LINE_MAX_, "%s in %.250s", shown, file ? base_name(file) : "no file");
    return name && !strcmp(name, "main");
}

static void print_repeats(int repeats)
{
    if (repeats)
        printf("  ... and %d more of the same\n", repeats);
}

static void print_frames(Dwfl *dwfl, const uintptr_t *frames, size_t count)
{
    char text[LINE_MAX_], last[LINE_MAX_] = "";
    bool end = false;
    int repeats = 0, shown = 0;
    for (size_t i = 0; i < count && !end && shown < SHOWN_MAX; i++) {
        end = describe(dwfl, frames[i] - (i > 0), text);
        if (!strcmp(text, last)) {
            repeats++;
            continue;
        }
        print_repeats(repeats);
        repeats = 0;
        printf("  #%zu %s\n", i, text);
        fflush(stdout); /* if this takes too long, what there is is better than nothing */
        memcpy(last, text, sizeof last);
        shown++;
    }
    print_repeats(repeats);
}

/* ---- Places in files --------------------------------------------------------------------------- */

#define FILES_MAX 64

/* One that was opened before, too. NULL: it cannot be read, or is one too many. */
static Dwfl_Module *open_file(Dwfl *dwfl, const char *path)
{
    static struct {
        char *path;
        Dwfl_Module *module;
    } files[FILES_MAX];
    static int count;
    for (int i = 0; i < count; i++)
        if (!strcmp(files[i].path, path))
            return files[i].module;
    if (count == FILES_MAX || !(files[count].path = strdup(path)))
        return NULL;
    dwfl_report_begin_add(dwfl);
    files[count].module = dwfl_report_offline(dwfl, path, path, -1);
    dwfl_report_end(dwfl, NULL, NULL);
    return files[count++].module;
}

/* Offsets are from where the file would be loaded to if that were 0; libdw has another place for each file. */
static void print_place(Dwfl_Module *module, uintptr_t offset)
{
    GElf_Addr bias = 0;
    int number = 0;
    const char *name = NULL, *source = NULL;
    if (module && dwfl_module_getelf(module, &bias)) {
        name = dwfl_module_addrname(module, offset + bias - 1);
        Dwfl_Line *line = dwfl_module_getsrc(module, offset + bias - 1);
        source = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
    }
    char *readable = name ? demangle(name) : NULL;
    printf("%.400s\t", readable ? readable : name ? name : "");
    if (source)
        printf("%.250s:%d", base_name(source), number);
    putchar('\n');
    free(readable);
}

static int name_places(void)
{
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
                                             .find_debuginfo = dwfl_standard_find_debuginfo,
                                             .section_address = dwfl_offline_section_address};
    char *place = NULL;
    size_t room = 0;
    Dwfl *dwfl = dwfl_begin(&callbacks);
    while (dwfl && getline(&place, &room, stdin) > 0) {
        char *plus = strrchr(place, '+');
        uintptr_t offset = plus ? (uintptr_t)strtoull(plus + 1, NULL, 16) : 0;
        if (plus)
            *plus = '\0';
        print_place(offset ? open_file(dwfl, place) : NULL, offset);
    }
    free(place);
    dwfl_end(dwfl);
    return !dwfl;
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "--places"))
        return name_places();
    uintptr_t frames[FRAMES_MAX];
    ssize_t size = read(STDIN_FILENO, frames, sizeof frames);
    Dwfl *dwfl = argc == 2 ? open_process((pid_t)atol(argv[1])) : NULL;
    if (!dwfl || size < (ssize_t)sizeof *frames) {
        fprintf(stderr, "usage: backtrace PID < ADDRESSES, or --places < PLACES (epop and its tools start it)\n");
        return 1;
    }
    print_frames(dwfl, frames, (size_t)size / sizeof *frames);
    dwfl_end(dwfl);
    return 0;
}
