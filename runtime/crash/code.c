/* Programs that come and go: see code.h. */
#include "runtime/crash/code.h"

#include <stdatomic.h>
#include <stdio.h>

#include "runtime/crash/crash.h"

#define UNLOADED_MAX 8 /* programs that are remembered */

static struct {
    _Atomic(const char *) doing; /* NULL: no program is being loaded */
    const char *path;
    atomic_bool second;
} loading;

/* A ring: a thread that the last program left crashes soon, or has done so. */
static struct {
    _Atomic uintptr_t begin, end;
    char path[512];
} unloaded[UNLOADED_MAX];

void epop__crash_loading(const char *doing, const char *path, bool first)
{
    static bool prepared;
    if (!prepared)
        crash_prepare();
    prepared = true;
    loading.path = path;
    atomic_store(&loading.second, !first);
    atomic_store(&loading.doing, doing);
}

void epop__crash_loaded(void)
{
    atomic_store(&loading.doing, NULL);
}

void epop__crash_unloading(uintptr_t begin, uintptr_t end, const char *path)
{
    static unsigned count;
    unsigned slot = count++ % UNLOADED_MAX;
    atomic_store(&unloaded[slot].end, 0);
    snprintf(unloaded[slot].path, sizeof unloaded[slot].path, "%s", path);
    atomic_store(&unloaded[slot].begin, begin);
    atomic_store(&unloaded[slot].end, end);
}

void epop__crash_still_loaded(uintptr_t begin)
{
    for (int i = 0; i < UNLOADED_MAX; i++)
        if (atomic_load(&unloaded[i].begin) == begin)
            atomic_store(&unloaded[i].end, 0);
}

bool code_add_loading(struct crash_text *text)
{
    const char *doing = atomic_load(&loading.doing);
    if (!doing)
        return false;
    text_add(text, "while the program was loaded, ");
    text_add(text, doing);
    text_add(text, " ");
    text_add(text, loading.path);
    text_add(text, ": ");
    return true;
}

const char *code_unloaded(uintptr_t address)
{
    for (int i = 0; i < UNLOADED_MAX; i++)
        if (address >= atomic_load(&unloaded[i].begin) && address < atomic_load(&unloaded[i].end))
            return unloaded[i].path;
    return NULL;
}

bool code_comes_second(void)
{
    return atomic_load(&loading.doing) && atomic_load(&loading.second);
}
