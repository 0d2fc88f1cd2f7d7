/* Shares of accounts: what options and files say, what is used and forgotten, and the order that follows. */
#include "tests/unit/scheduler_machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "scheduler/core/shares.h"

static struct shares shares;
static struct error error;

static int tear_down(void **state)
{
    (void)state;
    shares_free(&shares);
    return 0;
}

static void read_shares(const char *text, double half_life)
{
    told(shares_read(&shares, text, half_life, &error), &error);
}

static void assert_share(const char *name, double share)
{
    const struct account *account = shares_account(&shares, name);
    assert_non_null(account);
    assert_true(fabs(account->share - share) < 1e-12);
}

static void test_a_list(void **state)
{
    (void)state;
    read_shares("alice=2,bob=0.5,*=3", 0);
    assert_int_equal(shares.count, 2);
    assert_share("alice", 2);
    assert_share("bob", 0.5);
    assert_share("carol", 3);
    assert_ptr_equal(shares_account(&shares, "carol"), shares_account(&shares, "carol"));
}

static void test_a_file(void **state)
{
    char path[] = "/tmp/epop-shares-XXXXXX";
    static const char text[] = "# who paid\nalice=2 bob=1\n\n\tcarol=4,dave=5 # both\n";
    int file = mkstemp(path);
    (void)state;
    assert_true(file >= 0 && write(file, text, sizeof text - 1) == sizeof text - 1);
    close(file);
    int failed = shares_read(&shares, path, 0, &error);
    unlink(path);
    told(failed, &error);
    assert_int_equal(shares.count, 4);
    assert_share("carol", 4);
    assert_share("dave", 5);
    assert_share("erin", 1);
}

static void test_what_makes_no_sense(void **state)
{
    static const char *const wrong[] = {"alice=",   "=2",        "alice=two", "alice=0",
                                        "alice=-1", "a=1,b=nan", "a=1,b",     "a=1e10"};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refused(shares_read(&shares, wrong[i], 0, &error), &error, "is not ACCOUNT=SHARE, as alice=2");
    refused(shares_read(&shares, "a=1,b=2,a=3", 0, &error), &error, "--shares: a is there twice");
    refused(shares_read(&shares, "/nowhere/shares", 0, &error), &error, "/nowhere/shares: No such file");
}

static void assert_used(const struct account *account, double used)
{
    if (!(fabs(account->used - used) < 1e-6))
        fail_msg("%.12g is not %.12g", account->used, used);
}

static void test_half_of_it_is_forgotten(void **state)
{
    (void)state;
    read_shares("*=1", 100);
    struct account *account = shares_account(&shares, "alice");
    shares_pass(&shares, 50);
    shares_hold(account, 4);
    shares_pass(&shares, 50 + 1e-3);
    shares_hold(account, -4);
    double once = account->used;
    assert_true(fabs(once - 4e-3) < 1e-7);
    shares_pass(&shares, 150 + 1e-3);
    assert_used(account, once / 2);
    shares_hold(account, 3);
    shares_pass(&shares, 100000); /* as much is forgotten as is used */
    assert_used(account, 3 * 100 / log(2));
}

static void test_steps_do_not_matter(void **state)
{
    struct shares other;
    (void)state;
    read_shares("alice=2", 1000);
    struct account *account = shares_account(&shares, "alice");
    shares_pass(&shares, 0);
    shares_hold(account, 5);
    assert_int_equal(shares_copy(&other, &shares), 0);
    shares_held(&other, other.items[0], -500, 5);
    for (int i = 1; i <= 70; i++)
        shares_pass(&shares, 10 * i);
    assert_used(account, 5 * 1000 / log(2) * (1 - exp2(-0.7)));
    assert_used(other.items[0], 5 * 1000 / log(2) * (1 - exp2(-0.5)));
    shares_free(&other);
}

static void test_ranks(void **state)
{
    (void)state;
    read_shares("alice=2,bob=1,carol=1,dave=1", 0);
    struct account *alice = shares_account(&shares, "alice"), *bob = shares_account(&shares, "bob");
    struct account *carol = shares_account(&shares, "carol"), *dave = shares_account(&shares, "dave");
    assert_false(shares_rank(&shares));
    alice->used = 30;
    bob->used = 20;
    assert_true(shares_rank(&shares));
    assert_false(shares_rank(&shares));
    assert_true(carol->rank == dave->rank && dave->rank < alice->rank && alice->rank < bob->rank);
    assert_true(fabs(alice->usage - 30.0 / 50 / (2.0 / 5)) < 1e-12 && fabs(dave->usage) < 1e-12);
    alice->used = 50;
    assert_true(shares_rank(&shares));
    assert_true(bob->rank < alice->rank);
}

static void assert_first(struct turn one, struct turn other)
{
    assert_true(turn_compare(&one, &other) < 0 && turn_compare(&other, &one) > 0 && !turn_compare(&one, &one));
}

static void test_turns(void **state)
{
    const struct account low = {.rank = 0}, high = {.rank = 3};
    (void)state;
    assert_first((struct turn){.priority = 1, .account = &high, .id = 2},
                 (struct turn){.promised = 1, .account = &low});
    assert_first((struct turn){.promised = 2, .account = &high, .id = 2}, (struct turn){.account = &low, .id = 1});
    assert_first((struct turn){.promised = 1, .account = &high, .id = 2},
                 (struct turn){.promised = 2, .account = &low, .id = 1});
    assert_first((struct turn){.account = &low, .submitted = 9, .id = 2}, (struct turn){.account = &high, .id = 1});
    assert_first((struct turn){.account = &low, .latest = 5, .submitted = 9, .id = 2},
                 (struct turn){.account = &low, .latest = INFINITY, .id = 1});
    assert_first((struct turn){.account = &low, .submitted = 1, .id = 2},
                 (struct turn){.account = &low, .submitted = 2, .id = 1});
    assert_first((struct turn){.id = 1}, (struct turn){.id = 2});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_a_list, tear_down),
        cmocka_unit_test_teardown(test_a_file, tear_down),
        cmocka_unit_test_teardown(test_what_makes_no_sense, tear_down),
        cmocka_unit_test_teardown(test_half_of_it_is_forgotten, tear_down),
        cmocka_unit_test_teardown(test_steps_do_not_matter, tear_down),
        cmocka_unit_test_teardown(test_ranks, tear_down),
        cmocka_unit_test_teardown(test_turns, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
