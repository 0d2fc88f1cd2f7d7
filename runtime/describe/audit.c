/* Counts and checksums of described data, for the debug driver. */
#include "runtime/describe/audit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/describe/collective.h"
#include "runtime/describe/program.h"
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

/* What was noted of constant entries. */
static struct noted {
    char *name;
    struct described_sum sum;
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
        char *name = is_constant(entry) ? strdup(entry->name) : NULL;
        if (name)
            noted[noted_count++] = (struct noted){name, own_sum(entry)};
    }
    describe_free(&d);
}

static void compare_with_noted(const struct described *entry, const struct noted *was)
{
    char text[400];
    struct described_sum is = own_sum(entry);
    if (is.count == was->sum.count && is.sum == was->sum.sum)
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
            if (is_constant(&d.entries[i]) && !strcmp(d.entries[i].name, noted[n].name))
                compare_with_noted(&d.entries[i], &noted[n]);
    describe_free(&d);
}
