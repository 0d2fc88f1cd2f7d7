/* A first look at what a program describes. */
#include "runtime/describe/look.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>

#include "runtime/describe/collective.h"

/* ---- Memory: a resize frees it ------------------------------------------------------------------ */

/* Of a program, or of a library. */
static bool is_static(const void *at)
{
    Dl_info info;
    return dladdr(at, &info);
}

static bool is_on_stack(const void *at)
{
    pthread_attr_t attributes;
    void *stack = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes))
        return false;
    pthread_attr_getstack(&attributes, &stack, &size);
    pthread_attr_destroy(&attributes);
    return (const char *)at >= (const char *)stack && (const char *)at < (const char *)stack + size;
}

static void *memory_of_part(const struct described *entry)
{
    return entry->local ? *entry->local : NULL;
}

static int look_at_memory(const struct described *entry, struct error *error)
{
    const void *at = memory_of_part(entry);
    bool fixed = at && is_static(at);
    if (!at || (!fixed && !is_on_stack(at)))
        return 0;
    return error_set(error, ERROR_REFUSED,
                     "described %s '%s' lies in %s memory; it has to come from malloc(), as a resize frees it",
                     entry->kind->word, entry->name, fixed ? "static" : "the stack's");
}

/* Kinds with several arrays have no part of so many bytes. */
static bool is_one_block(const struct described *entry)
{
    return entry->kind->release == describe_release_part;
}

bool describe_is_allocated(const struct described *entry)
{
    const void *at = is_one_block(entry) ? memory_of_part(entry) : NULL;
    return at && !is_static(at) && !is_on_stack(at);
}

static void look_at_room(const struct described *entry, int rank, int size, struct error *hint)
{
    void *at = memory_of_part(entry);
    if (!is_one_block(entry) || hint->code != ERROR_NONE)
        return;
    int64_t bytes = entry->kind->bytes(entry, rank, size), room = at ? (int64_t)malloc_usable_size(at) : 0;
    bool may_come = !at && entry->flags & EPOP_SCRATCH;
    if (bytes > room && !may_come)
        error_set(hint, ERROR_REFUSED,
                  "described %s '%s' has %" PRId64 " bytes by its description, but its memory %" PRId64,
                  entry->kind->word, entry->name, bytes, room);
}

/* ---- What is looked at -------------------------------------------------------------------------- */

static int look_at_parts(const epop_description_t *d, const epop_window_t *window, struct error *error,
                         struct error *hint)
{
    for (int i = 0; i < d->count; i++)
        if (look_at_memory(&d->entries[i], error))
            return -1;
    for (int i = 0; i < d->count; i++)
        look_at_room(&d->entries[i], window->old_rank, window->old_size, hint);
    return 0;
}

/* A fault of the data is none as long as that is being made. */
static int list_for_look(epop_description_t *d, enum look_depth depth, describe_block *block, void *data,
                         struct error *error)
{
    return describe_run(d, DESCRIBE_LIST, block, data, NULL, 0, error) && (depth == LOOK_DATA || d->of_form) ? -1 : 0;
}

int describe_look_alone(describe_block *block, void *data, struct error *error)
{
    epop_description_t d = {0};
    int result = list_for_look(&d, LOOK_FORM, block, data, error);
    describe_free(&d);
    return result;
}

static const char *text_of(int result, const struct error *own)
{
    return result ? own->text : NULL;
}

static int look_together(const epop_window_t *window, enum look_depth depth, describe_block *block, void *data,
                         struct error *error, struct error *hint)
{
    epop_description_t d = {0};
    struct error own = {0}, own_hint = {0};
    int listed = list_for_look(&d, depth, block, data, &own);
    int result = depth == LOOK_DATA ? describe_alike(&d, window, text_of(listed, &own), error)
                                    : describe_all_well(window, text_of(listed, &own), error);
    if (!result && depth == LOOK_DATA) {
        int fits = look_at_parts(&d, window, &own, &own_hint);
        result = describe_all_well(window, text_of(fits, &own), error);
    }
    if (!result && depth == LOOK_DATA)
        describe_all_well(window, text_of(own_hint.code != ERROR_NONE, &own_hint), hint);
    describe_free(&d);
    return result;
}

int describe_look(MPI_Comm comm, enum look_depth depth, describe_block *block, void *data, struct error *error,
                  struct error *hint)
{
    epop_window_t window = {.new_ranks = NULL};
    MPI_Comm own;
    *hint = (struct error){.code = ERROR_NONE};
    MPI_Comm_dup(comm, &own);
    int result = describe_still(own, &window) == EPOP_OK ? 0 : error_memory(error);
    if (!result)
        result = look_together(&window, depth, block, data, error, hint);
    describe_still_free(&window);
    MPI_Comm_free(&own);
    return result;
}
