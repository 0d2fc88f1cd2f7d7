/* Accounts of jobs, and what they have used by the journal. */
#include "scheduler/hosts/accounts.h"

#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

const char *accounts_of(const char *said)
{
    static char user[64];
    if (said && *said)
        return said;
    const struct passwd *known = *user ? NULL : getpwuid(geteuid());
    if (known)
        snprintf(user, sizeof user, "%s", known->pw_name);
    else if (!*user)
        snprintf(user, sizeof user, "%ld", (long)geteuid());
    return user;
}

struct counting {
    struct shares *shares;
    bool failed; /* no memory */
};

/* Until now, but for what it no longer held from its end on. */
static void count_stay(void *to, const struct journal_stay *stay)
{
    struct counting *counting = to;
    struct account *account = shares_account(counting->shares, accounts_of(stay->account));
    int nodes = journal_count(stay->nodes);
    shares_held(counting->shares, account, stay->begin, nodes);
    if (stay->end >= 0)
        shares_held(counting->shares, account, stay->end, -nodes);
    counting->failed |= !account;
}

int accounts_read(struct shares *shares, const char *text, double half_life, double now, struct journal *journal,
                  struct error *error)
{
    struct counting counting = {.shares = shares};
    if (shares_read(shares, text, half_life, error))
        return -1;
    shares_pass(shares, now);
    int failed = journal_stays(journal, count_stay, &counting, error);
    if (!failed && counting.failed)
        failed = error_memory(error);
    if (failed)
        shares_free(shares);
    return failed;
}
