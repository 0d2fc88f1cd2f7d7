/*
 * Do all ranks list the same? One reduction of a hash tells; who differs, and where, is looked for only if somebody
 * does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/base/hash.h"
#include "runtime/base/say.h"
#include "runtime/describe/collective.h"
#include "runtime/describe/describe.h"

#define REMEMBERED 64 /* entries: a bit for each */

/* An entry as text: words that must be the same, each followed by a tab. */
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

static void entry_line(const epop_description_t *d, int index, struct line *line)
{
    memset(line, 0, sizeof *line);
    if (index < d->count)
        describe_line(&d->entries[index], line);
}

static uint64_t hash_of_list(const epop_description_t *d)
{
    struct line line;
    uint64_t hash = HASH_BEGIN;
    for (int i = 0; i < d->count; i++) {
        entry_line(d, i, &line);
        hash = hash_bytes(hash, line.text, strlen(line.text));
    }
    return hash;
}

/* An entry that somebody describes: "rank 2", or who else it is. */
struct said {
    const char *line, *who;
};

/* Compares both lines word by word; text gets the first difference. */
static void compare_lines(const struct said *ours, const struct said *theirs, int index, char *text, size_t size)
{
    const char *a = ours->line, *b = theirs->line;
    size_t title = strcspn(a, "\t"), a_length = title, b_length = strcspn(b, "\t");
    if (!*a || !*b) {
        snprintf(text, size, "%s describes %.*s, which %s does not", *a ? ours->who : theirs->who,
                 (int)(*a ? a_length : b_length), *a ? a : b, *a ? theirs->who : ours->who);
        return;
    }
    if (a_length != b_length || memcmp(a, b, title) != 0) {
        snprintf(text, size, "entry %d is %.*s on %s and %.*s on %s; all ranks describe the same in the same order",
                 index + 1, (int)a_length, a, ours->who, (int)b_length, b, theirs->who);
        return;
    }
    while (*a && *b && a_length == b_length && !memcmp(a, b, a_length)) {
        a += a_length + 1;
        b += b_length + 1;
        a_length = strcspn(a, "\t");
        b_length = strcspn(b, "\t");
    }
    size_t word = strcspn(a, "=");
    snprintf(text, size, "described %.*s: %.*s is %.*s on %s and %.*s on %s; it must be the same on all", (int)title,
             ours->line, (int)word, a, (int)(a_length - word - (a_length > word)), a + word + (a_length > word),
             ours->who, (int)(b_length - word - (b_length > word)), b + word + (b_length > word), theirs->who);
}

/* The first entry that is not rank 0's on some rank, and the first such rank: what both say, in text on all. */
static int find_difference(const epop_description_t *d, const epop_window_t *window, char *text, size_t size)
{
    struct line first, mine, theirs;
    char name[24];
    int64_t found = INT64_MAX, place[2] = {d->count, -d->count};
    int rank, result = collective_max(window, place, 2);
    MPI_Comm_rank(window->all, &rank);
    for (int i = 0; result == EPOP_OK && i < place[0]; i++) {
        entry_line(d, i, &mine);
        first = mine;
        result = describe_broadcast(window, &first, sizeof first, MPI_BYTE);
        found = strcmp(first.text, mine.text) ? rank : INT64_MAX;
        if (result == EPOP_OK)
            result = collective_min(window, &found, 1);
        if (result != EPOP_OK || found == INT64_MAX)
            continue;
        theirs = mine;
        result = collective_broadcast(window, &theirs, sizeof theirs, (int)found);
        snprintf(name, sizeof name, "rank %d", (int)found);
        compare_lines(&(struct said){first.text, "rank 0"}, &(struct said){theirs.text, name}, i, text, size);
        break;
    }
    return result;
}

bool describe_divides(const epop_description_t *d)
{
    for (int i = 0; i < d->count; i++)
        if (d->entries[i].kind->divides)
            return true;
    return false;
}

/* ---- A process that is to join ------------------------------------------------------------------- */

cJSON *describe_lines(const epop_description_t *d)
{
    cJSON *lines = cJSON_CreateArray();
    struct line line;
    for (int i = 0; i < d->count; i++) {
        entry_line(d, i, &line);
        cJSON_AddItemToArray(lines, cJSON_CreateString(line.text));
    }
    return lines;
}

int describe_like(const epop_description_t *d, const cJSON *lines, struct error *error)
{
    int count = cJSON_GetArraySize(lines) > d->count ? cJSON_GetArraySize(lines) : d->count;
    char text[400];
    struct line mine;
    for (int i = 0; i < count; i++) {
        const char *first = cJSON_GetStringValue(cJSON_GetArrayItem(lines, i));
        entry_line(d, i, &mine);
        if (!strcmp(mine.text, first ? first : ""))
            continue;
        compare_lines(&(struct said){first ? first : "", "rank 0"}, &(struct said){mine.text, "a joining rank"}, i,
                      text, sizeof text);
        return error_set(error, ERROR_REFUSED, "%s", text);
    }
    return 0;
}

/* ---- What is empty, and was not before ---------------------------------------------------------- */

/* What this process has had of an entry, by its name. */
static struct memory {
    char *name;
    bool had, told;
} * memories;
static size_t memory_count, memory_room;

/* NULL: out of memory. */
static struct memory *memory_of(const char *name)
{
    for (size_t i = 0; i < memory_count; i++)
        if (!strcmp(memories[i].name, name))
            return &memories[i];
    if (array_reserve(&memories, &memory_room, memory_count + 1, sizeof *memories))
        return NULL;
    memories[memory_count] = (struct memory){.name = strdup(name)};
    return memories[memory_count].name ? &memories[memory_count++] : NULL;
}

static bool may_be_empty(const struct described *entry)
{
    return entry->kind != &kind_values && !(entry->flags & EPOP_SCRATCH);
}

/* A bit for each of the first entries: is something of it here, and was there ever? */
static void look_back(const epop_description_t *d, const epop_window_t *window, uint64_t *has, uint64_t *had)
{
    *has = *had = 0;
    for (int i = 0; d->mode == DESCRIBE_LIST && i < d->count && i < REMEMBERED; i++) {
        const struct described *entry = &d->entries[i];
        struct memory *memory = may_be_empty(entry) ? memory_of(entry->name) : NULL;
        if (!memory)
            continue;
        *had |= (uint64_t)memory->had << i;
        bool here = entry->kind->bytes(entry, window->old_rank, window->old_size) > 0;
        memory->had |= here;
        *has |= (uint64_t)here << i;
    }
}

/* Notes once, from rank 0, that an entry is empty now: what a program packs for windows alone is in no checkpoint. */
static void tell_empty(const epop_description_t *d, uint64_t empty, const char *where)
{
    for (int i = 0; i < d->count && i < REMEMBERED; i++) {
        struct memory *memory = empty >> i & 1 ? memory_of(d->entries[i].name) : NULL;
        if (!memory || memory->told)
            continue;
        memory->told = true;
        say_line("note: described %s '%s' is empty in this %s, and was not before; what a program packs for that "
                 "is to be packed by its pack block (epop_pack)",
                 d->entries[i].kind->word, d->entries[i].name, where);
    }
}

#define DIFFER "the ranks do not describe the same"

/* What the ranks say of their lists, a bit or a word for each; joined by OR. A bit of the hash that is set on one rank,
 * and not on another, is set in both of its words. */
enum { SAID_HASH, SAID_INVERSE, SAID_FAULT, SAID_NOT_AHEAD, SAID_HAS, SAID_HAD, SAID };

/* fault: why there is no list here, or NULL. One reduction tells if all have one, and the same; else others find out
 * who, and what. 0, or -1 on all. */
static int compare_lists(const epop_description_t *d, const epop_window_t *window, const char *fault, uint64_t *said,
                         struct error *error)
{
    char text[400] = DIFFER;
    uint64_t hash = fault ? 0 : hash_of_list(d);
    said[SAID_HASH] = hash;
    said[SAID_INVERSE] = ~hash;
    said[SAID_FAULT] = fault ? 1 : 0;
    if (collective_or(window, said, SAID) != EPOP_OK)
        return error_set(error, ERROR_FAILED, "an MPI function failed");
    if (said[SAID_FAULT])
        return describe_all_well(window, fault, error);
    if (!(said[SAID_HASH] & said[SAID_INVERSE]))
        return 0;
    find_difference(d, window, text, sizeof text);
    return error_set(error, ERROR_REFUSED, "%s", text);
}

int describe_alike(const epop_description_t *d, const epop_window_t *window, const char *fault, struct error *error)
{
    uint64_t said[SAID] = {0};
    return compare_lists(d, window, fault, said, error);
}

int describe_agree(const epop_description_t *d, const epop_window_t *window, const char *fault, bool *ahead,
                   struct error *error)
{
    uint64_t said[SAID] = {0};
    int rank;
    if (!fault)
        look_back(d, window, &said[SAID_HAS], &said[SAID_HAD]);
    said[SAID_NOT_AHEAD] = ahead && !*ahead;
    int result = compare_lists(d, window, fault, said, error);
    if (ahead)
        *ahead = !result && !said[SAID_NOT_AHEAD];
    MPI_Comm_rank(window->all, &rank);
    if (!result && rank == 0)
        tell_empty(d, said[SAID_HAD] & ~said[SAID_HAS], ahead ? "window" : "checkpoint");
    return result;
}
