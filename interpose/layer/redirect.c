/*
 * A function of `use mpi_f08` that takes no buffer calls PMPI_X in C, so that no wrapper would be met; those of mpif.h
 * and `use mpi` call MPI_X. In the tables of MPICH's Fortran library, by which it finds other libraries' functions,
 * PMPI_X becomes MPI_X.
 */
#include "interpose/layer/redirect.h"

#include <dlfcn.h>
#include <elf.h>
#include <fnmatch.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The tables of a library, and what their entries' numbers mean. */
struct calls {
    uintptr_t base;
    const ElfW(Rela) * first[2]; /* those that are bound when they are called first, and the rest */
    size_t bytes[2];
    const ElfW(Sym) * symbols;
    const char *names;
    uintptr_t sealed, sealed_end; /* what the loader made read-only when it was done */
};

static bool is_fortran(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    return !fnmatch("libmpi*fort*.so*", name, 0);
}

static const void *address(const struct calls *calls, uintptr_t value)
{
    return (const void *)(value < calls->base ? calls->base + value : value);
}

static void read_dynamic(struct calls *calls, const ElfW(Dyn) * entry)
{
    for (; entry->d_tag != DT_NULL; entry++) {
        switch (entry->d_tag) {
        case DT_JMPREL:
            calls->first[0] = address(calls, entry->d_un.d_ptr);
            break;
        case DT_PLTRELSZ:
            calls->bytes[0] = entry->d_un.d_val;
            break;
        case DT_RELA:
            calls->first[1] = address(calls, entry->d_un.d_ptr);
            break;
        case DT_RELASZ:
            calls->bytes[1] = entry->d_un.d_val;
            break;
        case DT_SYMTAB:
            calls->symbols = address(calls, entry->d_un.d_ptr);
            break;
        case DT_STRTAB:
            calls->names = address(calls, entry->d_un.d_ptr);
            break;
        default:
            break;
        }
    }
}

static void write_slot(const struct calls *calls, uintptr_t place, void *function)
{
    bool sealed = place >= calls->sealed && place < calls->sealed_end;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = place & ~(page - 1);
    if (sealed && mprotect((void *)start, page, PROT_READ | PROT_WRITE))
        return;
    *(void **)place = function;
    if (sealed)
        mprotect((void *)start, page, PROT_READ);
}

static void redirect(const struct calls *calls, const ElfW(Rela) * entry)
{
    const char *name = calls->names + calls->symbols[ELF64_R_SYM(entry->r_info)].st_name;
    if (strncmp(name, "PMPI_", 5) && strncmp(name, "PMPIX_", 6))
        return;
    void *wrapper = dlsym(RTLD_DEFAULT, name + 1);
    if (wrapper)
        write_slot(calls, calls->base + entry->r_offset, wrapper);
}

static int look_at(struct dl_phdr_info *object, size_t size, void *unused)
{
    struct calls calls = {.base = object->dlpi_addr};
    (void)size;
    (void)unused;
    if (!is_fortran(object->dlpi_name))
        return 0;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_DYNAMIC)
            read_dynamic(&calls, (const void *)(calls.base + part->p_vaddr));
        if (part->p_type == PT_GNU_RELRO) {
            calls.sealed = calls.base + part->p_vaddr;
            calls.sealed_end = calls.sealed + part->p_memsz;
        }
    }
    for (int table = 0; table < 2 && calls.symbols && calls.names; table++) {
        for (size_t i = 0; i < calls.bytes[table] / sizeof(ElfW(Rela)); i++)
            redirect(&calls, &calls.first[table][i]);
    }
    return 0;
}

void interpose_redirect_fortran(void)
{
    dl_iterate_phdr(look_at, NULL);
}

/* Of an executable; its libraries are loaded before main. */
__attribute__((constructor)) static void begin(void)
{
    interpose_redirect_fortran();
}
