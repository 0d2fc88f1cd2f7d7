/* Which launchers lose the status of a process that is killed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdint.h>

#include "runtime/hydra/hydra.h"

static void some_lose_statuses(void **state)
{
    (void)state;
    static const struct {
        const char *version;
        bool loses;
    } known[] = {
        {"MPICH Version:      4.0.2\nMPICH Release date: Thu Apr  7 12:34:45 CDT 2022\n", false},
        {"MPICH Version:\t4.1\nMPICH Release date:\t", true},
        {"MPICH Version:      4.2.1\n", true},
        {"MPICH Version:      4.2.2\n", true},
        {"MPICH Version:      4.2.3\n", false},
        {"MPICH Version:      4.3.0\n", false},
        {"MPICH Version:      5.0.2\n", false},
        {"MPICH Version:      41.2.1\n", false},
        {"MPICH Version:      unknown\n", false},
        {"Open MPI v4.1.4, package: Debian OpenMPI", false},
        {"", false},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_int_equal(hydra_loses_statuses(known[i].version), known[i].loses);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(some_lose_statuses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
