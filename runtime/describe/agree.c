/* Do all ranks list the same? One reduction of a hash; who differs where is looked for only when somebody does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/hash.h"
#include "runtime/describe/collective.h"
#include "runtime/describe/describe.h"

/* An entry as text: words that must be the same, with a tab behind each. */
struct line {
    char text[1600];
};

#define FLAGS_TEXT(flags) ((flags)&EPOP_SCRATCH ? "scratch" : (flags)&EPOP_CONSTANT ? "constant" : "none")

static void describe_line(const struct described *entry, struct line *line)
{
    redist_terms terms = {.function = DESCRIBE_FUNCTION};
    entry->kind->terms(entry, &terms);
    size_t size = sizeof line->text;
    int used = snprintf(line->text, size, "%s '%s'\tthe flags=%u\t", entry->kind->word, entry->name, entry->flags);
    for (int i = 0; i < terms.count && used < (int)size; i++)
        used += snprintf(line->text + used, size - (size_t)used, "%s=%lld\t", terms.name[i], (long long)terms.value[i]);
}

static void line_at(const epop_description_t *d, int index, struct line *line)
{
    memset(line, 0, sizeof *line);
    if (index < d->count)
        describe_line(&d->entries[index], line);
}

/* 62 bits: MPICH compares MPI_UINT64_T as if it had a sign. */
static int64_t hash_of(const epop_description_t *d)
{
    struct line line;
    uint64_t hash = HASH_BEGIN;
    for (int i = 0; i < d->count; i++) {
        line_at(d, i, &line);
        hash = hash_bytes(hash, line.text, strlen(line.text));
    }
    return (int64_t)(hash >> 2);
}

/* The words of both lines up to the first that differ; into text what is the matter. */
static void compare(const struct line *ours, int ours_rank, const struct line *theirs, int theirs_rank, int index,
                    char *text, size_t size)
{
    const char *a = ours->text, *b = theirs->text;
    size_t title = strcspn(a, "\t"), a_length = title, b_length = strcspn(b, "\t");
    if (!*a || !*b) {
        snprintf(text, size, "rank %d describes %.*s, which rank %d does not", *a ? ours_rank : theirs_rank,
                 (int)(*a ? a_length : b_length), *a ? a : b, *a ? theirs_rank : ours_rank);
        return;
    }
    if (a_length != b_length || memcmp(a, b, title) != 0) {
        snprintf(text, size,
                 "entry %d is %.*s on rank %d and %.*s on rank %d; all ranks describe the same in the same "
                 "order",
                 index + 1, (int)a_length, a, ours_rank, (int)b_length, b, theirs_rank);
        return;
    }
    while (*a && *b && a_length == b_length && !memcmp(a, b, a_length)) {
        a += a_length + 1;
        b += b_length + 1;
        a_length = strcspn(a, "\t");
        b_length = strcspn(b, "\t");
    }
    size_t word = strcspn(a, "=");
    snprintf(text, size, "described %.*s: %.*s is %.*s on rank %d and %.*s on rank %d; it must be the same on all",
             (int)title, ours->text, (int)word, a, (int)(a_length - word - (a_length > word)),
             a + word + (a_length > word), ours_rank, (int)(b_length - word - (b_length > word)),
             b + word + (b_length > word), theirs_rank);
}

/* The first entry that is not rank 0's on some rank, and the first such rank: what both say, in text on all. */
static int find(const epop_description_t *d, const epop_window_t *window, char *text, size_t size)
{
    struct line first, mine, theirs;
    int64_t found = INT64_MAX, place[2] = {d->count, -d->count};
    int rank, result = collective_max(window, place, 2);
    MPI_Comm_rank(window->all, &rank);
    for (int i = 0; result == EPOP_OK && i < place[0]; i++) {
        line_at(d, i, &mine);
        first = mine;
        result = describe_broadcast(window, &first, sizeof first, MPI_BYTE);
        found = strcmp(first.text, mine.text) ? rank : INT64_MAX;
        if (result == EPOP_OK)
            result = collective_min(window, &found, 1);
        if (result != EPOP_OK || found == INT64_MAX)
            continue;
        theirs = mine;
        result = collective_broadcast(window, &theirs, sizeof theirs, (int)found);
        compare(&first, 0, &theirs, (int)found, i, text, size);
        break;
    }
    return result;
}

int describe_agree(const epop_description_t *d, const epop_window_t *window, bool *ahead)
{
    char text[400] = "the ranks do not describe the same";
    int64_t hash = hash_of(d), terms[3] = {hash, -hash, ahead && !*ahead};
    int result = collective_max(window, terms, 3);
    if (ahead)
        *ahead = result == EPOP_OK && terms[2] == 0;
    if (result != EPOP_OK || terms[0] == -terms[1])
        return result;
    result = find(d, window, text, sizeof text);
    return result == EPOP_OK ? collective_refuse(window, text) : result;
}
