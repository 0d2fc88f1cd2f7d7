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
        {"4.0.2", false}, {"4.1", true},    {"4.2.1", true},   {"4.2.2", true},    {"4.2.3", false},
        {"4.3.0", false}, {"5.0.2", false}, {"41.2.1", false}, {"unknown", false}, {"", false},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_int_equal(hydra_loses_statuses(known[i].version), known[i].loses);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(some_lose_statuses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
