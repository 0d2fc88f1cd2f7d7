/* Binding processes to cores: what a process may have, what it is bound to, and its share of the rest. */
#include "runtime/base/binding.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/thread.h"

/* ---- This process -------------------------------------------------------------------- */

/* In a thread that ends afterwards: asks for all cores, and the kernel grants those that there are. */
static void *ask_for_all(void *argument)
{
    cpu_set_t *granted = argument, all;
    memset(&all, 0xff, sizeof all);
    sched_setaffinity(0, sizeof all, &all);
    sched_getaffinity(0, sizeof *granted, granted);
    return NULL;
}

void binding_possible(cpu_set_t *possible)
{
    pthread_t thread;
    sched_getaffinity(0, sizeof *possible, possible);
    if (!thread_start(&thread, ask_for_all, possible))
        pthread_join(thread, NULL);
}

bool binding_own(cpu_set_t *cores)
{
    cpu_set_t possible;
    binding_possible(&possible);
    return !sched_getaffinity(0, sizeof *cores, cores) && !CPU_EQUAL(cores, &possible);
}

void binding_set(const cpu_set_t *cores)
{
    DIR *tasks = opendir("/proc/self/task");
    for (const struct dirent *entry; tasks && (entry = readdir(tasks));)
        if (entry->d_name[0] != '.')
            sched_setaffinity(atoi(entry->d_name), sizeof *cores, cores);
    if (tasks)
        closedir(tasks);
}

/* ---- The share ------------------------------------------------------------------------- */

/* The cores of `set` from the `skip`th on, at most `count`. */
static void take_cores(const cpu_set_t *set, int skip, int count, cpu_set_t *taken)
{
    CPU_ZERO(taken);
    for (int core = 0; core < CPU_SETSIZE && count > 0; core++)
        if (CPU_ISSET(core, set) && skip-- <= 0) {
            CPU_SET(core, taken);
            count--;
        }
}

void binding_share(const cpu_set_t *possible, const cpu_set_t *used, int each, int index, int count, cpu_set_t *mine)
{
    cpu_set_t unused;
    CPU_XOR(&unused, possible, used);
    CPU_AND(&unused, &unused, possible);
    int left = CPU_COUNT(&unused);
    if (left == 0) {
        *mine = *possible;
    } else if (left < count) {
        *mine = unused;
    } else {
        int width = each * count <= left ? each : left / count;
        take_cores(&unused, index * width, width, mine);
    }
}

/* ---- As text ------------------------------------------------------------------------------ */

void binding_text(const cpu_set_t *cores, char text[BINDING_TEXT_MAX])
{
    size_t used = 0;
    text[0] = 0;
    for (int first = 0; first < CPU_SETSIZE; first++) {
        if (!CPU_ISSET(first, cores))
            continue;
        int last = first;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, cores))
            last++;
        char range[32];
        int length = snprintf(range, sizeof range, "%s%d", used ? "," : "", first);
        if (last > first)
            length += snprintf(range + length, sizeof range - (size_t)length, "-%d", last);
        if (used + (size_t)length >= BINDING_TEXT_MAX)
            return;
        memcpy(text + used, range, (size_t)length + 1);
        used += (size_t)length;
        first = last;
    }
}

void binding_parse(const char *text, cpu_set_t *cores)
{
    CPU_ZERO(cores);
    while (*text) {
        char *end;
        long first = strtol(text, &end, 10), last = first;
        if (end == text)
            return;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        for (long core = first; core >= 0 && core <= last && core < CPU_SETSIZE; core++)
            CPU_SET((size_t)core, cores);
        text = end + (*end == ',');
    }
}
