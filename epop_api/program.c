/*
 * Constructors of programs. Those made here are kept in a list, so that epop_program_free can tell them
 * from a program that its shared object holds in a static variable.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <epop/program.h>

#include "epop_api/program.h"

/* Of an element. */
struct kept_sizes {
    epop_sizes_t sizes;
    struct kept_sizes *next;
};

struct owned {
    epop_program_t program; /* first: its address is the owned program's */
    epop_element_t *elements;
    char *name;
    struct kept_sizes *sizes;
    struct program_argument *may_change;
    bool incomplete; /* an element could not be added */
    bool published;  /* made as in the published listings */
    struct owned *next;
};

static struct owned *owned_programs;
static pthread_mutex_t owned_lock = PTHREAD_MUTEX_INITIALIZER;

/* The link that points to the owned program, or to NULL at the list's end. Under the lock. */
static struct owned **find_link(const epop_program_t *program)
{
    struct owned **link = &owned_programs;
    while (*link && &(*link)->program != program)
        link = &(*link)->next;
    return link;
}

static struct owned *find_owned(const epop_program_t *program)
{
    pthread_mutex_lock(&owned_lock);
    struct owned *owned = *find_link(program);
    pthread_mutex_unlock(&owned_lock);
    return owned;
}

bool epop__program_incomplete(const epop_program_t *program)
{
    const struct owned *owned = find_owned(program);
    return owned && owned->incomplete;
}

static int reserve(struct owned *owned, int capacity)
{
    if (capacity <= owned->program.capacity)
        return 0;
    epop_element_t *grown = realloc(owned->elements, (size_t)capacity * sizeof *grown);
    if (!grown)
        return -1;
    memset(grown + owned->program.capacity, 0, (size_t)(capacity - owned->program.capacity) * sizeof *grown);
    owned->program.elements = owned->elements = grown;
    owned->program.capacity = capacity;
    return 0;
}

static void free_owned(struct owned *owned)
{
    for (struct kept_sizes *kept; (kept = owned->sizes); free(kept))
        owned->sizes = kept->next;
    for (struct program_argument *argument; (argument = owned->may_change); free(argument)) {
        owned->may_change = argument->next;
        free(argument->name);
    }
    free(owned->elements);
    free(owned->name);
    free(owned);
}

static epop_program_t *create(const char *name, int size, unsigned abi_version)
{
    struct owned *owned = calloc(1, sizeof *owned);
    if (!owned)
        return NULL;
    owned->program.abi_version = abi_version;
    owned->program.finalizer = -1;
    if (name && !(owned->name = strdup(name)))
        goto fail;
    owned->program.name = owned->name;
    if (reserve(owned, size) != 0)
        goto fail;
    owned->program.size = size;

    pthread_mutex_lock(&owned_lock);
    owned->next = owned_programs;
    owned_programs = owned;
    pthread_mutex_unlock(&owned_lock);
    return &owned->program;
fail:
    free_owned(owned);
    return NULL;
}

epop_program_t *epop_program_create_abi(const char *name, unsigned abi_version)
{
    return create(name, 0, abi_version);
}

epop_program_t *epop_program_alloc_abi(int size, unsigned abi_version)
{
    return size >= 0 ? create(NULL, size, abi_version) : NULL;
}

void epop_program_free(epop_program_t *program)
{
    pthread_mutex_lock(&owned_lock);
    struct owned **link = find_link(program), *owned = *link;
    if (owned)
        *link = owned->next;
    pthread_mutex_unlock(&owned_lock);
    if (owned)
        free_owned(owned);
}

/* The listings allocate the structure themselves, in the size of the version that they were compiled for. */
static void free_replaced(epop_program_t *program)
{
    if (find_owned(program))
        epop_program_free(program);
    else
        free(program);
}

int epop_program_replace_abi(epop_program_t **program, int size, unsigned abi_version)
{
    if (!program)
        return EPOP_ERR_ARGUMENT;
    free_replaced(*program);
    *program = epop_program_alloc_abi(size, abi_version);
    if (!*program)
        return size < 0 ? EPOP_ERR_ARGUMENT : EPOP_ERR_MEMORY;
    find_owned(*program)->published = true;
    return EPOP_OK;
}

/* Elsewhere a function in INIT's phase_exec has the parameters of a phase, and is there by mistake. */
init_block *epop__program_init(const epop_program_t *program)
{
    const epop_element_t *first = program->elements;
    const struct owned *owned = first->init ? NULL : find_owned(program);
    return owned && owned->published ? (init_block *)(void (*)(void))first->phase_exec : first->init;
}

static int add(epop_program_t *program, const epop_element_t *element)
{
    struct owned *owned = find_owned(program);
    if (!owned)
        return -1;
    int pc = program->size;
    if (pc >= program->capacity && reserve(owned, pc < 8 ? 8 : 2 * pc) != 0)
        owned->incomplete = true;
    if (owned->incomplete)
        return -1;
    program->elements[pc] = *element;
    program->size = pc + 1;
    return pc;
}

int epop_add_init(epop_program_t *program, const char *name, int (*init)(int *argc, char ***argv, void **data))
{
    return add(program, &(epop_element_t){.type = EPOP_INIT, .name = name, .init = init});
}

int epop_add_elastic(epop_program_t *program, const char *name, int (*exec)(void *data), int (*adapt)(void *data),
                     int (*loop)(void *data))
{
    return add(program,
               &(epop_element_t){
                   .type = EPOP_EP, .name = name, .phase_exec = exec, .phase_adapt = adapt, .loop_condition = loop});
}

int epop_add_rigid(epop_program_t *program, const char *name, int (*exec)(void *data), int (*loop)(void *data))
{
    return add(program, &(epop_element_t){.type = EPOP_RP, .name = name, .phase_exec = exec, .loop_condition = loop});
}

int epop_add_branch(epop_program_t *program, const char *name, int (*branch)(int pc, void *data))
{
    return add(program, &(epop_element_t){.type = EPOP_BRANCH, .name = name, .branch_condition = branch});
}

/* ---- The program's own blocks --------------------------------------------------- */

static bool has_blocks(const epop_program_t *program)
{
    return program && program->abi_version >= 2;
}

static bool has_pack(const epop_program_t *program)
{
    return program && program->abi_version >= 3;
}

struct program_blocks epop__program_blocks(const epop_program_t *program)
{
    if (!has_blocks(program))
        return (struct program_blocks){.describe = NULL};
    return (struct program_blocks){.describe = program->describe,
                                   .rebuild = program->rebuild,
                                   .release = program->release,
                                   .pack = has_pack(program) ? program->pack : NULL};
}

int epop_describe(epop_program_t *program, void (*describe)(void *data, epop_description_t *d))
{
    if (!has_blocks(program))
        return EPOP_ERR_ARGUMENT;
    program->describe = describe;
    return EPOP_OK;
}

int epop_rebuild(epop_program_t *program, int (*rebuild)(void *data))
{
    if (!has_blocks(program))
        return EPOP_ERR_ARGUMENT;
    program->rebuild = rebuild;
    return EPOP_OK;
}

int epop_release(epop_program_t *program, void (*release)(void *data))
{
    if (!has_blocks(program))
        return EPOP_ERR_ARGUMENT;
    program->release = release;
    return EPOP_OK;
}

int epop_pack(epop_program_t *program, int (*pack)(void *data))
{
    if (!has_pack(program))
        return EPOP_ERR_ARGUMENT;
    program->pack = pack;
    return EPOP_OK;
}

/* ---- Arguments ------------------------------------------------------------------- */

int epop_may_change(epop_program_t *program, const char *name)
{
    struct owned *owned = find_owned(program);
    if (!owned || !name || !name[0])
        return EPOP_ERR_ARGUMENT;
    struct program_argument *argument = calloc(1, sizeof *argument), **last = &owned->may_change;
    if (!argument || !(argument->name = strdup(name))) {
        free(argument);
        return EPOP_ERR_MEMORY;
    }
    while (*last)
        last = &(*last)->next;
    *last = argument;
    return EPOP_OK;
}

const struct program_argument *epop__program_may_change(const epop_program_t *program)
{
    const struct owned *owned = find_owned(program);
    return owned ? owned->may_change : NULL;
}

/* ---- Of an element ---------------------------------------------------------------- */

static bool has_element(const epop_program_t *program, int pc)
{
    return program && pc >= 0 && pc < program->size;
}

int epop_set_progress(epop_program_t *program, int pc, void (*progress)(void *data, epop_progress_t *progress))
{
    if (!has_element(program, pc))
        return EPOP_ERR_ARGUMENT;
    program->elements[pc].progress = progress;
    return EPOP_OK;
}

/* A copy that lives as long as the program; NULL: out of memory. */
static const epop_sizes_t *keep_sizes(struct owned *owned, const epop_sizes_t *sizes)
{
    struct kept_sizes *kept = malloc(sizeof *kept);
    if (!kept)
        return NULL;
    *kept = (struct kept_sizes){*sizes, owned->sizes};
    owned->sizes = kept;
    return &kept->sizes;
}

int epop_set_sizes(epop_program_t *program, int pc, const epop_sizes_t *sizes)
{
    if (program && pc == -1 && sizes) {
        program->sizes = *sizes;
        return EPOP_OK;
    }
    struct owned *owned = has_element(program, pc) ? find_owned(program) : NULL;
    if (!owned)
        return EPOP_ERR_ARGUMENT;
    const epop_sizes_t *kept = sizes ? keep_sizes(owned, sizes) : NULL;
    if (sizes && !kept)
        return EPOP_ERR_MEMORY;
    program->elements[pc].sizes = kept;
    return EPOP_OK;
}

const char *epop_element_type_name(epop_element_type type)
{
    switch (type) {
    case EPOP_INIT:
        return "INIT";
    case EPOP_EP:
        return "EP";
    case EPOP_RP:
        return "RP";
    case EPOP_BRANCH:
        return "BRANCH";
    }
    return "unknown";
}
