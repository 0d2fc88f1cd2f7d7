/* Shares of accounts: how they are read, what is used of them, and the order of the queue that follows. */
#include "scheduler/core/shares.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/base/clock.h"

static const double least = 1e-6, most = 1e9;

/* ---- Accounts ----------------------------------------------------------------------------------- */

void shares_free(struct shares *shares)
{
    for (size_t i = 0; i < shares->count; i++) {
        free(shares->items[i]->name);
        free(shares->items[i]);
    }
    free(shares->items);
    *shares = (struct shares){0};
}

struct account *shares_find(const struct shares *shares, const char *name)
{
    for (size_t i = 0; i < shares->count; i++)
        if (!strcmp(shares->items[i]->name, name))
            return shares->items[i];
    return NULL;
}

static struct account *add_account(struct shares *shares, const char *name, double share)
{
    struct account *account = calloc(1, sizeof *account);
    char *own = strdup(name);
    if (!account || !own || array_reserve(&shares->items, &shares->room, shares->count + 1, sizeof(*shares->items))) {
        free(account);
        free(own);
        return NULL;
    }
    *account = (struct account){.name = own, .share = share};
    return shares->items[shares->count++] = account;
}

struct account *shares_account(struct shares *shares, const char *name)
{
    struct account *account = shares_find(shares, name);
    return account ? account : add_account(shares, name, shares->other);
}

int shares_copy(struct shares *copy, const struct shares *shares)
{
    *copy = (struct shares){.other = shares->other, .half_life = shares->half_life, .as_of = shares->as_of};
    for (size_t i = 0; i < shares->count; i++) {
        const struct account *from = shares->items[i];
        struct account *to = add_account(copy, from->name, from->share);
        if (!to) {
            shares_free(copy);
            return -1;
        }
        to->used = from->used;
    }
    return 0;
}

/* ---- Reading ------------------------------------------------------------------------------------ */

/* One ACCOUNT=SHARE. */
static int take_entry(struct shares *shares, char *entry, struct error *error)
{
    char *equals = strrchr(entry, '='), *end = entry;
    double share = equals ? decimal_read(equals + 1, &end) : 0;
    if (!equals || equals == entry || end == equals + 1 || *end || !(share >= least && share <= most))
        return error_set(error, ERROR_REFUSED,
                         "--shares: \"%.60s\" is not ACCOUNT=SHARE, as alice=2 or, for all others, *=1, with a share "
                         "from %g to %g",
                         entry, least, most);
    *equals = '\0';
    if (!strcmp(entry, "*")) {
        shares->other = share;
        return 0;
    }
    if (shares_find(shares, entry))
        return error_set(error, ERROR_REFUSED, "--shares: %.60s is there twice", entry);
    return add_account(shares, entry, share) ? 0 : error_memory(error);
}

static int take_entries(struct shares *shares, char *text, struct error *error)
{
    char *rest = NULL;
    for (char *entry = strtok_r(text, ", \t\r\n", &rest); entry; entry = strtok_r(NULL, ", \t\r\n", &rest))
        if (take_entry(shares, entry, error))
            return -1;
    return 0;
}

static int read_lines(struct shares *shares, FILE *file, struct error *error)
{
    char *line = NULL;
    size_t room = 0;
    int failed = 0;
    while (!failed && getline(&line, &room, file) >= 0) {
        line[strcspn(line, "#")] = '\0';
        failed = take_entries(shares, line, error);
    }
    free(line);
    return failed;
}

static int read_file(struct shares *shares, const char *path, struct error *error)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return error_set(error, ERROR_REFUSED, "--shares: %s: %s; a list is ACCOUNT=SHARE,...", path, strerror(errno));
    int failed = read_lines(shares, file, error);
    if (!failed && ferror(file))
        failed = error_set(error, ERROR_REFUSED, "--shares: %s: it cannot be read", path);
    fclose(file);
    return failed;
}

static int read_list(struct shares *shares, const char *text, struct error *error)
{
    char *copy = strdup(text);
    int failed = copy ? take_entries(shares, copy, error) : error_memory(error);
    free(copy);
    return failed;
}

int shares_read(struct shares *shares, const char *text, double half_life, struct error *error)
{
    *shares = (struct shares){.other = 1, .half_life = half_life, .as_of = -INFINITY};
    int failed = strchr(text, '=') ? read_list(shares, text, error) : read_file(shares, text, error);
    if (failed)
        shares_free(shares);
    return failed;
}

/* ---- What is used ------------------------------------------------------------------------------- */

/* What is left of a node second, and of a node that is held all the time, after so many seconds. */
static double remembered(const struct shares *shares, double seconds)
{
    return shares->half_life > 0 ? exp2(-seconds / shares->half_life) : 1;
}

static double held_for(const struct shares *shares, double seconds)
{
    double rate = shares->half_life > 0 ? log(2) / shares->half_life : 0;
    return rate > 0 ? -expm1(-rate * seconds) / rate : seconds;
}

void shares_pass(struct shares *shares, double now)
{
    double seconds = now - shares->as_of;
    if (!(seconds > 0))
        return;
    double kept = remembered(shares, seconds), held = isinf(seconds) ? 0 : held_for(shares, seconds);
    for (size_t i = 0; i < shares->count; i++)
        shares->items[i]->used = shares->items[i]->used * kept + shares->items[i]->nodes * held;
    shares->as_of = now;
}

void shares_hold(struct account *account, int more)
{
    if (account)
        account->nodes += more;
}

void shares_held(const struct shares *shares, struct account *account, double from, int nodes)
{
    if (account && from < shares->as_of)
        account->used += nodes * held_for(shares, shares->as_of - from);
}

/* ---- The order ---------------------------------------------------------------------------------- */

static double load_of(const struct account *account)
{
    return account->used / account->share;
}

/* Mostly they are in order. */
static void sort_accounts(struct shares *shares)
{
    for (size_t i = 1; i < shares->count; i++) {
        struct account *moved = shares->items[i];
        size_t at = i;
        for (; at > 0 && load_of(shares->items[at - 1]) > load_of(moved); at--)
            shares->items[at] = shares->items[at - 1];
        shares->items[at] = moved;
    }
}

static void set_usages(struct shares *shares)
{
    double used = 0, all = 0;
    for (size_t i = 0; i < shares->count; i++) {
        used += shares->items[i]->used;
        all += shares->items[i]->share;
    }
    for (size_t i = 0; i < shares->count; i++)
        shares->items[i]->usage = used > 0 ? load_of(shares->items[i]) * all / used : 0;
}

bool shares_rank(struct shares *shares)
{
    bool changed = false;
    set_usages(shares);
    sort_accounts(shares);
    for (size_t i = 0; i < shares->count; i++) {
        struct account *account = shares->items[i];
        const struct account *before = i > 0 ? shares->items[i - 1] : NULL;
        int rank = before && load_of(before) >= load_of(account) ? before->rank : (int)i;
        changed |= account->rank != rank;
        account->rank = rank;
    }
    return changed;
}

int turn_compare(const struct turn *one, const struct turn *other)
{
    if (one->priority != other->priority)
        return one->priority > other->priority ? -1 : 1;
    if (one->promised != other->promised)
        return one->promised - 1 < other->promised - 1 ? -1 : 1; /* 0, for none, is behind all */
    if (one->account && other->account && one->account->rank != other->account->rank)
        return one->account->rank < other->account->rank ? -1 : 1;
    int order = (one->latest > other->latest) - (one->latest < other->latest);
    if (order)
        return order;
    order = (one->submitted > other->submitted) - (one->submitted < other->submitted);
    return order ? order : (one->id > other->id) - (one->id < other->id);
}
