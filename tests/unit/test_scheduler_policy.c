/* Policies are found, checked and set; one that crashes, exits or does not return ends its host with a line. */
#include "tests/unit/scheduler_machine.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scheduler/core/policy.h"
#include "scheduler/policies/policies.h"

static char folder[PATH_MAX]; /* of the tests' policies, beside that of the unit tests */
static struct error error;
static struct policy policy;

static const char *path(const char *name)
{
    static char text[PATH_MAX + 64];
    snprintf(text, sizeof text, "%s/%s", folder, name);
    return text;
}

static void refuse(const char *spec, const char *why)
{
    refused(policy_open(&policy, spec, policies, &error), &error, why);
    assert_true(!policy.spec && !policy.handle);
}

static void test_a_built_in_policy(void **state)
{
    (void)state;
    told(policy_open(&policy, "easy", policies, &error), &error);
    assert_string_equal(policy.spec, "easy");
    assert_string_equal(policy.table.name, "easy");
    assert_null(policy.handle);
    policy_close(&policy);
}

static void test_every_built_in_policy_says_what_it_is(void **state)
{
    (void)state;
    for (const epop_policy_t *const *each = policies; *each; each++) {
        told(policy_open(&policy, (*each)->name, policies, &error), &error);
        assert_true(policy.table.summary && policy.table.summary[0]);
        policy_close(&policy);
    }
}

static void test_names_that_nobody_has(void **state)
{
    (void)state;
    refuse("eazy", "no policy 'eazy'; there are easy");
    refuse("", "no policy ''");
    refuse("./nowhere.so", "policy ./nowhere.so: ");
    refuse("nowhere.so", "policy nowhere.so: ./nowhere.so: cannot open");
}

static void test_options(void **state)
{
    (void)state;
    refuse("easy,upper=1", "policy easy,upper=1: it has no option upper; it has none");
    refuse("easy,upper", "policy easy,upper: 'upper' is no option");
    refuse(path("bad.so,who=me"), "bad.so,who=me: it has no option who; it has how");
    refuse(path("bad.so,how=well"), "bad.so,how=well: it refuses how=well (what goes wrong; default crash)");
    told(policy_open(&policy, path("bad.so,how=nonsense,how=nothing"), policies, &error), &error);
    assert_non_null(policy.handle);
    policy_close(&policy);
}

static void test_objects_that_are_no_policies(void **state)
{
    (void)state;
    refuse(path("no_entry.so"), "it has no function epop_get_policy; is it a policy?");
    refuse(path("no_table.so"), "its epop_get_policy returned NULL");
    refuse(path("later_version.so"), "it has version 9 of the policy interface, but this program has version 3");
    refuse(path("short_table.so"), "its struct_size is 8, less than the");
    refuse(path("no_name.so"), "its table has no name");
    refuse(path("no_decide.so"), "its table has no decide");
    refuse(path("no_open.so"), "no_open.so: it cannot be opened (its open returned 7)");
}

/* ---- The one that the documentation shows ---- */

static struct core *machine_of_8(void)
{
    struct core *core = core_create(8, &no_costs, 0);
    assert_non_null(core);
    told(policy_open(&policy, path("../../policies/shortest.so"), policies, &error), &error);
    return core;
}

static void test_the_shortest_job_is_first(void **state)
{
    struct core *core = machine_of_8();
    (void)state;
    told(core_node(core, 7, false, &error), &error);
    submit(core, 0, rigid(1, 5, 300));
    submit(core, 1, rigid(2, 4, 200));
    submit(core, 2, rigid(3, 3, 100));
    submit(core, 3, rigid(4, 8, 10)); /* not before all nodes are up */
    struct decisions decisions = decide_at(core, 3, &policy);
    assert_int_equal(decisions.count, 2);
    assert_int_equal(decisions.items[0].job, 3);
    assert_int_equal(decisions.items[1].job, 2);
    assert_string_equal(decisions.items[1].reason, "the shortest: 200 s, 4 of 4 idle nodes");
    policy_close(&policy);
    core_destroy(core);
}

static void test_malleable_jobs_make_room_for_it(void **state)
{
    struct core *core = machine_of_8();
    (void)state;
    submit(core, 0, malleable(1, 4, 3, 8, 300));
    submit(core, 0, malleable(2, 4, 1, 8, 300));
    decide_at(core, 0, &policy);
    submit(core, 1, rigid(3, 2, 100));
    struct decisions decisions = decide_at(core, 1, &policy);
    assert_int_equal(decisions.count, 2);
    assert_true(decisions.items[0].job == 1 && decisions.items[0].to == 3);
    assert_true(decisions.items[1].job == 2 && decisions.items[1].to == 3);
    assert_int_equal(decide_at(core, 2, &policy).count, 0); /* they come */
    told(core_committed(core, 3, 1, 1, 1, &error), &error);
    told(core_committed(core, 3, 2, 1, 1, &error), &error);
    assert_int_equal(decide_at(core, 3, &policy).items[0].job, 3);
    policy_close(&policy);
    core_destroy(core);
}

/* ---- In a process of its own, as it ends ---- */

#define NEVER 1000 /* seconds */

static void decide_once(const char *spec, double busy, double alone)
{
    struct core *core = core_create(4, &no_costs, 0);
    struct core_job job = rigid(1, 1, 10);
    struct decisions decisions;
    policy_guard_install(busy, alone);
    if (!core || core_submit(core, 12, &job, &error) || policy_open(&policy, spec, policies, &error) ||
        core_decide(core, 12.5, &policy, &decisions, &error)) {
        fprintf(stderr, "refused: %s\n", error.text);
        _exit(2);
    }
    policy_close(&policy);
    core_destroy(core);
    _exit(0);
}

/* What it writes on stderr, and its status. */
static int run(const char *spec, double busy, double alone, char *text, size_t size)
{
    int ends[2], status;
    ssize_t got;
    size_t length = 0;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        decide_once(spec, busy, alone);
    }
    close(ends[1]);
    while (length + 1 < size && (got = read(ends[0], text + length, size - 1 - length)) > 0)
        length += (size_t)got;
    text[length] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void ends_with(const char *how, double busy, double alone, const char *line)
{
    char text[4096], spec[64];
    snprintf(spec, sizeof spec, "bad.so,how=%s", how);
    int status = run(path(spec), busy, alone, text, sizeof text);
    if (status != 1 || !strstr(text, line) || !strstr(text, ": policy ") || !strstr(text, "bad.so,how="))
        fail_msg("status %d, '%s' without '%s'", status, text, line);
}

static void test_a_policy_that_crashes(void **state)
{
    (void)state;
    ends_with("crash", NEVER, NEVER, "crashed (SIGSEGV) deciding at 12.500\n");
    ends_with("overflow", NEVER, NEVER, "crashed (SIGSEGV) deciding at 12.500\n");
    ends_with("abort", NEVER, NEVER, "crashed (SIGABRT) deciding at 12.500\n");
    ends_with("divide", NEVER, NEVER, "crashed (SIGFPE) deciding at 12.500\n");
    ends_with("now", NEVER, NEVER, "crashed (SIGABRT) when it is opened\n");
}

static void test_a_policy_that_exits(void **state)
{
    (void)state;
    ends_with("exit", NEVER, NEVER, "called exit() deciding at 12.500\n");
}

static void test_a_policy_that_does_not_return(void **state)
{
    (void)state;
    ends_with("spin", 0.02, NEVER, "does not return, deciding at 12.500\n");
    ends_with("wait", NEVER, 0.02, "does nothing, and does not return, deciding at 12.500\n");
}

static void test_a_policy_that_plans_nonsense(void **state)
{
    char text[4096];
    (void)state;
    assert_int_equal(run(path("bad.so,how=nonsense"), NEVER, NEVER, text, sizeof text), 2);
    assert_memory_equal(text, "refused: policy ", strlen("refused: policy "));
    assert_non_null(strstr(text, "bad.so,how=nonsense at 12.500: start job 1 at 5 nodes: it accepts 1\n"));
}

static void test_the_control_case(void **state)
{
    char text[4096];
    (void)state;
    assert_int_equal(run(path("bad.so,how=nothing"), NEVER, NEVER, text, sizeof text), 0);
    assert_string_equal(text, "");
}

static int find_folder(void **state)
{
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    (void)state;
    for (int i = 0; length > 0 && i < 2; i++)
        *strrchr(folder, '/') = '\0';
    strncat(folder, "/policies", sizeof folder - strlen(folder) - 1);
    return length > 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_built_in_policy),
        cmocka_unit_test(test_every_built_in_policy_says_what_it_is),
        cmocka_unit_test(test_names_that_nobody_has),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_objects_that_are_no_policies),
        cmocka_unit_test(test_the_shortest_job_is_first),
        cmocka_unit_test(test_malleable_jobs_make_room_for_it),
        cmocka_unit_test(test_a_policy_that_crashes),
        cmocka_unit_test(test_a_policy_that_exits),
        cmocka_unit_test(test_a_policy_that_does_not_return),
        cmocka_unit_test(test_a_policy_that_plans_nonsense),
        cmocka_unit_test(test_the_control_case),
    };
    return cmocka_run_group_tests(tests, find_folder, NULL);
}
