/*
 * Cuts as described data. In a window the entry moves first: the new cuts are made, while the old ones stay until
 * the description goes, so that the arrays that are described after it can move from the old cuts to the new ones.
 */
#include <stdlib.h>
#include <string.h>

#include "epop/unstructured.h"
#include "runtime/describe/collective.h"
#include "runtime/describe/costs.h"
#include "runtime/describe/describe.h"
#include "runtime/redist/cuts.h"
#include "runtime/redist/element.h"
#include "runtime/redist/plan.h"
#include "runtime/world/world.h"

enum { NAME_BYTES = 256 };

/* The layout of an entry. */
struct unequal {
    epop_dist_t *of;
    struct described_cuts cuts;
    int64_t *spare[2]; /* starts that go with the description */
    char weights[NAME_BYTES];
    int64_t told[]; /* to joining ranks and checkpoints: for how many ranks, and the starts */
};

epop_dist_t epop_dist_even_cuts(int64_t count, int ranks)
{
    int64_t *starts = count >= 0 && ranks >= 1 ? malloc(((size_t)ranks + 1) * sizeof *starts) : NULL;
    for (int rank = 0; starts && rank < ranks; rank++)
        starts[rank] = epop_dist_global(epop_dist_block(count), rank, ranks, 0);
    if (starts)
        starts[ranks] = count;
    return epop_dist_cuts(starts, ranks);
}

/* ---- Listed, or filled in ----------------------------------------------------------------------- */

/* As epop_dist_free leaves it: on a rank that left. */
static bool is_no_cuts(epop_dist_t dist)
{
    return dist.kind == EPOP_DIST_BLOCK && !dist.count;
}

static bool is_cuts(epop_dist_t dist)
{
    return dist.kind == EPOP_DIST_CUTS && dist.starts && dist.ranks >= 1 && redist_dist_fits(dist, dist.ranks);
}

/* The old cuts, of as many ranks as there were. */
static void cuts_fill(epop_description_t *d, const char *name, epop_dist_t *cuts)
{
    size_t bytes = 0;
    const char *told = describe_values_find(d, name, &bytes);
    int64_t ranks = 0;
    if (told && bytes >= 3 * sizeof ranks)
        memcpy(&ranks, told, sizeof ranks);
    size_t starts = ((size_t)ranks + 1) * sizeof(int64_t);
    *cuts = epop_dist_block(0);
    if (ranks < 1 || bytes != sizeof ranks + starts) {
        describe_refuse(d, name, "there are no cuts of this name where they come from");
        return;
    }
    int64_t *own = malloc(starts);
    if (own)
        *cuts = epop_dist_cuts(memcpy(own, told + sizeof ranks, starts), (int)ranks);
}

static void cuts_add(epop_description_t *d, const char *name, epop_dist_t *cuts, const char *weights)
{
    epop_dist_t before = is_no_cuts(*cuts) ? (epop_dist_t){.kind = EPOP_DIST_CUTS} : *cuts;
    size_t starts = before.ranks ? ((size_t)before.ranks + 1) * sizeof(int64_t) : 0;
    size_t bytes = sizeof(struct unequal) + sizeof(int64_t) + starts;
    struct unequal *layout = calloc(1, bytes);
    if (!layout) {
        describe_refuse(d, name, "out of memory");
        return;
    }
    layout->of = cuts;
    layout->cuts = (struct described_cuts){.starts = before.starts, .before = before, .after = before};
    if (weights)
        strcpy(layout->weights, weights);
    layout->told[0] = before.ranks;
    if (starts)
        memcpy(layout->told + 1, before.starts, starts);
    struct described *entry = describe_add(d, &kind_cuts, name, &cuts->starts, MPI_INT64_T, 0, layout, bytes);
    free(layout);
    if (!entry)
        return;
    entry->cuts = &((struct unequal *)entry->layout)->cuts;
    entry->values = ((struct unequal *)entry->layout)->told;
    entry->value_bytes = sizeof(int64_t) + starts;
}

void epop_describe_cuts(epop_description_t *d, const char *name, epop_dist_t *cuts, const char *weights)
{
    if (cuts && d->mode == DESCRIBE_FILL)
        cuts_fill(d, name, cuts);
    if (!cuts)
        describe_refuse(d, name, "the address of the cuts is NULL");
    else if (!is_cuts(*cuts) && !is_no_cuts(*cuts))
        describe_refuse(d, name,
                        "it has no cuts that rise from 0 to their count (epop_dist_cuts, epop_dist_even_cuts)");
    else if (weights && strlen(weights) >= NAME_BYTES)
        describe_refuse(d, name, "the name of its weights is too long");
    else
        cuts_add(d, name, cuts, weights);
}

static void cuts_terms(const struct described *entry, redist_terms *terms)
{
    const struct unequal *u = entry->layout;
    redist_terms_of_dist(terms, u->cuts.before);
    redist_term(terms, "the number of ranks that it is for", u->cuts.before.ranks);
}

/* ---- New cuts ----------------------------------------------------------------------------------- */

/* The weights of this rank's indices. */
struct weights {
    MPI_Datatype type;
    const void *values;
    int64_t *made; /* to be freed */
};

static const struct described *entry_named(const epop_description_t *d, const char *name)
{
    for (int i = 0; i < d->count; i++)
        if (!strcmp(d->entries[i].name, name))
            return &d->entries[i];
    return NULL;
}

/* What the weights are of. NULL with text: they cannot be had. The same on every rank. */
static const struct described *weights_entry(const struct described *entry, struct error *error)
{
    const struct unequal *u = entry->layout;
    const struct described *w = entry_named(entry->list, u->weights);
    const int64_t *starts = u->cuts.starts;
    if (w && w->kind == &kind_csr && describe_csr_is_by(w, starts))
        return w;
    if (w && w->kind == &kind_array && describe_array_is_by(w, starts) && redist_index_width(w->type))
        return w;
    error_set(error, ERROR_REFUSED,
              "its weights '%s' are no array of integers and no sparse rows that these cuts deal out", u->weights);
    return NULL;
}

/* Those of `rows` rows; of none on joining ranks. */
static int weigh_rows(const struct described *of, int64_t rows, struct weights *w)
{
    *w = (struct weights){.type = of->type, .values = *of->local};
    if (of->kind == &kind_array)
        return 0;
    w->type = MPI_INT64_T;
    w->values = w->made = rows ? describe_csr_lengths(of, rows) : NULL;
    return rows && !w->made ? -1 : 0;
}

/* By what is known of the costs of its indices: in a balance, in which `loads` are what the ranks had to compute. */
static int weigh_by_costs(const struct described *entry, const epop_window_t *window, const int *loads,
                          struct weights *w)
{
    const struct unequal *u = entry->layout;
    epop_dist_t before = u->cuts.before;
    int64_t rows = epop_dist_local_count(before, window->old_rank, window->old_size);
    struct costs *costs = costs_of(entry->name, before.count);
    if (!costs || costs_learn(costs, before.starts, loads, window->old_size))
        return -1;
    w->values = w->made = rows ? malloc((size_t)rows * sizeof *w->made) : NULL;
    if (w->made)
        costs_weigh(costs, before.starts[window->old_rank], rows, w->made);
    return rows && !w->made ? -1 : 0;
}

/* By the weights of the old ranks, if it has any, and what these had to compute (loads; NULL: the weights alone count).
 * Joining ranks have the old cuts already. */
static int cuts_by_weights(const struct described *entry, const epop_window_t *window, const int *loads,
                           epop_dist_t *after, struct error *error)
{
    const struct unequal *u = entry->layout;
    const struct described *of = u->weights[0] ? weights_entry(entry, error) : NULL;
    epop_dist_t before = u->cuts.before;
    struct weights w = {.type = MPI_INT64_T};
    if (of && weigh_rows(of, epop_dist_local_count(before, window->old_rank, window->old_size), &w))
        error_memory(error);
    if (!u->weights[0] && weigh_by_costs(entry, window, loads, &w))
        error_memory(error);
    int result = describe_settle(window, error);
    if (result == EPOP_OK)
        result = loads ? redist_balance_loads(window, before, w.type, w.values, loads, after)
                       : epop_redist_balance(window, &before, w.type, w.values, 1, after);
    if (result == EPOP_OK && before.starts != u->cuts.before.starts)
        epop_dist_free(&before);
    free(w.made);
    return result;
}

static int cuts_evenly(int64_t count, const epop_window_t *window, epop_dist_t *after, struct error *error)
{
    *after = epop_dist_even_cuts(count, window->new_size);
    if (!after->starts)
        error_memory(error);
    return describe_settle(window, error);
}

/* Are the old cuts for the old ranks? */
static int check_old_cuts(const struct unequal *u, const epop_window_t *window, struct error *error)
{
    if (u->cuts.before.ranks == window->old_size)
        return EPOP_OK;
    error_set(error, ERROR_REFUSED, "its cuts are for %d ranks, and there are %d", u->cuts.before.ranks,
              window->old_size);
    return describe_settle(window, error);
}

/* From here on the new cuts are the program's; on a leaving rank, of which the entries after them still look at them,
 * until the description goes. */
static void cuts_replace(struct unequal *u, const epop_window_t *window, epop_dist_t after)
{
    u->spare[0] = u->cuts.before.starts;
    u->cuts.after = *u->of = after;
    if (window->new_rank < 0)
        u->spare[1] = after.starts;
}

static int cuts_move(struct described *entry, const epop_window_t *window)
{
    struct unequal *u = entry->layout;
    struct error error = {.code = ERROR_NONE};
    epop_dist_t after = epop_dist_block(0);
    const int *loads = world_loads(window);
    int result = check_old_cuts(u, window, &error);
    if (result == EPOP_OK)
        result = u->weights[0] || loads ? cuts_by_weights(entry, window, loads, &after, &error)
                                        : cuts_evenly(u->cuts.before.count, window, &after, &error);
    if (error.code != ERROR_NONE)
        describe_say(window, &error);
    if (result == EPOP_OK)
        cuts_replace(u, window, after);
    return result;
}

static void cuts_forget(struct described *entry)
{
    struct unequal *u = entry->layout;
    if (u->spare[1])
        *u->of = epop_dist_block(0);
    free(u->spare[0]);
    free(u->spare[1]);
}

/* ---- Checkpoints -------------------------------------------------------------------------------- */

/* They stand in the head. */
static int cuts_save(struct described *entry, const epop_window_t *window, struct slab *slabs, int most,
                     struct error *error)
{
    (void)entry, (void)window, (void)slabs, (void)most, (void)error;
    return 0;
}

/* Weights from the checkpoint, in plain blocks. */
static int read_weights(const struct described *of, const epop_window_t *window, const struct slab_reader *reader,
                        epop_dist_t blocks, struct weights *w, struct error *error)
{
    struct slab slab = {.type = of->type};
    slab.first = epop_dist_global(blocks, window->new_rank, window->new_size, 0);
    slab.count = epop_dist_local_count(blocks, window->new_rank, window->new_size);
    if (of->kind == &kind_array) {
        strcpy(slab.name, of->name);
        int result = describe_read(window, reader, &slab, blocks.count, error);
        *w = (struct weights){.type = of->type, .values = slab.data, .made = slab.data};
        return result;
    }
    *w = (struct weights){.type = MPI_INT64_T};
    if (describe_csr_read(of, window, reader, slab.first, slab.count, blocks.count, &w->made, error))
        return -1;
    for (int64_t i = 0; i < slab.count; i++)
        w->made[i] = w->made[i + 1] - w->made[i];
    w->values = slab.count ? w->made : NULL;
    return 0;
}

static int balance_saved(const struct described *entry, const epop_window_t *window, const struct slab_reader *reader,
                         epop_dist_t *after, struct error *error)
{
    const struct unequal *u = entry->layout;
    const struct described *of = weights_entry(entry, error);
    epop_dist_t blocks = epop_dist_block(u->cuts.before.count);
    struct weights w;
    if (!of || read_weights(of, window, reader, blocks, &w, error))
        return -1;
    int result = epop_redist_balance(window, &blocks, w.type, w.values, 1, after);
    free(w.made);
    return result == EPOP_OK ? 0
                             : error_set(error, ERROR_FAILED, "described '%s': no new cuts could be made", entry->name);
}

static int cuts_load(struct described *entry, const epop_window_t *window, const struct slab_reader *reader,
                     struct error *error)
{
    struct unequal *u = entry->layout;
    epop_dist_t after = epop_dist_block(0);
    if (u->cuts.before.ranks == window->new_size) /* as it was */
        return 0;
    int result = u->weights[0] ? balance_saved(entry, window, reader, &after, error)
                               : cuts_evenly(u->cuts.before.count, window, &after, error);
    if (!result)
        cuts_replace(u, window, after);
    return result ? -1 : 0;
}

/* ---- Sums and bytes ----------------------------------------------------------------------------- */

/* For another number of ranks they are others, of as many indices. */
static void cuts_sum(const struct described *entry, int rank, int size, int64_t *count, uint64_t *sum)
{
    const struct unequal *u = entry->layout;
    (void)size;
    describe_sum_indices(u->cuts.before.count, rank, count, sum);
}

static int64_t cuts_bytes(const struct described *entry, int rank, int size)
{
    const struct unequal *u = entry->layout;
    (void)size;
    return rank < 0 ? 0 : (u->cuts.after.ranks + 1) * (int64_t)sizeof(int64_t);
}

static void cuts_release(struct described *entry)
{
    const struct unequal *u = entry->layout;
    epop_dist_free(u->of);
}

/* ---- Ahead of the window ------------------------------------------------------------------------ */

/*
 * Even cuts are known when the window is, and those by constant weights once the ranks have told each other what theirs
 * sum up to, and then how many of their rows lie before each cut. The window takes them as they were made then.
 */

enum { LENGTHS, AFTER, TOTAL, TOTALS, SHARE, SHARES };

static bool is_by_cuts(const struct described *entry, const int64_t *starts)
{
    return (entry->kind == &kind_array && describe_array_is_by(entry, starts)) ||
           (entry->kind == &kind_csr && describe_csr_is_by(entry, starts));
}

/* Is there something to be moved by them, and are they known ahead? */
static bool cuts_goes(const struct described *entry)
{
    struct error unsaid;
    const struct unequal *u = entry->layout;
    const struct described *w = u->weights[0] ? weights_entry(entry, &unsaid) : NULL;
    bool needed = false;
    for (int i = 0; i < entry->list->count; i++) {
        const struct described *e = &entry->list->entries[i];
        needed = needed || (describe_is_constant(e) && is_by_cuts(e, u->cuts.starts));
    }
    return needed && u->cuts.starts && (!u->weights[0] || (w && describe_is_constant(w)));
}

static int cuts_list(const struct described *entry, int size, bool here, struct describe_route *route,
                     struct error *error)
{
    struct unequal *u = entry->layout;
    const struct described *w = u->weights[0] ? weights_entry(entry, error) : NULL;
    int64_t rows = here ? epop_dist_local_count(u->cuts.before, world.rank, world.size) : 0;
    (void)size;
    u->cuts.before.starts = u->told + 1;
    if (!w)
        return 0;
    route->number = w->kind == &kind_csr ? (int)sizeof(int64_t) : redist_index_width(w->type);
    if (w->kind == &kind_csr && here && !(route->kept[LENGTHS] = describe_csr_lengths(w, rows)))
        return error_memory(error);
    route->there = w->kind == &kind_csr ? route->kept[LENGTHS] : describe_part_of(w);
    return 0;
}

/* The number `mine` of this rank, or so many of them, to all. */
static int tell_all(const epop_window_t *window, struct describe_route *route, int mine, int all, int64_t count,
                    struct error *error)
{
    if (!route_keep(route, mine, count, &route_number, error) ||
        !route_keep(route, all, count * window->old_size, &route_number, error))
        return -1;
    route->head = (struct route_stream){.element = route_number,
                                        .copies = count,
                                        .which = COPIES_OF_EACH,
                                        .before = route->kept[mine],
                                        .after = route->kept[all]};
    return 0;
}

static int tell_total(const struct described *entry, const epop_window_t *window, struct describe_route *route,
                      struct error *error)
{
    const struct unequal *u = entry->layout;
    redist_fault fault = REDIST_FINE;
    route->anywhere = true;
    if (tell_all(window, route, TOTAL, TOTALS, 1, error))
        return -1;
    if (window->old_rank >= 0)
        fault = redist_balance_total(window, u->cuts.before, (int)route->number, route->there, route->kept[TOTAL]);
    return fault == REDIST_FINE ? 0 : error_set(error, ERROR_FAILED, "the weights '%s' make no cuts", u->weights);
}

static int tell_share(const struct described *entry, const epop_window_t *window, struct describe_route *route,
                      struct error *error)
{
    const struct unequal *u = entry->layout;
    redist_fault fault = REDIST_FINE;
    if (tell_all(window, route, SHARE, SHARES, window->new_size + 1, error))
        return -1;
    if (window->old_rank >= 0)
        fault = redist_balance_share(window, u->cuts.before, (int)route->number, route->there, route->kept[TOTALS],
                                     route->kept[SHARE]);
    return fault == REDIST_FINE ? 0 : error_set(error, ERROR_FAILED, "the weights '%s' make no cuts", u->weights);
}

static int add_up_shares(const epop_window_t *window, struct describe_route *route, struct error *error)
{
    int cuts = window->new_size + 1;
    if (!route_keep(route, AFTER, cuts, &route_number, error))
        return -1;
    int64_t *starts = route->kept[AFTER];
    const int64_t *shares = route->kept[SHARES];
    for (int i = 0; i < window->old_size * cuts; i++)
        starts[i % cuts] += shares[i];
    return 0;
}

static int make_even(const struct unequal *u, const epop_window_t *window, struct describe_route *route,
                     struct error *error)
{
    route->kept[AFTER] = (int64_t *)epop_dist_even_cuts(u->cuts.before.count, window->new_size).starts;
    return route->kept[AFTER] ? 0 : error_memory(error);
}

static int cuts_step(const struct described *entry, const epop_window_t *window, struct describe_route *route,
                     enum route_round round, struct error *error)
{
    struct unequal *u = entry->layout;
    int result = 0;
    if (u->cuts.before.ranks != window->old_size)
        return error_set(error, ERROR_FAILED, "its cuts are for %d ranks", u->cuts.before.ranks);
    if (u->cuts.known || round == ROUTE_DATA)
        return 0;
    if (round == ROUTE_FIRST)
        result = u->weights[0] ? tell_total(entry, window, route, error) : make_even(u, window, route, error);
    else
        result = round == ROUTE_SHARES ? tell_share(entry, window, route, error) : add_up_shares(window, route, error);
    u->cuts.known = route->kept[AFTER];
    u->cuts.after = epop_dist_cuts(route->kept[AFTER], window->new_size);
    return result;
}

static void cuts_take(const struct described *now, const epop_window_t *window, struct describe_route *route)
{
    epop_dist_t after = epop_dist_cuts(route->kept[AFTER], window->new_size);
    route->kept[AFTER] = NULL;
    cuts_replace(now->layout, window, after);
}

static const struct route_kind cuts_route = {
    .leads = true, .goes = cuts_goes, .list = cuts_list, .step = cuts_step, .take = cuts_take};

const struct kind kind_cuts = {.word = "cuts",
                               .divides = true,
                               .terms = cuts_terms,
                               .move = cuts_move,
                               .save = cuts_save,
                               .load = cuts_load,
                               .sum = cuts_sum,
                               .bytes = cuts_bytes,
                               .release = cuts_release,
                               .forget = cuts_forget,
                               .route = &cuts_route};
