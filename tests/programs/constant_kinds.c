/*
 * Constant data of the kinds that are not dealt out by a rule: sparse rows, what is by cuts, what a partition owns, and
 * items; beside data that changes and moves by the same cuts and partition. All ranks look at all of it in every
 * iteration.
 *     n=COUNT        rows, elements, and items, of all ranks
 *     kinds=LETTERS  of these: r rows in blocks, e even cuts, w cuts by an array, s cuts by sparse rows, d a partition
 *                    with a function, p one without, i items, l items that are described last
 *     nap=US         of each iteration, besides
 * Of these files, which are looked for in every iteration:
 *     hold=PATH      as long as it is there the last rank waits, and with it all others; PATH.held says that it does
 *     recut=PATH     the even cuts become others, and the partition without a function, once
 *     leave=PATH     the visit of the phase ends, and the next one begins
 */
#include "scenario.h"

struct values {
    int64_t n, windows, iterations, recut, left;
};

/* Rows by their own distribution. */
struct rows {
    void *starts;
    int32_t *columns;
    double *numbers;
};

struct item {
    int64_t id, twice;
};

struct data {
    struct values v;
    const char *kinds, *hold, *recut, *leave;
    int64_t nap;
    double *u; /* u[i] = i + iterations, as all that changes */
    struct rows blocks, even, heavy;
    epop_dist_t even_cuts, light_cuts, heavy_cuts;
    double *by_even, *by_heavy, *changes_by_even; /* the index */
    int32_t *light;                               /* weights */
    int64_t *by_light;
    epop_partition_t divided, plain;
    int32_t *by_divided;
    double *by_plain, *changes_by_plain;
    struct item *items;
    int64_t item_count;
    MPI_Datatype item;
};

static bool has(const struct data *d, char kind)
{
    return strchr(d->kinds, kind);
}

/* ---- What belongs where, and what it is ------------------------------------------------------ */

static int divide(int64_t count, int size, int *owner, const void *context)
{
    (void)context;
    for (int64_t i = 0; i < count; i++)
        owner[i] = (int)(i * 31 % 101 % size);
    return 0;
}

static int owner_of(const void *item, int size, const void *context)
{
    (void)context;
    return (int)(((const struct item *)item)->id * 17 % 23 % size);
}

/* The first rows are long, so that even cuts would not be balanced. */
static int64_t length_of(int64_t row, int64_t n)
{
    return row < n / 4 ? 9 : row % 3;
}

static int32_t weight_of(int64_t index)
{
    return (int32_t)(index % 7 * (index % 5));
}

/* ---- Described --------------------------------------------------------------------------------- */

static void describe_rows(epop_description_t *list, const char *name, struct rows *r, MPI_Datatype index,
                          epop_dist_t dist)
{
    const epop_row_array_t arrays[] = {{MPI_INT32_T, &r->columns}, {MPI_DOUBLE, &r->numbers}};
    epop_describe_csr(list, name, &r->starts, index, dist, arrays, 2, EPOP_CONSTANT);
}

static void describe_even(struct data *d, epop_description_t *list)
{
    epop_describe_cuts(list, "even", &d->even_cuts, NULL);
    epop_describe_array(list, "by even", &d->by_even, MPI_DOUBLE, d->even_cuts, EPOP_CONSTANT);
    epop_describe_array(list, "changes by even", &d->changes_by_even, MPI_DOUBLE, d->even_cuts, 0);
    describe_rows(list, "rows by even", &d->even, MPI_INT64_T, d->even_cuts);
}

static void describe_weighted(struct data *d, epop_description_t *list)
{
    if (has(d, 'w')) {
        epop_describe_cuts(list, "light", &d->light_cuts, "weights");
        epop_describe_array(list, "weights", &d->light, MPI_INT32_T, d->light_cuts, EPOP_CONSTANT);
        epop_describe_array(list, "by light", &d->by_light, MPI_INT64_T, d->light_cuts, EPOP_CONSTANT);
    }
    if (has(d, 's')) {
        epop_describe_cuts(list, "heavy", &d->heavy_cuts, "rows by heavy");
        epop_describe_array(list, "by heavy", &d->by_heavy, MPI_DOUBLE, d->heavy_cuts, EPOP_CONSTANT);
        describe_rows(list, "rows by heavy", &d->heavy, MPI_INT64_T, d->heavy_cuts);
    }
}

static void describe_owned(struct data *d, epop_description_t *list)
{
    if (has(d, 'd')) {
        epop_describe_partition(list, "divided", &d->divided);
        epop_describe_owned(list, "by divided", &d->by_divided, MPI_INT32_T, &d->divided, EPOP_CONSTANT);
    }
    if (has(d, 'p')) {
        epop_describe_partition(list, "plain", &d->plain);
        epop_describe_owned(list, "changes by plain", &d->changes_by_plain, MPI_DOUBLE, &d->plain, 0);
        epop_describe_owned(list, "by plain", &d->by_plain, MPI_DOUBLE, &d->plain, EPOP_CONSTANT);
    }
}

static void describe_items(struct data *d, epop_description_t *list, char kind)
{
    if (has(d, kind))
        epop_describe_items(list, "items", &d->items, &d->item_count, d->item, owner_of, NULL, EPOP_CONSTANT);
}

static void describe(void *data, epop_description_t *list)
{
    struct data *d = data;
    epop_describe_values(list, "values", &d->v, sizeof d->v);
    epop_describe_array(list, "u", &d->u, MPI_DOUBLE, epop_dist_block(d->v.n), 0);
    describe_items(d, list, 'i');
    if (has(d, 'r'))
        describe_rows(list, "rows", &d->blocks, MPI_INT, epop_dist_block(d->v.n));
    if (has(d, 'e'))
        describe_even(d, list);
    describe_weighted(d, list);
    describe_owned(d, list);
    describe_items(d, list, 'l');
}

/* ---- Looked at, or made ------------------------------------------------------------------------ */

/* How an index is found, and what this rank has. */
struct part {
    epop_dist_t dist;
    const epop_partition_t *partition; /* NULL: by the distribution */
    int rank, size;
    int64_t count, n;
    int64_t *indices; /* of the partition */
    bool set;
};

static struct part part_of(const struct data *d, epop_dist_t dist, bool set)
{
    struct part p = {
        .dist = dist, .rank = rank_in(epop_world()), .size = size_of(epop_world()), .n = d->v.n, .set = set};
    p.count = epop_dist_local_count(dist, p.rank, p.size);
    return p;
}

static struct part part_owned(const struct data *d, const epop_partition_t *partition, bool set)
{
    struct part p = part_of(d, epop_dist_block(0), set);
    p.partition = partition;
    p.count = epop_partition_local(partition, p.rank, NULL);
    p.indices = malloc(((size_t)p.count + 1) * sizeof *p.indices);
    epop_partition_local(partition, p.rank, p.indices);
    return p;
}

static int64_t index_of(const struct part *p, int64_t at)
{
    return p->partition ? p->indices[at] : epop_dist_global(p->dist, p->rank, p->size, at);
}

static void *room(int64_t count, size_t bytes)
{
    return malloc((size_t)count * bytes + 1);
}

/* Numbers that are `plus` more than their index. */
static int see_doubles(const struct part *p, double **numbers, int64_t plus)
{
    int wrong = 0;
    if (p->set)
        *numbers = room(p->count, sizeof **numbers);
    for (int64_t i = 0; i < p->count; i++) {
        double is = (double)(index_of(p, i) + plus);
        if (p->set)
            (*numbers)[i] = is;
        EXPECT((*numbers)[i] == is);
    }
    return wrong;
}

static int see_ints(const struct part *p, int32_t **numbers, bool weights)
{
    int wrong = 0;
    if (p->set)
        *numbers = room(p->count, sizeof **numbers);
    for (int64_t i = 0; i < p->count; i++) {
        int32_t is = weights ? weight_of(index_of(p, i)) : (int32_t)index_of(p, i);
        if (p->set)
            (*numbers)[i] = is;
        EXPECT((*numbers)[i] == is);
    }
    return wrong;
}

static int see_longs(const struct part *p, int64_t **numbers)
{
    int wrong = 0;
    if (p->set)
        *numbers = room(p->count, sizeof **numbers);
    for (int64_t i = 0; i < p->count; i++) {
        if (p->set)
            (*numbers)[i] = index_of(p, i);
        EXPECT((*numbers)[i] == index_of(p, i));
    }
    return wrong;
}

static int64_t start_at(const struct rows *r, bool wide, int64_t row)
{
    return wide ? ((const int64_t *)r->starts)[row] : ((const int32_t *)r->starts)[row];
}

static void make_rows(const struct part *p, struct rows *r, bool wide)
{
    int64_t at = 0;
    r->starts = room(p->count + 1, wide ? 8 : 4);
    for (int64_t i = 0; i <= p->count; i++) {
        if (wide)
            ((int64_t *)r->starts)[i] = at;
        else
            ((int32_t *)r->starts)[i] = (int32_t)at;
        at += i < p->count ? length_of(index_of(p, i), p->n) : 0;
    }
    r->columns = room(at, sizeof *r->columns);
    r->numbers = room(at, sizeof *r->numbers);
    at = 0;
    for (int64_t i = 0; i < p->count; i++)
        for (int64_t k = 0; k < length_of(index_of(p, i), p->n); k++, at++) {
            r->columns[at] = (int32_t)(index_of(p, i) ^ k);
            r->numbers[at] = (double)(index_of(p, i) * 100 + k);
        }
}

static int see_rows(const struct part *p, struct rows *r, bool wide)
{
    int64_t at = 0;
    int wrong = 0;
    if (p->set)
        make_rows(p, r, wide);
    EXPECT(start_at(r, wide, 0) == 0);
    for (int64_t i = 0; i < p->count; i++) {
        int64_t row = index_of(p, i);
        EXPECT(start_at(r, wide, i + 1) - start_at(r, wide, i) == length_of(row, p->n));
        for (int64_t k = 0; k < length_of(row, p->n); k++, at++) {
            EXPECT(r->columns[at] == (int32_t)(row ^ k));
            EXPECT(r->numbers[at] == (double)(row * 100 + k));
        }
    }
    return wrong;
}

/* No rank has more than the others, but for the heaviest index. */
static int see_balance(const struct part *p, int64_t mine, int64_t heaviest)
{
    int wrong = 0;
    int64_t all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, epop_world());
    EXPECT(p->set || (mine * p->size <= all + heaviest * p->size && mine * p->size >= all - heaviest * p->size));
    return wrong;
}

static int see_weighted(struct data *d, bool set)
{
    int wrong = 0;
    if (has(d, 'w')) {
        struct part light = part_of(d, d->light_cuts, set);
        wrong += see_ints(&light, &d->light, true) + see_longs(&light, &d->by_light);
        int64_t mine = 0;
        for (int64_t i = 0; i < light.count; i++)
            mine += d->light[i];
        wrong += d->v.windows ? see_balance(&light, mine, 24) : 0;
    }
    if (has(d, 's')) {
        struct part heavy = part_of(d, d->heavy_cuts, set);
        wrong += see_doubles(&heavy, &d->by_heavy, 0) + see_rows(&heavy, &d->heavy, true);
        wrong += d->v.windows ? see_balance(&heavy, start_at(&d->heavy, true, heavy.count), 9) : 0;
    }
    return wrong;
}

static int see_owned(struct data *d, bool set)
{
    int wrong = 0;
    if (has(d, 'd')) {
        struct part p = part_owned(d, &d->divided, set);
        EXPECT(d->divided.ranks == p.size);
        for (int64_t i = 0; i < p.count; i++)
            EXPECT((int)(p.indices[i] * 31 % 101 % p.size) == p.rank);
        wrong += see_ints(&p, &d->by_divided, false);
        free(p.indices);
    }
    if (has(d, 'p')) {
        struct part p = part_owned(d, &d->plain, set);
        EXPECT(d->plain.ranks == p.size);
        wrong += see_doubles(&p, &d->by_plain, 0) + see_doubles(&p, &d->changes_by_plain, d->v.iterations);
        free(p.indices);
    }
    return wrong;
}

static int see_items(struct data *d, bool set)
{
    struct part p = part_of(d, epop_dist_block(0), set);
    int64_t here = 0;
    int wrong = 0;
    if (set) {
        d->items = room(d->v.n, sizeof *d->items);
        d->item_count = 0;
    }
    for (int64_t id = 0; id < d->v.n; id++) {
        const struct item item = {id, 2 * id};
        bool mine = owner_of(&item, p.size, NULL) == p.rank;
        if (mine && set)
            d->items[d->item_count++] = item;
        here += mine;
    }
    EXPECT(here == d->item_count);
    int64_t sum = 0;
    for (int64_t i = 0; i < d->item_count; i++) {
        EXPECT(owner_of(&d->items[i], p.size, NULL) == p.rank && d->items[i].twice == 2 * d->items[i].id);
        sum += d->items[i].id;
    }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT64_T, MPI_SUM, epop_world());
    EXPECT(sum == d->v.n * (d->v.n - 1) / 2);
    return wrong;
}

/* Everything is right; set: it is made. */
static int see(struct data *d, bool set)
{
    struct part blocks = part_of(d, epop_dist_block(d->v.n), set);
    int wrong = see_doubles(&blocks, &d->u, d->v.iterations);
    if (has(d, 'i') || has(d, 'l'))
        wrong += see_items(d, set);
    if (has(d, 'r'))
        wrong += see_rows(&blocks, &d->blocks, false);
    if (has(d, 'e')) {
        struct part even = part_of(d, d->even_cuts, set);
        wrong += see_doubles(&even, &d->by_even, 0) + see_doubles(&even, &d->changes_by_even, d->v.iterations);
        wrong += see_rows(&even, &d->even, true);
    }
    return wrong + see_weighted(d, set) + see_owned(d, set);
}

static void add_one(double *numbers, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        numbers[i] += 1;
}

static void change(struct data *d)
{
    add_one(d->u, part_of(d, epop_dist_block(d->v.n), false).count);
    if (has(d, 'e'))
        add_one(d->changes_by_even, part_of(d, d->even_cuts, false).count);
    if (has(d, 'p'))
        add_one(d->changes_by_plain, epop_partition_local(&d->plain, rank_in(epop_world()), NULL));
    d->v.iterations++;
}

static void drop_rows(struct rows *r)
{
    free(r->starts);
    free(r->columns);
    free(r->numbers);
}

static void drop(struct data *d)
{
    void *all[] = {d->u,        d->by_even, d->changes_by_even, d->by_heavy, d->light,
                   d->by_light, d->items,   d->by_divided,      d->by_plain, d->changes_by_plain};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    drop_rows(&d->blocks);
    drop_rows(&d->even);
    drop_rows(&d->heavy);
}

/* ---- Blocks -------------------------------------------------------------------------------------- */

static int make(struct data *d)
{
    int size = size_of(epop_world());
    struct {
        char kind;
        epop_dist_t *cuts;
    } all[] = {{'e', &d->even_cuts}, {'w', &d->light_cuts}, {'s', &d->heavy_cuts}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (has(d, all[i].kind))
            *all[i].cuts = epop_dist_even_cuts(d->v.n, size);
    d->divided.count = d->plain.count = d->v.n;
    if ((has(d, 'd') && epop_partition_divide(&d->divided)) || (has(d, 'p') && epop_partition_divide(&d->plain)))
        return EPOP_ERR_MEMORY;
    return see(d, true);
}

static int start(int *argc, char ***argv, void **data)
{
    arguments_t a = {*argc, *argv};
    struct data *d = calloc(1, sizeof *d);
    *data = d;
    const char *kinds = text_argument(a, "kinds", 0);
    d->kinds = kinds ? kinds : "irewsdp";
    d->nap = argument(a, "nap", 1000);
    d->hold = text_argument(a, "hold", 0);
    d->recut = text_argument(a, "recut", 0);
    d->leave = text_argument(a, "leave", 0);
    d->divided.divide = divide;
    MPI_Type_contiguous(2, MPI_INT64_T, &d->item);
    MPI_Type_commit(&d->item);
    say_init();
    if (epop_status() == EPOP_JOINING)
        return 0;
    d->v.n = argument(a, "n", 800);
    return make(d);
}

static void hold(const struct data *d)
{
    char held[4096];
    if (!exists(d->hold) || rank_in(epop_world()) != size_of(epop_world()) - 1)
        return;
    snprintf(held, sizeof held, "%s.held", d->hold);
    fclose(fopen(held, "w"));
    wait_while_there(d->hold);
}

/* None goes past another here. */
static bool all_agree(const char *path)
{
    int there = exists(path);
    if (path)
        MPI_Allreduce(MPI_IN_PLACE, &there, 1, MPI_INT, MPI_MAX, epop_world());
    return there;
}

/* The first rank gets all but one of each other, which the program may do at any time. */
static int cut_anew(struct data *d)
{
    int size = size_of(epop_world());
    d->v.recut = 1;
    for (int rank = 1; rank < size && has(d, 'e'); rank++)
        ((int64_t *)d->even_cuts.starts)[rank] = d->v.n - size + rank;
    for (int64_t i = 0; i < d->v.n && has(d, 'p'); i++)
        d->plain.owner[i] = i < d->v.n - size ? 0 : (int)(i - d->v.n + size);
    drop(d);
    return see(d, true);
}

static int iterate(void *data)
{
    struct data *d = data;
    if (see(d, false))
        return 1;
    change(d);
    nap(d->nap);
    hold(d);
    d->v.left = all_agree(d->leave);
    if (!d->v.recut && all_agree(d->recut))
        return cut_anew(d);
    return 0;
}

static int goes_on(void *data)
{
    return !((const struct data *)data)->v.left;
}

static int next_visit(int pc, void *data)
{
    struct data *d = data;
    d->v.left = 0;
    drop(d);
    see(d, true);
    return pc - 1;
}

static int rebuild(void *data)
{
    ((struct data *)data)->v.windows++;
    return 0;
}

static int last(void *data)
{
    struct data *d = data;
    say_end((int)d->v.windows, d->v.iterations);
    return see(d, false) > 0;
}

static void release(void *data)
{
    struct data *d = data;
    MPI_Type_free(&d->item);
    free(d);
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("scenario");
    epop_add_init(program, "start", start);
    epop_add_elastic(program, "iterate", iterate, epop_adapt_described, goes_on);
    epop_add_branch(program, "again", next_visit);
    program->finalizer = epop_add_rigid(program, "last", last, NULL);
    epop_describe(program, describe);
    epop_rebuild(program, rebuild);
    epop_release(program, release);
    return program;
}
