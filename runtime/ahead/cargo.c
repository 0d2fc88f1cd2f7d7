/* Which constant data can move ahead, where it goes, and how it takes its place in the window. */
#include "runtime/ahead/cargo.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/hash.h"
#include "runtime/redist/plan.h"

/* Elements with gaps need MPI to be packed, which another thread must not call everywhere. */
static bool can_go(const struct described *entry, redist_element *element)
{
    bool moves = entry->flags & EPOP_CONSTANT && !(entry->flags & EPOP_SCRATCH) && entry->kind->route;
    return moves && entry->kind->route(entry, NULL, NULL) && redist_element_of(entry->type, element) == 0 &&
           element->dense && element->size > 0;
}

static uint64_t hash_item(uint64_t hash, const struct cargo_item *item)
{
    hash = hash_bytes(hash, item->entry->name, strlen(item->entry->name) + 1);
    for (int i = 0; i < item->terms.count; i++)
        hash = hash_bytes(hash, &item->terms.value[i], sizeof item->terms.value[i]);
    return hash;
}

static void add_item(struct cargo *cargo, struct described *entry, const redist_element *element, bool here)
{
    struct cargo_item *item = &cargo->items[cargo->count++];
    *item = (struct cargo_item){.entry = entry, .element = *element};
    if (here)
        item->before = entry->original ? entry->original : *entry->local;
    entry->kind->terms(entry, &item->terms);
    cargo->hash = hash_item(cargo->hash, item);
}

struct cargo *cargo_list(enum describe_mode mode, void (*block)(void *, epop_description_t *), void *data,
                         const char *values, size_t value_bytes, struct error *error)
{
    struct cargo *cargo = calloc(1, sizeof *cargo);
    redist_element element;
    if (!cargo) {
        error_memory(error);
        return NULL;
    }
    epop_description_t *d = &cargo->description;
    cargo->hash = HASH_BEGIN;
    if (describe_run(d, mode, block, data, values, value_bytes, error))
        goto fail;
    cargo->items = calloc((size_t)d->count + 1, sizeof *cargo->items);
    if (!cargo->items) {
        error_memory(error);
        goto fail;
    }
    for (int i = 0; i < d->count; i++)
        if (can_go(&d->entries[i], &element))
            add_item(cargo, &d->entries[i], &element, mode == DESCRIBE_LIST);
    return cargo;
fail:
    cargo_free(cargo);
    return NULL;
}

int64_t cargo_size(const struct cargo *cargo, int rank, int size)
{
    int64_t bytes = 0;
    for (int i = 0; i < cargo->count; i++)
        bytes += cargo->items[i].entry->kind->bytes(cargo->items[i].entry, rank, size);
    return bytes;
}

/* ---- Where it goes ------------------------------------------------------------------- */

int64_t cargo_item_elements(const struct cargo_item *item, int from, int to)
{
    const redist_plan *plan = &item->route.plan;
    if (item->route.copies)
        return from == 0 && redist_old_rank(plan->window, to) < 0 ? item->route.copies : 0;
    return redist_stream_start(plan, NULL, from, to).left;
}

int64_t cargo_bytes(const struct cargo *cargo, int from, int to)
{
    int64_t bytes = 0;
    for (int i = 0; i < cargo->count; i++)
        bytes += cargo_item_elements(&cargo->items[i], from, to) * cargo->items[i].element.size;
    return bytes;
}

static int64_t elements_after(const struct cargo_item *item)
{
    return item->route.copies ? item->route.copies : redist_plan_local(&item->route.plan, REDIST_AFTER);
}

static bool item_stays(const struct cargo_item *item, const epop_window_t *window)
{
    if (window->old_rank < 0 || window->new_rank < 0)
        return false;
    return item->route.copies || redist_plan_in_place(&item->route.plan);
}

static redist_fault check_item(const struct cargo_item *item)
{
    const redist_plan *plan = &item->route.plan;
    if (item->route.copies)
        return REDIST_FINE;
    redist_fault fault = redist_check_plan(plan);
    bool missing = fault == REDIST_FINE && plan->window->old_rank >= 0 && !item->before &&
                   redist_plan_local(plan, REDIST_BEFORE) > 0;
    return missing ? REDIST_NO_BLOCK : fault;
}

static int prepare_item(struct cargo_item *item, const epop_window_t *window, struct error *error)
{
    if (check_item(item) != REDIST_FINE)
        return error_set(error, ERROR_FAILED, "'%s' cannot be moved", item->entry->name);
    item->stays = item_stays(item, window);
    if (item->stays || window->new_rank < 0)
        return 0;
    if (redist_new_block(&item->element, elements_after(item), &item->after) != REDIST_FINE)
        return error_set(error, ERROR_MEMORY, "there is no memory for a second block of '%s'", item->entry->name);
    return 0;
}

int cargo_route(struct cargo *cargo, epop_window_t *window, int me, struct error *error)
{
    cargo->window = window;
    cargo->me = me;
    for (int i = 0; i < cargo->count; i++) {
        struct cargo_item *item = &cargo->items[i];
        item->entry->kind->route(item->entry, window, &item->route);
        if (prepare_item(item, window, error))
            return -1;
    }
    return 0;
}

/* ---- In the window -------------------------------------------------------------------- */

static struct cargo_item *find_item(struct cargo *cargo, const struct described *entry)
{
    for (int i = 0; i < cargo->count; i++)
        if (!strcmp(cargo->items[i].entry->name, entry->name))
            return &cargo->items[i];
    return NULL;
}

static bool is_as_it_was(const struct cargo_item *item, const struct described *entry)
{
    redist_terms terms = {0};
    if (entry->kind != item->entry->kind || entry->flags != item->entry->flags)
        return false;
    entry->kind->terms(entry, &terms);
    return terms.count == item->terms.count &&
           !memcmp(terms.value, item->terms.value, (size_t)terms.count * sizeof *terms.value);
}

static int64_t received_bytes(const struct cargo_item *item, const epop_window_t *window, int me)
{
    int64_t elements = 0;
    for (int from = 0; from < window->old_size; from++)
        if (from != me)
            elements += cargo_item_elements(item, from, me);
    return elements * item->element.size;
}

void cargo_hand_over(struct cargo *cargo, epop_description_t *d)
{
    for (int i = 0; i < d->count; i++) {
        struct described *entry = &d->entries[i];
        struct cargo_item *item = find_item(cargo, entry);
        if (!item || item->handed_over || !is_as_it_was(item, entry))
            continue;
        entry->ahead = item->handed_over = true;
        entry->ahead_bytes = received_bytes(item, cargo->window, cargo->me);
        if (item->stays)
            continue;
        item->old = *entry->local; /* freed when the ranks compute again */
        *entry->local = item->after;
        item->after = NULL;
    }
}

void cargo_free(struct cargo *cargo)
{
    if (!cargo)
        return;
    for (int i = 0; i < cargo->count; i++) {
        free(cargo->items[i].old);
        free(cargo->items[i].after);
    }
    free(cargo->items);
    describe_free(&cargo->description);
    free(cargo);
}
