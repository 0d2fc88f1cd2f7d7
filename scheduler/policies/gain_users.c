/* Nodes held by each user, of whom there may be many: sorted once for a decision. */
#include "scheduler/policies/gain_users.h"

#include <math.h>
#include <stdlib.h>

#include "scheduler/policies/gain_round.h"

struct user {
    int user, nodes;
};

static int by_user(const void *a, const void *b)
{
    const struct user *x = a, *y = b;
    return (x->user > y->user) - (x->user < y->user);
}

/* One entry for each user; the number of them. */
static int merge(struct user *users, int count)
{
    int last = 0;
    qsort(users, (size_t)count, sizeof *users, by_user);
    for (int i = 1; i < count; i++)
        if (users[i].user == users[last].user)
            users[last].nodes += users[i].nodes;
        else
            users[++last] = users[i];
    return count ? last + 1 : 0;
}

static void weigh(struct gain_round *round, const struct user *users, int count, int held)
{
    for (int i = 0; i < round->count; i++) {
        struct user key = {.user = round->jobs[i].job->user};
        const struct user *user = bsearch(&key, users, (size_t)count, sizeof *users, by_user);
        double share = user ? (double)user->nodes * count / held : 0;
        if (share > 1)
            round->jobs[i].weight *= pow(share, -round->options->fairness);
    }
}

void gain_users_weigh(struct gain_round *round)
{
    if (round->options->fairness <= 0 || round->count < 2)
        return;
    struct user *users = calloc((size_t)round->count, sizeof *users);
    if (!users)
        return;
    int held = 0;
    for (int i = 0; i < round->count; i++) {
        users[i] = (struct user){round->jobs[i].job->user, round->jobs[i].nodes};
        held += round->jobs[i].nodes;
    }
    int count = merge(users, round->count);
    if (count > 1 && held > 0)
        weigh(round, users, count, held);
    free(users);
}
