/* The list of what the program has made of MPI and not freed, and the rules by which a block leaks. */
#include "driver/debug/handles.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"

/* So many runs of a block in a row, each of which left more behind than the one before, are a leak: a program may keep
 * things from one iteration for the next, or complete requests only now and then. */
#define RUNS_IN_A_ROW 250

/* Of so many runs requests may be under way when a program is stopped. */
#define IN_FLIGHT 4

#define BLOCKS 5

/* Of one kind from one block. */
struct balance {
    int64_t alive, last;
    int grown; /* runs in a row */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct handle *list;
static size_t count, room;
static struct balance (*balances)[BLOCKS][HANDLE_KINDS];
static int elements;

static const char *const plurals[HANDLE_KINDS] = {"communicators", "requests",    "datatypes", "groups",
                                                  "operations",    "RMA windows", "infos",     "sessions"};

void handles_free(void)
{
    pthread_mutex_lock(&lock);
    free(list);
    free(balances);
    list = NULL;
    balances = NULL;
    count = room = 0;
    elements = 0;
    pthread_mutex_unlock(&lock);
}

void handles_reset(int program_size)
{
    handles_free();
    balances = calloc((size_t)program_size, sizeof *balances);
    elements = balances ? program_size : 0;
}

static struct balance *balance_of(const struct handle *h)
{
    return h->position.pc < elements ? &balances[h->position.pc][h->block][h->kind] : NULL;
}

/* Without memory for it one is not noted, and then it is not missed either. */
void handles_add(const struct place *place, enum handle_kind kind, uintptr_t value, int root,
                 enum interpose_function made_by)
{
    pthread_mutex_lock(&lock);
    if (array_reserve(&list, &room, count + 1, sizeof *list) == 0) {
        list[count] = (struct handle){.kind = kind,
                                      .value = value,
                                      .root = root,
                                      .made_by = made_by,
                                      .position = place->position,
                                      .block = place->block,
                                      .run = place->run};
        struct balance *balance = balance_of(&list[count++]);
        if (balance)
            balance->alive++;
    }
    pthread_mutex_unlock(&lock);
}

static size_t find_last_made(enum handle_kind kind, uintptr_t value)
{
    size_t i = count;
    while (i > 0 && (list[i - 1].kind != kind || list[i - 1].value != value))
        i--;
    return i;
}

void handles_set(enum handle_kind kind, uintptr_t value, int root, const char *set)
{
    pthread_mutex_lock(&lock);
    size_t found = find_last_made(kind, value);
    if (found) {
        list[found - 1].root = root;
        snprintf(list[found - 1].set, sizeof list[found - 1].set, "%s", set);
    }
    pthread_mutex_unlock(&lock);
}

void handles_remove(enum handle_kind kind, uintptr_t value)
{
    pthread_mutex_lock(&lock);
    size_t found = find_last_made(kind, value);
    if (found) {
        struct balance *balance = balance_of(&list[found - 1]);
        if (balance)
            balance->alive--;
        memmove(&list[found - 1], &list[found], (count - found) * sizeof *list);
        count--;
    }
    pthread_mutex_unlock(&lock);
}

bool handles_find(enum handle_kind kind, uintptr_t value, struct handle *copy)
{
    pthread_mutex_lock(&lock);
    size_t found = find_last_made(kind, value);
    if (found)
        *copy = list[found - 1];
    pthread_mutex_unlock(&lock);
    return found;
}

/* ---- Leaks -------------------------------------------------------------------------------------- */

static const struct handle *first_of(enum handle_kind kind, const epop_position_t *position, epop_block_t block)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].kind == kind && list[i].position.pc == position->pc && list[i].block == block)
            return &list[i];
    return NULL;
}

/* What is printed is a copy: behind the lock another thread may make more, or free some. */
struct sight {
    struct handle handle;
    bool first; /* of its kind and block; then: */
    int64_t alike, runs;
};

static bool has_leaked(struct balance *b)
{
    b->grown = b->alive > b->last ? b->grown + 1 : 0;
    b->last = b->alive;
    if (b->grown < RUNS_IN_A_ROW)
        return false;
    b->grown = 0;
    return true;
}

/* The first one that is left, and how many; false: it is no leak. */
static bool see_leak(const struct debug *debug, enum handle_kind kind, struct sight *sight)
{
    pthread_mutex_lock(&lock);
    struct balance *b =
        debug->place.position.pc < elements ? &balances[debug->place.position.pc][debug->place.block][kind] : NULL;
    bool leaks = b && has_leaked(b);
    const struct handle *first = leaks ? first_of(kind, &debug->place.position, debug->place.block) : NULL;
    if (leaks)
        *sight = (struct sight){.alike = b->alive, .first = first};
    if (first)
        sight->handle = *first;
    pthread_mutex_unlock(&lock);
    return leaks;
}

void handles_check_growth(const struct debug *debug)
{
    struct sight s;
    for (int kind = 0; kind < HANDLE_KINDS; kind++)
        if (see_leak(debug, (enum handle_kind)kind, &s))
            contract_breach(&debug->place.position,
                            "%s leaks %s: in %d runs on end it left more of them behind; %lld are there, "
                            "the first by %s in iteration %lld",
                            contract_block_text(debug->place.block), plurals[kind], RUNS_IN_A_ROW, (long long)s.alike,
                            s.first ? epop__interpose_name(s.handle.made_by) : "?",
                            s.first ? (long long)s.handle.position.iteration : -1);
}

/* How many others of its kind and block are there, and of how many runs? Only asked of the first. */
static int64_t count_like(const struct handle *h, int64_t *runs)
{
    int64_t alike = 0, last = -1;
    *runs = 0;
    for (size_t i = 0; i < count; i++) {
        if (list[i].kind != h->kind || list[i].position.pc != h->position.pc || list[i].block != h->block)
            continue;
        alike++;
        *runs += list[i].run != last;
        last = list[i].run;
    }
    return alike;
}

/* The i-th; false: there are not so many. */
static bool see_handle(size_t i, struct sight *sight)
{
    pthread_mutex_lock(&lock);
    const struct handle *h = i < count ? &list[i] : NULL;
    if (h)
        *sight = (struct sight){.handle = *h, .first = first_of(h->kind, &h->position, h->block) == h};
    if (h && sight->first)
        sight->alike = count_like(h, &sight->runs);
    pthread_mutex_unlock(&lock);
    return h;
}

void handles_check_end(void)
{
    struct sight s;
    const struct handle *h = &s.handle;
    for (size_t i = 0; see_handle(i, &s); i++)
        if (s.first && s.runs > (h->kind == HANDLE_REQUEST ? IN_FLIGHT : 1))
            contract_breach(&h->position, "%s leaks %s: %lld are left at the end, of %lld of its runs, the first by %s",
                            contract_block_text(h->block), plurals[h->kind], (long long)s.alike, (long long)s.runs,
                            epop__interpose_name(h->made_by));
}

void handles_check_leaving(const struct debug *debug)
{
    struct sight s;
    const struct handle *h = &s.handle;
    for (size_t i = 0; see_handle(i, &s); i++)
        if (s.first)
            contract_breach(&debug->place.position,
                            "this rank leaves with %lld %s that %s of element %d made by %s; a rank that "
                            "leaves frees everything",
                            (long long)s.alike, plurals[h->kind], contract_block_text(h->block), h->position.pc,
                            epop__interpose_name(h->made_by));
}

void handles_check_world(const struct debug *debug, int root, const char *when)
{
    struct sight s;
    const struct handle *h = &s.handle;
    for (size_t i = 0; see_handle(i, &s); i++) {
        if (h->root == ROOT_NONE || h->root > root)
            continue;
        contract_breach(&debug->place.position,
                        "%s the old world %s, one of the %s that came from it is still there, made by %s%s%s "
                        "(%s of element %d, iteration %lld)",
                        when, "goes", plurals[h->kind], epop__interpose_name(h->made_by),
                        h->set[0] ? " of the process set " : "", h->set, contract_block_text(h->block), h->position.pc,
                        (long long)h->position.iteration);
        return;
    }
}
