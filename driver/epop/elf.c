/* Every offset of the file is checked before it is followed: a truncated file would end the process. */
#include "driver/epop/elf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/error.h"

static int fail(struct error *error, const char *text)
{
    return error_set(error, ERROR_FAILED, "%s", text);
}

static int map_file(const char *path, struct elf_file *file)
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
static const void *part(const struct elf_file *file, size_t offset, size_t size)
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

static int check_header(const ElfW(Ehdr) * header, struct error *error)
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
        return fail(error, "is an executable, not a shared object; link it with -shared -fPIC");
    if (header->e_type != ET_DYN)
        return fail(error, "is an object file, not a shared object; link it with -shared -fPIC");
    return 0;
}

/* Are all segments there? */
static int check_segments(const struct elf_file *file, const ElfW(Ehdr) * header)
{
    const ElfW(Phdr) *segments = part(file, header->e_phoff, (size_t)header->e_phnum * sizeof *segments);
    if (!segments || header->e_phentsize != sizeof *segments || header->e_phoff % sizeof(void *) != 0)
        return -1;
    for (int i = 0; i < header->e_phnum; i++) {
        if (segments[i].p_type == PT_LOAD && !part(file, segments[i].p_offset, segments[i].p_filesz))
            return -1;
    }
    return 0;
}

/* The strings that a section links to, NULL unless they end with a zero byte. */
static const char *linked_strings(const struct elf_file *file, const ElfW(Shdr) * sections, int count,
                                  const ElfW(Shdr) * section, size_t *size)
{
    if (section->sh_link >= (unsigned)count)
        return NULL;
    const ElfW(Shdr) *strings = &sections[section->sh_link];
    const char *text = part(file, strings->sh_offset, strings->sh_size);
    if (!text || strings->sh_size == 0 || text[strings->sh_size - 1] != 0)
        return NULL;
    *size = strings->sh_size;
    return text;
}

/* Finds the dynamic section and the dynamic symbols; what is not there stays empty. */
static void find_sections(struct elf_file *file, const ElfW(Ehdr) * header)
{
    const ElfW(Shdr) *sections = part(file, header->e_shoff, (size_t)header->e_shnum * sizeof *sections);
    if (!sections || header->e_shentsize != sizeof *sections || header->e_shoff % sizeof(void *) != 0)
        return;
    for (int i = 0; i < header->e_shnum; i++) {
        const ElfW(Shdr) *section = &sections[i];
        const void *content = part(file, section->sh_offset, section->sh_size);
        if (!content || section->sh_offset % sizeof(void *) != 0)
            continue;
        if (section->sh_type == SHT_DYNSYM &&
            (file->symbol_strings =
                 linked_strings(file, sections, header->e_shnum, section, &file->symbol_strings_size))) {
            file->symbols = content;
            file->symbol_count = section->sh_size / sizeof *file->symbols;
        }
        if (section->sh_type == SHT_DYNAMIC &&
            (file->dynamic_strings =
                 linked_strings(file, sections, header->e_shnum, section, &file->dynamic_strings_size))) {
            file->dynamic = content;
            file->dynamic_count = section->sh_size / sizeof *file->dynamic;
        }
    }
}

static int is_executable(const struct elf_file *file)
{
    for (size_t i = 0; i < file->dynamic_count; i++) {
        if (file->dynamic[i].d_tag == DT_FLAGS_1)
            return (file->dynamic[i].d_un.d_val & DF_1_PIE) != 0;
    }
    return 0;
}

static int inspect(struct elf_file *file, struct error *error)
{
    const ElfW(Ehdr) *header = part(file, 0, sizeof *header);
    if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return fail(error, "is not a shared object; compile the program with -shared -fPIC");
    if (check_header(header, error) != 0)
        return -1;
    if (check_segments(file, header) != 0)
        return fail(error, "is a damaged or truncated shared object; build it again");
    find_sections(file, header);
    if (is_executable(file))
        return fail(error, "is an executable, not a shared object; link it with -shared -fPIC");
    return 0;
}

int elf_open(const char *path, struct elf_file *file, struct error *error)
{
    memset(file, 0, sizeof *file);
    if (map_file(path, file) != 0) {
        return error_set(error, ERROR_FAILED, "cannot be read: %s", strerror(errno));
    }
    if (inspect(file, error) != 0) {
        elf_close(file);
        return -1;
    }
    return 0;
}

void elf_close(struct elf_file *file)
{
    if (file->base)
        munmap((void *)file->base, file->size);
    memset(file, 0, sizeof *file);
}

const char *elf_string(const struct elf_file *file, long tag, int index)
{
    for (size_t i = 0; i < file->dynamic_count && file->dynamic[i].d_tag != DT_NULL; i++) {
        const ElfW(Dyn) *entry = &file->dynamic[i];
        if (entry->d_tag == tag && entry->d_un.d_val < file->dynamic_strings_size && index-- == 0)
            return file->dynamic_strings + entry->d_un.d_val;
    }
    return NULL;
}

static const char *symbol_name(const struct elf_file *file, const ElfW(Sym) * symbol)
{
    return symbol->st_name < file->symbol_strings_size ? file->symbol_strings + symbol->st_name : "";
}

int elf_defines(const struct elf_file *file, const char *name)
{
    for (size_t i = 0; i < file->symbol_count; i++) {
        if (file->symbols[i].st_shndx != SHN_UNDEF && !strcmp(symbol_name(file, &file->symbols[i]), name))
            return 1;
    }
    return 0;
}

int elf_refers(const struct elf_file *file, int (*wanted)(const char *name))
{
    for (size_t i = 0; i < file->symbol_count; i++) {
        if (file->symbols[i].st_shndx == SHN_UNDEF && wanted(symbol_name(file, &file->symbols[i])))
            return 1;
    }
    return 0;
}

unsigned long elf_flags_1(const struct elf_file *file)
{
    for (size_t i = 0; i < file->dynamic_count && file->dynamic[i].d_tag != DT_NULL; i++)
        if (file->dynamic[i].d_tag == DT_FLAGS_1)
            return file->dynamic[i].d_un.d_val;
    return 0;
}

const char *elf_bound(const struct elf_file *file, int binding)
{
    for (size_t i = 0; i < file->symbol_count; i++) {
        const ElfW(Sym) *symbol = &file->symbols[i];
        if (symbol->st_shndx != SHN_UNDEF && ELF64_ST_BIND(symbol->st_info) == binding) /* the same in both classes */
            return symbol_name(file, symbol);
    }
    return NULL;
}
