/*
 * What ranks say of a collective operation before they call it: its name, and what of its arguments has to be the same
 * on all. Where they say other things they would wait for each other, or get other data than they were sent.
 */
#include "driver/debug/collectives.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* The places of the arguments that have to be alike; -1: it has none. */
struct alike {
    const char *name; /* without MPI_, and the I of what does not block */
    int count, type, op, root;
};

static const struct alike table[] = {
    {"Bcast", 1, 2, -1, 3},
    {"Reduce", 2, 3, 4, 5},
    {"Allreduce", 2, 3, 4, -1},
    {"Scan", 2, 3, 4, -1},
    {"Exscan", 2, 3, 4, -1},
    {"Reduce_scatter_block", 2, 3, 4, -1},
    {"Reduce_scatter", -1, -1, 4, -1},
    {"Gather", -1, -1, -1, 6},
    {"Gatherv", -1, -1, -1, 7},
    {"Scatter", -1, -1, -1, 6},
    {"Scatterv", -1, -1, -1, 7},
    {"Allgather", 4, 5, -1, -1},
    {"Alltoall", 4, 5, -1, -1},
};

/* "MPI_Ibcast" is as "MPI_Bcast"; NULL: its name alone has to be the same. */
static const struct alike *find(const char *name)
{
    const char *bare = name + strlen("MPI_");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcmp(bare, table[i].name) || (bare[0] == 'I' && !strcasecmp(bare + 1, table[i].name)))
            return &table[i];
    return NULL;
}

static const char *op_name(MPI_Op op)
{
    static const struct {
        MPI_Op op;
        const char *name;
    } known[] = {{MPI_SUM, "MPI_SUM"},   {MPI_MAX, "MPI_MAX"},       {MPI_MIN, "MPI_MIN"},
                 {MPI_PROD, "MPI_PROD"}, {MPI_LAND, "MPI_LAND"},     {MPI_BAND, "MPI_BAND"},
                 {MPI_LOR, "MPI_LOR"},   {MPI_BOR, "MPI_BOR"},       {MPI_LXOR, "MPI_LXOR"},
                 {MPI_BXOR, "MPI_BXOR"}, {MPI_MAXLOC, "MPI_MAXLOC"}, {MPI_MINLOC, "MPI_MINLOC"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].op == op)
            return known[i].name;
    return "an operation of its own";
}

static int int_at(void *const arguments[], int place)
{
    return *(const int *)arguments[place];
}

static size_t add_bytes(char *text, size_t size, const struct alike *alike, void *const arguments[])
{
    MPI_Count element = 0;
    MPI_Datatype type = *(const MPI_Datatype *)arguments[alike->type];
    if (type == MPI_DATATYPE_NULL || PMPI_Type_size_x(type, &element) != MPI_SUCCESS || element == MPI_UNDEFINED)
        return 0; /* MPI says what is wrong */
    return (size_t)snprintf(text, size, " of %lld bytes", (long long)element * int_at(arguments, alike->count));
}

static void describe(char text[240], const char *block, const char *name, void *const arguments[])
{
    const struct alike *alike = find(name);
    size_t used = (size_t)snprintf(text, 240, "%s calls %.60s", block, name);
    if (alike && alike->type >= 0)
        used += add_bytes(text + used, 240 - used, alike, arguments);
    if (alike && alike->op >= 0)
        used += (size_t)snprintf(text + used, 240 - used, " with %s", op_name(*(const MPI_Op *)arguments[alike->op]));
    if (alike && alike->root >= 0)
        snprintf(text + used, 240 - used, " with the root %d", int_at(arguments, alike->root));
}

/* On the world: of other communicators it is not known here who else is in them. */
static bool is_of_world(enum interpose_function function, void *const arguments[])
{
    const char *letters = epop__interpose_parameters(function), *comm = strchr(letters, 'c');
    return interpose_kind(function) == 'c' && arguments && comm &&
           *(const MPI_Comm *)arguments[comm - letters] == interpose_world(MPI_COMM_WORLD);
}

void collectives_check(const struct debug *debug, enum interpose_function function, void *const arguments[])
{
    char words[240];
    if (!is_of_world(function, arguments) || !contract_is_in_phase(debug))
        return;
    describe(words, contract_block_text(debug->place.block), epop__interpose_name(function), arguments);
    contract_claim_call(debug, words);
}
