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

#include "runtime/hydra/mpiexec.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_path_is_made_absolute),
        cmocka_unit_test(test_only_a_file_that_can_be_executed_will_do),
        cmocka_unit_test(test_a_name_is_looked_for_in_path),
        cmocka_unit_test(test_an_empty_variable_is_none),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
