/*
 * Writes what it finds around itself into the file DIRECTORY/STATUS.PID: arguments, working directory, cores, limits,
 * environment. Then it changes all of that in its own process, which must not reach processes that join later.
 */
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include <epop/epop.h>

#include "parts.h"

extern char **environ;

static const struct {
    const char *name;
    int resource;
} limits[] = {
    {"core", RLIMIT_CORE},       {"nofile", RLIMIT_NOFILE}, {"stack", RLIMIT_STACK},
    {"memlock", RLIMIT_MEMLOCK}, {"cpu", RLIMIT_CPU},       {"as", RLIMIT_AS},
};

static void write_conditions(FILE *file, int argc, char **argv)
{
    char directory[4096];
    cpu_set_t cores;
    for (int i = 0; i < argc; i++)
        fprintf(file, "argument %s\n", argv[i]);
    fprintf(file, "directory %s\ncores", getcwd(directory, sizeof directory));
    sched_getaffinity(0, sizeof cores, &cores);
    for (int core = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET(core, &cores))
            fprintf(file, " %d", core);
    fputc('\n', file);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct rlimit limit;
        getrlimit((__rlimit_resource_t)limits[i].resource, &limit);
        fprintf(file, "limit %s %llu %llu\n", limits[i].name, (unsigned long long)limit.rlim_cur,
                (unsigned long long)limit.rlim_max);
    }
    for (char **variable = environ; *variable; variable++)
        fprintf(file, "variable %s\n", *variable);
}

static void change_them(void)
{
    struct rlimit core;
    getrlimit(RLIMIT_CORE, &core);
    core.rlim_cur /= 2;
    setrlimit(RLIMIT_CORE, &core);
    setenv("CHANGED_BY_THE_PROGRAM", "yes", 1);
    if (chdir("/"))
        perror("chdir");
}

static int start(int *argc, char ***argv, void **data)
{
    char path[4096], whole[4096];
    (void)data;
    const char *status = epop_status() == EPOP_JOINING ? "joining" : "new";
    snprintf(path, sizeof path, "%.4000s/%s.%d.part", (*argv)[1], status, (int)getpid());
    snprintf(whole, sizeof whole, "%.4000s/%s.%d", (*argv)[1], status, (int)getpid());
    FILE *file = fopen(path, "w");
    if (!file)
        return EPOP_ERR_SYSTEM;
    write_conditions(file, *argc, *argv);
    fclose(file);
    change_them();
    return rename(path, whole) ? EPOP_ERR_SYSTEM : 0;
}

static int adapt(void *data)
{
    (void)data;
    epop_window_t window;
    return epop_adapt_begin(&window) || epop_adapt_commit();
}

static int iterate(void *data)
{
    (void)data;
    return usleep(1000);
}

static int for_ever(void *data)
{
    (void)data;
    return 1;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("conditions");
    epop_add_init(program, "start", start);
    epop_add_elastic(program, "wait", iterate, adapt, for_ever);
    return program;
}
