/* Catalogues: see catalog.h. The ranks of a job are of one kind: structures go as they are. */
#include "runtime/checkpoint/catalog.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/checkpoint/module.h"
#include "runtime/checkpoint/outcome.h"

int catalog_read(struct catalog *catalog, const char *path, struct error *error)
{
    memset(catalog, 0, sizeof *catalog);
    const struct hdf5_module *module = checkpoint_module(error);
    return module ? module->read(path, &catalog->head, &catalog->datasets, &catalog->count, error) : -1;
}

/* ---- On the way --------------------------------------------------------------- */

#define TEXTS 3

struct lengths {
    size_t text[TEXTS], values, datasets;
    int count;
};

static char **text_of(struct catalog *catalog, int i)
{
    char **texts[TEXTS] = {&catalog->head.program, &catalog->head.structure, &catalog->head.arguments};
    return texts[i];
}

static struct lengths measure(struct catalog *catalog)
{
    struct lengths lengths = {.values = catalog->head.value_bytes, .count = catalog->count};
    lengths.datasets = (size_t)catalog->count * sizeof *catalog->datasets;
    for (int i = 0; i < TEXTS; i++)
        lengths.text[i] = strlen(*text_of(catalog, i)) + 1;
    return lengths;
}

static size_t total(const struct lengths *lengths)
{
    size_t bytes = lengths->values + lengths->datasets;
    for (int i = 0; i < TEXTS; i++)
        bytes += lengths->text[i];
    return bytes;
}

/* To what all get, or from there. */
static char *move(char *packed, void *own, size_t bytes, int pack)
{
    if (bytes)
        memcpy(pack ? packed : own, pack ? own : packed, bytes);
    return packed + bytes;
}

static void move_all(struct catalog *catalog, const struct lengths *lengths, char *packed, int pack)
{
    for (int i = 0; i < TEXTS; i++)
        packed = move(packed, *text_of(catalog, i), lengths->text[i], pack);
    packed = move(packed, catalog->head.values, lengths->values, pack);
    move(packed, catalog->datasets, lengths->datasets, pack);
}

static int make_room(struct catalog *catalog, const struct lengths *lengths)
{
    int missing = 0;
    for (int i = 0; i < TEXTS; i++)
        missing |= !(*text_of(catalog, i) = malloc(lengths->text[i]));
    missing |= !(catalog->head.values = malloc(lengths->values + 1));
    missing |= !(catalog->datasets = malloc(lengths->datasets + 1));
    catalog->count = lengths->count;
    return missing;
}

static int receive(struct catalog *catalog, const struct checkpoint_head *head, const struct lengths *lengths,
                   char *packed)
{
    catalog->head = *head;
    int missing = make_room(catalog, lengths);
    if (missing)
        catalog_free(catalog);
    else
        move_all(catalog, lengths, packed, 0);
    return missing;
}

static int share_content(struct catalog *catalog, MPI_Comm comm, const struct checkpoint_head *head,
                         const struct lengths *lengths, struct error *error)
{
    int rank, result;
    MPI_Comm_rank(comm, &rank);
    char *packed = malloc(total(lengths) + 1);
    if (rank == 0 && packed)
        move_all(catalog, lengths, packed, 1);
    result = outcome_of_all(comm, packed ? 0 : error_memory(error), error);
    if (!result)
        result = outcome_of_first(comm, 0, packed, (int64_t)total(lengths), error);
    if (!result && rank > 0 && receive(catalog, head, lengths, packed))
        result = error_memory(error);
    free(packed);
    return outcome_of_all(comm, result, error);
}

int catalog_share(struct catalog *catalog, MPI_Comm comm, int result, struct error *error)
{
    int rank;
    struct lengths lengths = {.count = 0};
    struct checkpoint_head head = {.format = 0};
    MPI_Comm_rank(comm, &rank);
    if (rank == 0 && !result) {
        lengths = measure(catalog);
        head = catalog->head;
    }
    if (outcome_of_first(comm, result, &lengths, sizeof lengths, error) ||
        outcome_of_first(comm, 0, &head, sizeof head, error))
        return -1;
    result = share_content(catalog, comm, &head, &lengths, error);
    if (result)
        catalog_free(catalog);
    return result;
}

const struct layout_dataset *catalog_find(const struct catalog *catalog, const char *name)
{
    for (int i = 0; i < catalog->count; i++)
        if (!strcmp(catalog->datasets[i].name, name))
            return &catalog->datasets[i];
    return NULL;
}

void catalog_free(struct catalog *catalog)
{
    checkpoint_head_free(&catalog->head);
    free(catalog->datasets);
    catalog->datasets = NULL;
    catalog->count = 0;
}
