/*
 * All described data in a window, and adapting by it (epop_adapt_described). Values come first, as the entries after
 * them may depend on them.
 */
#include <stdlib.h>
#include <string.h>

#include "interpose/interpose.h"
#include "runtime/base/say.h"
#include "runtime/describe/allocatable.h"
#include "runtime/describe/audit.h"
#include "runtime/describe/collective.h"
#include "runtime/describe/costs.h"
#include "runtime/describe/describe.h"
#include "runtime/describe/program.h"
#include "runtime/redist/move.h"
#include "runtime/redist/plan.h"
#include "runtime/redist/traffic.h"
#include "runtime/world/world.h"

static const struct describe_ahead *came_ahead;

void describe_come_ahead(const struct describe_ahead *ahead)
{
    came_ahead = ahead;
}

#define FEW_BYTES 2000

/* Values as they travel: few of them together with their number, which takes one broadcast and no memory. */
struct parcel {
    int64_t length; /* -1: there are none to give */
    char few[FEW_BYTES];
};

struct blob {
    char *bytes; /* owned, or NULL: they are in the parcel */
    struct parcel parcel;
};

static const char *bytes_of(const struct blob *values)
{
    return values->bytes ? values->bytes : values->parcel.few;
}

/* More than few. False on all: somebody has no memory for them. */
static bool share_many(const epop_window_t *window, struct blob *values)
{
    size_t length = (size_t)values->parcel.length;
    if (!values->bytes)
        values->bytes = malloc(length);
    int64_t had = values->bytes ? 1 : 0;
    return collective_min(window, &had, 1) == EPOP_OK && had &&
           collective_broadcast(window, values->bytes, length, 0) == EPOP_OK;
}

/* The values of rank 0 on all ranks. False on all: rank 0 has none to give, or somebody no memory for them. */
static bool share_values(const epop_window_t *window, const epop_description_t *d, bool listed, struct blob *values)
{
    struct parcel *parcel = &values->parcel;
    size_t length = 0;
    if (window->old_rank == 0 && listed)
        values->bytes = describe_values_pack(d, &length);
    parcel->length = values->bytes ? (int64_t)length : -1;
    if (values->bytes && length <= FEW_BYTES)
        memcpy(parcel->few, values->bytes, length);
    if (collective_broadcast(window, parcel, sizeof *parcel, 0) != EPOP_OK || parcel->length < 0)
        return false;
    return parcel->length <= FEW_BYTES || share_many(window, values);
}

/* A description on every rank: old ones list, joining ones fill in. 0, or -1 on this rank alone. */
static int make_description(const epop_window_t *window, void (*block)(void *, epop_description_t *), void *data,
                            epop_description_t *d, struct error *error)
{
    struct blob values = {0};
    bool joins = window->old_rank < 0, well = true;
    if (!joins)
        well = !describe_run(d, DESCRIBE_LIST, block, data, NULL, 0, error);
    if (window->joining && !share_values(window, d, well, &values)) {
        if (well && joins)
            error_set(error, ERROR_FAILED, "it did not get the values of rank 0");
        well = well && !joins;
    } else if (joins) {
        well = !describe_run(d, DESCRIBE_FILL, block, data, bytes_of(&values), (size_t)values.parcel.length, error);
    }
    free(values.bytes);
    return well ? 0 : -1;
}

static bool is_scratch(const struct described *entry)
{
    return entry->flags & EPOP_SCRATCH;
}

/* What does not move: new and empty where it is needed. Without the memory somewhere, an error everywhere. */
static int allocate_scratch(epop_description_t *d, const epop_window_t *window)
{
    int64_t failed = 0, any = 0;
    for (int i = 0; i < d->count; i++) {
        struct described *entry = &d->entries[i];
        if (!is_scratch(entry))
            continue;
        any = 1;
        entry->kind->release(entry);
        if (window->new_rank >= 0 && entry->kind->allocate(entry, window->new_rank, window->new_size) != EPOP_OK)
            failed = 1;
    }
    if (!any)
        return EPOP_OK;
    int result = collective_max(window, &failed, 1);
    if (result != EPOP_OK || !failed)
        return result;
    collective_refuse(window, "out of memory for an array that is EPOP_SCRATCH");
    return EPOP_ERR_MEMORY;
}

/* For messages, and for what is counted. */
static void name_what_moves(const char *name)
{
    redist_subject = name;
    redist_traffic_array(name);
}

static int move_entry(struct described *entry, const epop_window_t *window)
{
    name_what_moves(entry->name);
    int result = entry->kind->move(entry, window);
    name_what_moves(NULL);
    return result;
}

static bool stays_where_it_is(const struct described *entry)
{
    return !entry->kind->move || is_scratch(entry) || entry->ahead;
}

/* Their moves are one redistribution each, whose terms describe_agree has compared. */
static bool is_moved_together(const struct described *entry)
{
    return entry->kind == &kind_array || entry->kind == &kind_matrix;
}

/* Arrays and matrices from `first` on up to another kind. Small ones have one agreement: where each had its own, the
 * slowest rank was waited for as often. Where the next one is goes into *next. */
static int move_plain(epop_description_t *d, const epop_window_t *window, int first, int *next)
{
    int result = EPOP_OK, i = first;
    redist_moves_begin(DESCRIBE_FUNCTION);
    for (; i < d->count && (is_moved_together(&d->entries[i]) || stays_where_it_is(&d->entries[i])); i++)
        if (!stays_where_it_is(&d->entries[i]) && result == EPOP_OK)
            result = move_entry(&d->entries[i], window);
    *next = i;
    int together = redist_moves_end(window);
    return together == EPOP_OK ? result : together;
}

/* All that move are told in the order of the list, whether or not they have already. */
static void count_ahead(const epop_description_t *d)
{
    for (int i = 0; i < d->count; i++)
        if (d->entries[i].kind->move && !is_scratch(&d->entries[i]))
            redist_traffic_ahead(d->entries[i].name, d->entries[i].ahead_bytes);
}

/* Moves every entry (but values, and those that came ahead), in the order of the list. Collective over window->all. */
static int describe_move(epop_description_t *d, const epop_window_t *window)
{
    int result = EPOP_OK, i = 0;
    count_ahead(d);
    while (i < d->count && result == EPOP_OK) {
        struct described *entry = &d->entries[i];
        if (is_moved_together(entry))
            result = move_plain(d, window, i, &i);
        else if (!stays_where_it_is(entry))
            result = move_entry(entry, window);
        i += !is_moved_together(entry);
    }
    return result == EPOP_OK ? allocate_scratch(d, window) : result;
}

int describe_window(const epop_window_t *window, void (*block)(void *, epop_description_t *), void *data)
{
    epop_description_t d = {0};
    struct error own = {0}, error;
    int result = EPOP_OK;
    bool ahead = false;
    if (!world_loads(window))
        costs_forget();
    const char *fault = make_description(window, block, data, &d, &own) ? own.text : NULL;
    if (!fault)
        ahead = came_ahead && came_ahead->is_here(block, data, &d);
    if (describe_agree(&d, window, fault, &ahead, &error))
        result = collective_refuse(window, error.text);
    if (result == EPOP_OK) {
        describe_audit_before(&d, window);
        if (ahead)
            came_ahead->hand_over(&d);
        describe_copy_originals(&d, window->old_rank, window->old_size); /* without the memory the move says so */
        result = describe_move(&d, window);
    }
    if (result == EPOP_OK && describe_bounds(&d, window->new_rank, window->new_size))
        result = EPOP_ERR_MEMORY;
    if (result == EPOP_OK)
        describe_audit_after(&d, window, block, data);
    describe_free(&d);
    return result;
}

/* ---- What programs call ------------------------------------------------------------------------- */

int epop_redist_described(const epop_window_t *window, void (*describe)(void *data, epop_description_t *d), void *data)
{
    INTERPOSE_CALL(epop_redist_described);
    if (!redist_window_open(DESCRIBE_FUNCTION, window))
        return EPOP_ERR_ARGUMENT;
    int result = describe_window(window, describe, data);
    if (result == EPOP_OK && data == describe_program.data)
        describe_program.whole = true;
    return result;
}

int epop_adapt_described(void *data)
{
    INTERPOSE_CALL(epop_adapt_described);
    epop_window_t window;
    if (!describe_program.describe) {
        say_line("epop_adapt_described: the program has no describe block; epop_describe sets it");
        return EPOP_ERR_STATE;
    }
    int result = epop_adapt_begin(&window);
    if (result == EPOP_OK)
        result = describe_program_pack();
    if (result == EPOP_OK)
        result = epop_redist_described(&window, describe_program.describe, data);
    if (result == EPOP_OK && window.status != EPOP_LEAVING)
        result = describe_program_rebuild();
    else if (result == EPOP_OK)
        describe_program_release();
    return result == EPOP_OK ? epop_adapt_commit() : result;
}
