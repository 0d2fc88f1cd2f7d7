/* The search for mpiexec, in a folder with a program "folder/launcher", a link to it, a file and a folder. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/launch/engine.h"
#include "runtime/launch/mpiexec.h"

static char launcher[PATH_MAX]; /* its absolute path */

static void write_file(const char *path, mode_t mode)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    assert_int_equal(chmod(path, mode), 0);
}

static int begin(void **state)
{
    static char here[] = "/tmp/epop-test-XXXXXX";
    *state = mkdtemp(here);
    assert_int_equal(chdir(here), 0);
    assert_int_equal(mkdir("folder", 0700), 0);
    write_file("folder/launcher", 0700);
    write_file("folder/text", 0600);
    assert_int_equal(symlink("folder/launcher", "link"), 0);
    assert_non_null(realpath("link", launcher));
    return 0;
}

static int end(void **state)
{
    unlink("link");
    unlink("folder/launcher");
    unlink("folder/text");
    rmdir("folder");
    return chdir("/") || rmdir(*state);
}

static void expect(const char *chosen, const char *folders, const char *found)
{
    char path[PATH_MAX];
    setenv("EPOP_MPIEXEC", chosen, 1);
    setenv("PATH", folders, 1);
    assert_int_equal(mpiexec_find(path), found[0] ? 0 : -1);
    assert_string_equal(path, found);
}

static void test_a_path_is_made_absolute(void **state)
{
    (void)state;
    expect("folder/launcher", "", launcher);
    expect("./link", "", launcher);
    expect(launcher, "", launcher);
}

static void test_only_a_file_that_can_be_executed_will_do(void **state)
{
    (void)state;
    expect("./folder", "", "");
    expect("./folder/text", "", "");
    expect("./nothing", "", "");
    expect("folder", ".", "");
}

static void test_a_name_is_looked_for_in_path(void **state)
{
    (void)state;
    expect("launcher", "/nowhere:folder", launcher);
    expect("launcher", "folder:/nowhere", launcher);
    expect("link", "/nowhere:", launcher);
    expect("link", ":/nowhere", launcher);
    expect("launcher", "/nowhere", "");
    expect("text", "folder", "");
}

static void test_an_empty_variable_is_none(void **state)
{
    char path[PATH_MAX];
    (void)state;
    unsetenv("EPOP_MPIEXEC");
    const char *of_build = mpiexec_name();
    setenv("EPOP_MPIEXEC", "", 1);
    assert_string_equal(mpiexec_name(), of_build);
    setenv("PATH", "folder", 1);
    assert_int_equal(mpiexec_find(path), strchr(of_build, '/') ? 0 : -1);
}

/* As a launcher leaves them in the environment; NULL: not at all. */
static void started_by(const char *hydra_rank, const char *open_mpi_rank)
{
    const char *const variables[][2] = {{"PMI_RANK", hydra_rank},
                                        {"PMI_SIZE", hydra_rank ? "3" : NULL},
                                        {"OMPI_COMM_WORLD_RANK", open_mpi_rank},
                                        {"OMPI_COMM_WORLD_SIZE", open_mpi_rank ? "3" : NULL}};
    const char *const others[] = {"PMI_FD", "PMI_PORT", "PMIX_RANK", "SLURM_STEP_NUM_TASKS"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        unsetenv(others[i]);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (!variables[i][1] || setenv(variables[i][0], variables[i][1], 1))
            unsetenv(variables[i][0]);
}

static void test_the_launcher_is_that_of_the_library(void **state)
{
    char line[MPIEXEC_LINE];
    bool speaks;
    (void)state;
    unsetenv("EPOP_MPIEXEC");
    engine_for("Open MPI");
    assert_string_equal(mpiexec_name(), "mpiexec.openmpi");
    started_by(NULL, "1");
    assert_false(mpiexec_is_foreign(line, sizeof line, &speaks));
    started_by("1", NULL);
    assert_true(mpiexec_is_foreign(line, sizeof line, &speaks));
    assert_non_null(strstr(line,
                           "the launcher of MPICH started 3 processes, which to Open MPI are as many jobs of one rank; "
                           "start them with 'mpiexec.openmpi'"));
    assert_false(speaks);
    started_by("0", "0");
    assert_false(mpiexec_is_foreign(line, sizeof line, &speaks));
    engine_for("a descendant of MPICH");
    assert_false(mpiexec_is_foreign(line, sizeof line, &speaks));
    started_by(NULL, "0");
    assert_true(mpiexec_is_foreign(line, sizeof line, &speaks) && speaks);
    assert_non_null(strstr(line, "the launcher of Open MPI started 3 processes, which to MPICH are"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_path_is_made_absolute),
        cmocka_unit_test(test_only_a_file_that_can_be_executed_will_do),
        cmocka_unit_test(test_a_name_is_looked_for_in_path),
        cmocka_unit_test(test_an_empty_variable_is_none),
        cmocka_unit_test(test_the_launcher_is_that_of_the_library),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
