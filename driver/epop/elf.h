/*
 * Reads a shared object's file, without running any of its code: what it is built for, which libraries it
 * needs, which symbols it defines and refers to.
 */
#ifndef DRIVER_ELF_H
#define DRIVER_ELF_H

#include <link.h>
#include <stddef.h>

#include "runtime/base/error.h"

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

/*
 * Maps the file and checks that it is a complete shared object for this machine. 0, or -1 with text that says
 * what is wrong with it ("is not a shared object") in error.
 */
int elf_open(const char *path, struct elf_file *file, struct error *error);
void elf_close(struct elf_file *file);

/* The string of the index-th entry with that tag (DT_NEEDED, DT_RUNPATH ...), NULL if there is none. */
const char *elf_string(const struct elf_file *file, long tag, int index);

/* Non-zero if it defines `name`. */
int elf_defines(const struct elf_file *file, const char *name);

/* Its DT_FLAGS_1; 0: it has none. */
unsigned long elf_flags_1(const struct elf_file *file);

/* The name of a symbol that it defines with that binding (STB_WEAK ...), NULL if there is none. */
const char *elf_bound(const struct elf_file *file, int binding);

/* Non-zero if it refers to a symbol of another object that `wanted` accepts. */
int elf_refers(const struct elf_file *file, int (*wanted)(const char *name));

#endif
