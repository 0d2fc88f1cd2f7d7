/* Which batch job this process belongs to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/base/batch.h"

/* In a process of its own, as it is looked at once. */
static void batch(const char *said, const char *job, const char *step, const char *expected)
{
    pid_t child = fork();
    int status;
    if (!child) {
        static const char *const names[] = {"EPOP_BATCH_JOB", "SLURM_JOB_ID", SLURM_STEP_JOB};
        const char *const values[] = {said, job, step};
        for (int i = 0; i < 3; i++)
            if (values[i])
                setenv(names[i], values[i], 1);
            else
                unsetenv(names[i]);
        const char *is = batch_job();
        _exit(expected ? !is || strcmp(is, expected) : is != NULL);
    }
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

static void test_batch_job(void **state)
{
    (void)state;
    batch(NULL, NULL, NULL, NULL);
    batch(NULL, "17", NULL, "slurm:17");
    batch(NULL, "17", "18", "slurm:18");
    batch("epoprm:3", "17", NULL, "epoprm:3");
    batch("two words", "17", NULL, "slurm:17");
    batch("", NULL, NULL, NULL);
    batch(NULL, "17x", NULL, NULL);
    batch(NULL, "-1", NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_batch_job)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
