/* What hwloc leaves out for MPI, and whether anybody else in this process has use for that. */
#include "runtime/job/hwloc.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/backends/device.h"

#define PARTS   "HWLOC_COMPONENTS"   /* which parts of hwloc look, or "-" which do not */
#define PLUGINS "HWLOC_PLUGINS_PATH" /* where those parts are that are files of their own */

enum { LESS_PARTS = 1, NO_PLUGINS = 2 };

/* ---- Who uses it -------------------------------------------------------------------------------- */

static const ElfW(Dyn) * dynamic_of(const struct dl_phdr_info *object)
{
    for (int i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
            return (const ElfW(Dyn) *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
    return NULL;
}

/* The loader has made it an address, but not in what it cannot write to. */
static const char *strings_of(const struct dl_phdr_info *object, const ElfW(Dyn) * entry)
{
    while (entry && entry->d_tag != DT_NULL && entry->d_tag != DT_STRTAB)
        entry++;
    if (!entry || entry->d_tag == DT_NULL)
        return NULL;
    return (const char *)(entry->d_un.d_ptr + (entry->d_un.d_ptr < object->dlpi_addr ? object->dlpi_addr : 0));
}

static int count_user(struct dl_phdr_info *object, size_t size, void *context)
{
    static const char library[] = "libhwloc.so";
    int *users = context;
    const ElfW(Dyn) *entry = dynamic_of(object);
    const char *strings = strings_of(object, entry);
    (void)size;
    for (; strings && entry->d_tag != DT_NULL; entry++)
        *users += entry->d_tag == DT_NEEDED && !strncmp(strings + entry->d_un.d_val, library, sizeof library - 1);
    return 0;
}

/* Besides MPI: hwloc loads its plugins once for all of a process. */
static bool others_use_it(void)
{
    int users = 0;
    dl_iterate_phdr(count_user, &users);
    return users > 1;
}

/* ---- What is left out --------------------------------------------------------------------------- */

/* It binds this thread to one processor after the other, and waits on each that is busy; what it finds the kernel has
 * told already where that tells it at all. */
static const char *parts(void)
{
    bool told = !access("/sys/devices/system/cpu/cpu0/topology", F_OK);
    return told ? "-pci,-linuxio,-opencl,-gl,-x86" : "-pci,-linuxio,-opencl,-gl";
}

unsigned hwloc_look_less(void)
{
    unsigned left_out = 0;
    if (!device_sleeps() || getenv(PARTS))
        return 0;
    if (!setenv(PARTS, parts(), 1))
        left_out |= LESS_PARTS;
    if (!getenv(PLUGINS) && !others_use_it() && !setenv(PLUGINS, "/dev/null", 1))
        left_out |= NO_PLUGINS;
    return left_out;
}

void hwloc_look_at_all(unsigned left_out)
{
    if (left_out & LESS_PARTS)
        unsetenv(PARTS);
    if (left_out & NO_PLUGINS)
        unsetenv(PLUGINS);
}
