/* Which constant data can move ahead, where it goes, and how it takes its place in the window. */
#include "runtime/ahead/cargo.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/hash.h"

/* ---- What there is ------------------------------------------------------------------- */

/* Part number i of an entry. False: there are no more. */
static bool part_of(const struct described *entry, int i, struct route_part *part)
{
    const struct route_kind *kind = entry->kind->route;
    *part = (struct route_part){.local = entry->local, .type = entry->type};
    return kind->part ? kind->part(entry, i, part) : i == 0 && !kind->leads;
}

/* Elements with gaps need MPI to be packed, which another thread must not call everywhere. */
static bool parts_are_dense(const struct described *entry)
{
    redist_element element;
    struct route_part part;
    for (int i = 0; part_of(entry, i, &part); i++)
        if (redist_element_of(part.type, &element) || !element.dense || element.size <= 0)
            return false;
    return true;
}

static bool can_go(const struct described *entry)
{
    const struct route_kind *kind = entry->kind->route;
    return kind && (kind->leads || describe_is_constant(entry)) && kind->goes(entry) && parts_are_dense(entry);
}

static void hash_item(struct cargo *cargo, const struct cargo_item *item)
{
    cargo->hash = hash_bytes(cargo->hash, item->entry->name, strlen(item->entry->name) + 1);
    for (int i = 0; i < item->terms.count; i++)
        cargo->hash = hash_bytes(cargo->hash, &item->terms.value[i], sizeof item->terms.value[i]);
    if (item->entry->kind->route->leads)
        cargo->hash = hash_bytes(cargo->hash, &item->route.number, sizeof item->route.number);
    cargo->listed = hash_bytes(cargo->listed, &item->route.checksum, sizeof item->route.checksum);
}

static int add_parts(struct cargo_item *item, bool here)
{
    struct route_part part;
    while (part_of(item->entry, item->count, &part))
        item->count++;
    item->parts = calloc((size_t)item->count + 1, sizeof *item->parts);
    for (int i = 0; item->parts && i < item->count; i++) {
        struct cargo_part *p = &item->parts[i];
        part_of(item->entry, i, &part);
        redist_element_of(part.type, &p->element);
        p->made = part.made;
        if (here)
            p->before = part.local == item->entry->local ? describe_part_of(item->entry) : *part.local;
    }
    return item->parts ? 0 : -1;
}

static int add_item(struct cargo *cargo, struct described *entry, bool here, struct error *error)
{
    struct cargo_item *item = &cargo->items[cargo->count++];
    const struct route_kind *kind = entry->kind->route;
    *item = (struct cargo_item){.entry = entry};
    entry->kind->terms(entry, &item->terms);
    if (add_parts(item, here))
        return error_memory(error);
    if (cargo->size && kind->list && kind->list(entry, cargo->size, here, &item->route, error))
        return -1;
    hash_item(cargo, item);
    return 0;
}

/* Room for all streams that there can be: of each item one in each round, and its parts. */
static int make_room(struct cargo *cargo)
{
    size_t most = 1;
    for (int i = 0; i < cargo->count; i++)
        most += ROUTE_DATA + (size_t)cargo->items[i].count;
    cargo->streams = calloc(most, sizeof *cargo->streams);
    return cargo->streams ? 0 : -1;
}

static int list_items(struct cargo *cargo, bool here, struct error *error)
{
    epop_description_t *d = &cargo->description;
    cargo->items = calloc((size_t)d->count + 1, sizeof *cargo->items);
    if (!cargo->items)
        return error_memory(error);
    for (int i = 0; i < d->count; i++)
        if (can_go(&d->entries[i]) && add_item(cargo, &d->entries[i], here, error))
            return -1;
    cargo->listed = hash_bytes(cargo->listed, &cargo->hash, sizeof cargo->hash);
    return make_room(cargo) ? error_memory(error) : 0;
}

struct cargo *cargo_list(enum describe_mode mode, int size, void (*block)(void *, epop_description_t *), void *data,
                         const char *values, size_t value_bytes, struct error *error)
{
    struct cargo *cargo = calloc(1, sizeof *cargo);
    if (!cargo) {
        error_memory(error);
        return NULL;
    }
    cargo->hash = cargo->listed = HASH_BEGIN;
    cargo->size = size;
    bool here = mode == DESCRIBE_LIST;
    int result = describe_run(&cargo->description, mode, block, data, values, value_bytes, error) ||
                 list_items(cargo, here, error);
    if (!here)
        describe_untell(&cargo->description);
    if (!result)
        return cargo;
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

static void add_stream(struct cargo *cargo, const struct route_stream *stream)
{
    cargo->streams[cargo->stream_count++] = *stream;
}

static struct route_stream stream_of(const struct cargo_item *item, const struct cargo_part *part)
{
    const struct describe_route *route = &item->route;
    return (struct route_stream){.element = part->element,
                                 .plan = &route->plan,
                                 .rows = route->by_rows ? &route->rows : NULL,
                                 .copies = route->copies,
                                 .before = part->before,
                                 .after = part->after};
}

static int64_t elements_of(const struct cargo_item *item, redist_side side)
{
    const struct describe_route *route = &item->route;
    return route->by_rows  ? route->rows.total[side]
           : route->copies ? route->copies
                           : redist_plan_local(&route->plan, side);
}

static int check_item(const struct cargo *cargo, const struct cargo_item *item, struct error *error)
{
    bool well = item->route.planned && (item->route.copies || redist_check_plan(&item->route.plan) == REDIST_FINE);
    for (int i = 0; well && i < item->count && cargo->window->old_rank >= 0; i++)
        well = item->parts[i].made || item->parts[i].before || !elements_of(item, REDIST_BEFORE);
    return well ? 0 : error_set(error, ERROR_FAILED, "'%s' cannot be moved", item->entry->name);
}

static int64_t received_bytes(const struct cargo *cargo, const struct route_stream *stream)
{
    int64_t elements = 0;
    for (int from = 0; from < cargo->window->old_size; from++)
        if (from != cargo->me)
            elements += route_elements(stream, cargo->window, from, cargo->me);
    return elements * stream->element.size;
}

/* The new block of a part, and what comes there. */
static int load_part(struct cargo *cargo, struct cargo_item *item, struct cargo_part *part, struct error *error)
{
    bool new = !item->stays && cargo->window->new_rank >= 0;
    if (new && part->made) {
        part->after = item->route.made;
        item->route.made = NULL;
    }
    if (part->made)
        return 0;
    if (new &&redist_new_block(&part->element, elements_of(item, REDIST_AFTER), &part->after) != REDIST_FINE)
        return error_set(error, ERROR_MEMORY, "there is no memory for a second block of '%s'", item->entry->name);
    struct route_stream stream = stream_of(item, part);
    item->received += received_bytes(cargo, &stream);
    add_stream(cargo, &stream);
    return 0;
}

static int load_item(struct cargo *cargo, struct cargo_item *item, struct error *error)
{
    if (item->entry->kind->route->leads)
        return 0;
    if (check_item(cargo, item, error))
        return -1;
    item->stays = route_stays(&item->route, cargo->window);
    for (int i = 0; i < item->count; i++)
        if (load_part(cargo, item, &item->parts[i], error))
            return -1;
    return 0;
}

static int step_item(struct cargo *cargo, struct cargo_item *item, struct error *error)
{
    struct describe_route *route = &item->route;
    struct error why;
    route->head = (struct route_stream){.element.size = 0};
    if (item->entry->kind->route->step(item->entry, cargo->window, route, cargo->round, &why))
        return error_set(error, why.code, "'%s': %s", item->entry->name, why.text);
    if (cargo->round == ROUTE_DATA)
        return load_item(cargo, item, error);
    if (!route->head.element.size)
        return 0;
    route_keep_own(&route->head, cargo->window, cargo->me);
    add_stream(cargo, &route->head);
    return 0;
}

static int step_items(struct cargo *cargo, struct error *error)
{
    for (int i = 0; i < cargo->count; i++)
        if (step_item(cargo, &cargo->items[i], error))
            return -1;
    return 0;
}

int cargo_route(struct cargo *cargo, epop_window_t *window, int me, struct error *error)
{
    cargo->window = window;
    cargo->me = me;
    cargo->round = ROUTE_FIRST;
    if (cargo->size != window->new_size)
        return error_set(error, ERROR_FAILED, "it was listed for %d ranks", cargo->size);
    return step_items(cargo, error);
}

int cargo_next(struct cargo *cargo, struct error *error)
{
    cargo->round++;
    cargo->data = cargo->stream_count;
    return step_items(cargo, error);
}

/* Before it is planned that is not known. */
static bool item_goes(const struct cargo *cargo, const struct cargo_item *item, int from, int to)
{
    const struct describe_route *route = &item->route;
    const struct route_stream stream = {.plan = &route->plan, .copies = route->copies};
    if (route->anywhere && redist_old_rank(cargo->window, from) >= 0)
        return true;
    if (route->head.element.size && route_elements(&route->head, cargo->window, from, to) > 0)
        return true;
    return route->planned && route_elements(&stream, cargo->window, from, to) > 0;
}

bool cargo_goes(const struct cargo *cargo, int from, int to)
{
    for (int i = 0; i < cargo->count; i++)
        if (item_goes(cargo, &cargo->items[i], from, to))
            return true;
    return false;
}

/* ---- In the window -------------------------------------------------------------------- */

static const struct described *find_entry(const epop_description_t *d, const char *name)
{
    for (int i = 0; i < d->count; i++)
        if (!strcmp(d->entries[i].name, name))
            return &d->entries[i];
    return NULL;
}

static bool is_as_it_was(const struct cargo_item *item, const struct described *entry)
{
    redist_terms terms = {0};
    if (!entry || entry->kind != item->entry->kind || entry->flags != item->entry->flags)
        return false;
    entry->kind->terms(entry, &terms);
    return terms.count == item->terms.count &&
           !memcmp(terms.value, item->terms.value, (size_t)terms.count * sizeof *terms.value);
}

bool cargo_fits(const struct cargo *cargo, const epop_description_t *now)
{
    for (int i = 0; i < cargo->count; i++) {
        const struct cargo_item *item = &cargo->items[i];
        const struct route_kind *kind = item->entry->kind->route;
        const struct described *entry = find_entry(now, item->entry->name);
        if (!kind->leads)
            continue;
        if (!is_as_it_was(item, entry))
            return false;
        if (kind->same && cargo->window->old_rank >= 0 && !kind->same(&item->route, entry))
            return false;
    }
    return true;
}

static void hand_over_part(struct cargo_part *part, void **local)
{
    part->old = *local; /* freed when the ranks compute again */
    *local = part->after;
    part->after = NULL;
}

static void hand_over_item(const struct cargo *cargo, struct cargo_item *item, struct described *entry)
{
    struct route_part part;
    entry->ahead = item->handed_over = true;
    entry->ahead_bytes = item->received;
    for (int i = 0; !item->stays && i < item->count; i++)
        if (part_of(entry, i, &part))
            hand_over_part(&item->parts[i], part.local);
    if (entry->kind->route->take)
        entry->kind->route->take(entry, cargo->window, &item->route);
}

void cargo_hand_over(struct cargo *cargo, epop_description_t *now)
{
    for (int i = 0; i < cargo->count; i++) {
        struct cargo_item *item = &cargo->items[i];
        struct described *entry = (struct described *)find_entry(now, item->entry->name);
        if (!item->handed_over && is_as_it_was(item, entry))
            hand_over_item(cargo, item, entry);
    }
}

static void free_item(struct cargo_item *item)
{
    for (int i = 0; item->parts && i < item->count; i++) {
        free(item->parts[i].old);
        free(item->parts[i].after);
    }
    free(item->parts);
    route_free(&item->route);
}

void cargo_free(struct cargo *cargo)
{
    if (!cargo)
        return;
    for (int i = 0; i < cargo->count; i++)
        free_item(&cargo->items[i]);
    free(cargo->items);
    free(cargo->streams);
    describe_free(&cargo->description);
    free(cargo);
}
