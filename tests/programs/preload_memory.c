/*
 * No program, but a library to be preloaded: memory runs out. EPOP_TEST_MEMORY=OBJECT:N lets the N-th allocation fail
 * that code of that file asks for, and all after it there; OBJECT:N:M lets M fail. OBJECT is a part of the file's path.
 * What others ask for, they get.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc(size_t size); /* NOLINT: as the C library names them, since dlsym needs memory itself */
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

static int first; /* that fails; 0: none does */
static int most = 1 << 30;
static char object[64];

static __attribute__((constructor)) void begin(void)
{
    const char *text = getenv("EPOP_TEST_MEMORY");
    if (text)
        sscanf(text, "%63[^:]:%d:%d", object, &first, &most);
}

static int fails(void *caller)
{
    static atomic_int count;
    Dl_info info;
    if (!first || !dladdr(caller, &info) || !info.dli_fname || !strstr(info.dli_fname, object))
        return 0;
    int number = 1 + atomic_fetch_add(&count, 1);
    return number >= first && number - first < most;
}

void *malloc(size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}
