/* Counts and checksums of described data, for the debug driver. */
#include "runtime/describe/audit.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/describe/collective.h"
#include "runtime/describe/look.h"
#include "runtime/describe/program.h"
#include "runtime/redist/element.h"
#include "runtime/world/world.h"

static void (*watch)(const char *text);

void epop__watch_described(void (*wrong)(const char *text))
{
    watch = wrong;
}

static bool is_summed(const struct described *entry)
{
    return entry->kind->sum && !(entry->flags & EPOP_SCRATCH);
}

static struct described_sum sum_of(const struct described *entry, int rank, int size)
{
    struct described_sum sum = {0, 0};
    if (rank >= 0 && is_summed(entry))
        entry->kind->sum(entry, rank, size, &sum.count, &sum.sum);
    return sum;
}

/* ---- Around a window ---------------------------------------------------------------------------- */

void describe_audit_before(epop_description_t *d, const epop_window_t *window)
{
    if (watch)
        describe_copy_originals(d, window->old_rank, window->old_size);
    for (int i = 0; watch && i < d->count; i++)
        d->entries[i].was = sum_of(&d->entries[i], window->old_rank, window->old_size);
}

static void tell_window(const struct described *entry, const uint64_t totals[4])
{
    char text[400];
    const char *word = entry->kind->word, *name = entry->name;
    if (totals[0] == totals[2])
        snprintf(text, sizeof text,
                 "described %s '%s': elements were changed or misplaced in the window: %" PRIu64
                 " before it with the checksum %016" PRIx64 ", and behind it with %016" PRIx64,
                 word, name, totals[0], totals[1], totals[3]);
    else
        snprintf(text, sizeof text, "described %s '%s': %" PRIu64 " elements before the window, %" PRIu64 " behind it",
                 word, name, totals[0], totals[2]);
    watch(text);
}

void describe_audit_after(const epop_description_t *d, const epop_window_t *window,
                          void (*block)(void *, epop_description_t *), void *data)
{
    epop_description_t now = {0};
    struct error error;
    if (!watch)
        return;
    bool listed = window->new_rank >= 0 && !describe_run(&now, DESCRIBE_LIST, block, data, NULL, 0, &error) &&
                  now.count == d->count;
    for (int i = 0; i < d->count; i++) {
        const struct described *entry = &d->entries[i];
        struct described_sum is = {0, 0};
        if (listed)
            is = sum_of(&now.entries[i], window->new_rank, window->new_size);
        uint64_t totals[4] = {(uint64_t)entry->was.count, entry->was.sum, (uint64_t)is.count, is.sum};
        if (is_summed(entry) && collective_sum(window, totals, 4) == EPOP_OK && window->old_rank == 0 &&
            (totals[0] != totals[2] || totals[1] != totals[3]))
            tell_window(entry, totals);
    }
    describe_free(&now);
}

/* ---- Between windows ---------------------------------------------------------------------------- */

/*
 * Behind the end of an array whose memory is of a window or a restart there are redist_edge bytes, and those to which
 * malloc() rounds up. They are nobody's, so what is written there was meant for elements that are not described. With
 * less, or more, it is memory of the program's, which may have made it anew, or have room for itself there.
 */
#define EDGE     0xa5
#define ROUND_UP 16

struct edge {
    unsigned char *at; /* NULL: there is none */
    int64_t bytes;
};

static struct edge edge_of(const struct described *entry)
{
    struct edge edge = {.at = NULL};
    if (!describe_is_allocated(entry))
        return edge;
    int64_t had = entry->kind->bytes(entry, world.rank, world.size);
    edge.bytes = (int64_t)malloc_usable_size(*entry->local) - had;
    if (redist_edge > 0 && edge.bytes >= redist_edge && edge.bytes < redist_edge + ROUND_UP)
        edge.at = (unsigned char *)*entry->local + had;
    return edge;
}

/* What was noted of an entry. */
static struct noted {
    char *name;
    struct described_sum sum; /* if it is constant */
    struct edge edge;
} * noted;
static int noted_count;

static void forget_noted(void)
{
    while (noted_count > 0)
        free(noted[--noted_count].name);
    free(noted);
    noted = NULL;
}

/* False: the program is not described, or its data is not there. */
static bool list_program(epop_description_t *d)
{
    struct error error;
    const struct describe_program *p = &describe_program;
    if (!watch || !p->describe || !p->whole || world.rank < 0)
        return false;
    if (!describe_run(d, DESCRIBE_LIST, p->describe, p->data, NULL, 0, &error))
        return true;
    describe_free(d); /* a window will say so */
    return false;
}

static bool is_constant(const struct described *entry)
{
    return entry->flags & EPOP_CONSTANT && is_summed(entry);
}

/* This rank's part. Of copies each rank looks at its own: in a window rank 0's counts for all. */
static struct described_sum own_sum(const struct described *entry)
{
    return sum_of(entry, entry->kind == &kind_replicated ? 0 : world.rank, world.size);
}

void epop__describe_note(void)
{
    epop_description_t d;
    forget_noted();
    if (!list_program(&d))
        return;
    noted = calloc((size_t)d.count + 1, sizeof *noted);
    for (int i = 0; noted && i < d.count; i++) {
        const struct described *entry = &d.entries[i];
        struct noted is = {strdup(entry->name), {0, 0}, edge_of(entry)};
        if (is_constant(entry))
            is.sum = own_sum(entry);
        if (is.edge.at)
            memset(is.edge.at, EDGE, (size_t)is.edge.bytes);
        if (is.name)
            noted[noted_count++] = is;
    }
    describe_free(&d);
}

/* Where the program has made another array of it, nothing is known. */
static void compare_edges(const struct described *entry, const struct noted *was)
{
    char text[400];
    struct edge is = edge_of(entry);
    if (!is.at || is.at != was->edge.at || is.bytes != was->edge.bytes)
        return;
    for (int64_t i = 0; i < is.bytes; i++)
        if (is.at[i] != EDGE) {
            snprintf(text, sizeof text,
                     "described %s '%s': this rank has written behind its end, %" PRId64
                     " bytes from its beginning, while the phase iterated",
                     entry->kind->word, entry->name, (int64_t)(is.at - (unsigned char *)*entry->local) + i);
            watch(text);
            return;
        }
}

static void compare_constants(const struct described *entry, const struct noted *was)
{
    char text[400];
    struct described_sum is = own_sum(entry);
    if (!is_constant(entry) || (is.count == was->sum.count && is.sum == was->sum.sum))
        return;
    snprintf(text, sizeof text,
             "described %s '%s' is EPOP_CONSTANT, but this rank has changed it while the phase iterated",
             entry->kind->word, entry->name);
    watch(text);
}

void epop__describe_compare(void)
{
    epop_description_t d;
    if (!noted_count || !list_program(&d))
        return;
    for (int i = 0; i < d.count; i++)
        for (int n = 0; n < noted_count; n++)
            if (!strcmp(d.entries[i].name, noted[n].name)) {
                compare_constants(&d.entries[i], &noted[n]);
                compare_edges(&d.entries[i], &noted[n]);
            }
    describe_free(&d);
}
