/* Whose checkpoint it is, which files of a directory are checkpoints of whom, and the newest of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/checkpoint/files.h"
#include "runtime/checkpoint/owner.h"

/* ---- Whose it is --------------------------------------------------------------------------- */

static epop_program_t *make_program(const char *name, const char *phase, int most)
{
    const epop_sizes_t sizes = {.max = most};
    epop_program_t *program = epop_program_create(name);
    epop_add_init(program, "start", (int (*)(int *, char ***, void **))(void (*)(void))abort);
    int pc = epop_add_elastic(program, phase, (int (*)(void *))(void (*)(void))abort, NULL, NULL);
    epop_set_sizes(program, pc, &sizes);
    return program;
}

struct made {
    epop_program_t *program;
    struct checkpoint_head head;
};

static struct made make(const char *name, const char *phase, int most, char *const *argv)
{
    struct made made = {.program = make_program(name, phase, most)};
    assert_int_equal(owner_make(made.program, NULL, argv, &made.head), 0);
    made.head.at.pc = 1;
    return made;
}

static void drop(struct made *made)
{
    checkpoint_head_free(&made->head);
    epop_program_free(made->program);
}

static char *const usual[] = {"heat.so", "100", "a b", NULL};

#define BUT "; --new-arguments, or EPOP_NEW_ARGUMENTS=1, goes on with those here"

static void require_refusal(struct made *there, const char *words)
{
    struct error error = {0};
    struct made here = make("heat", "relax", 4, usual);
    assert_int_equal(owner_compare(&there->head, &here.head, "F", &error), words ? -1 : 0);
    assert_string_equal(error.text, words ? words : "");
    drop(&here);
    drop(there);
}

static void arguments_may_be_new_ones(void **state)
{
    (void)state;
    static char *const other[] = {"x", "200", NULL};
    struct error error = {0};
    struct made there = make("heat", "relax", 4, other), here = make("heat", "relax", 4, usual);
    here.head.new_arguments = true;
    assert_int_equal(owner_compare(&there.head, &here.head, "F", &error), 0);
    drop(&here);
    drop(&there);
}

static struct made make_changing(char *const *argv)
{
    struct made made = {.program = make_program("heat", "relax", 4)};
    assert_int_equal(epop_may_change(made.program, "steps"), EPOP_OK);
    assert_int_equal(epop_may_change(made.program, "--until"), EPOP_OK);
    assert_int_equal(epop_may_change(made.program, "4"), EPOP_OK);
    assert_int_equal(owner_make(made.program, NULL, argv, &made.head), 0);
    made.head.at.pc = 1;
    return made;
}

static void some_arguments_may_be_new_ones(void **state)
{
    (void)state;
    static const struct {
        char *const there[6], *const here[6];
        const char *words;
    } cases[] = {
        {{"x", "steps=10", "in"}, {"x", "steps=20", "in"}, ""},
        {{"x", "in"}, {"x", "steps=20", "in"}, ""},
        {{"x", "steps=10", "in"}, {"x", "in", "steps=1"}, ""},
        {{"x", "--until", "5", "in"}, {"x", "in"}, ""},
        {{"x", "--until=5", "in"}, {"x", "--until", "7", "in"}, ""},
        {{"x", "--until"}, {"x"}, ""},
        {{"x", "a", "b", "c", "1"}, {"x", "a", "b", "c", "2"}, ""},
        {{"x", "a", "b", "c"}, {"x", "a", "b", "c", "2"}, ""},
        {{"x", "steps", "in"}, {"x", "in"}, "F: argument 1 is 'in' here, 'steps' in the file" BUT},
        {{"x", "stepsize=1"}, {"x", "stepsize=2"}, "F: argument 1 is 'stepsize=2' here, 'stepsize=1' in the file" BUT},
        {{"x", "steps=1", "a"}, {"x", "steps=2", "b"}, "F: argument 2 is 'b' here, 'a' in the file" BUT},
        {{"x", "a", "b", "c", "1", "d"},
         {"x", "a", "b", "c", "2"},
         "F: argument 5 is missing here, 'd' in the file" BUT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error = {0};
        struct made there = make_changing(cases[i].there), here = make_changing(cases[i].here);
        assert_int_equal(owner_compare(&there.head, &here.head, "F", &error), cases[i].words[0] ? -1 : 0);
        assert_string_equal(error.text, cases[i].words);
        drop(&here);
        drop(&there);
    }
}

static void the_first_difference_is_named(void **state)
{
    (void)state;
    static char *const other[] = {"x", "100", "a c", NULL}, *const fewer[] = {"x", "100", NULL},
                       *const more[] = {"x", "100", "a b", "", NULL}, *const renamed[] = {"x", "100", "a b", NULL};
    struct made there = make("heat", "relax", 4, renamed);
    require_refusal(&there, NULL);
    there = make("cold", "relax", 4, usual);
    require_refusal(&there, "F: it is a checkpoint of the program 'cold', not of 'heat'");
    there = make("heat", "relax", 4, other);
    require_refusal(&there, "F: argument 2 is 'a b' here, 'a c' in the file" BUT);
    there = make("heat", "relax", 4, fewer);
    require_refusal(&there, "F: argument 2 is 'a b' here, missing in the file" BUT);
    there = make("heat", "relax", 4, more);
    require_refusal(&there, "F: argument 3 is missing here, '' in the file" BUT);
    there = make("heat", "loosen", 4, usual);
    require_refusal(&there, "F: element 1 is EP 'relax' here, EP 'loosen' in the file, with another name");
    there = make("heat", "relax", 5, usual);
    require_refusal(&there, "F: element 1 is EP 'relax' here, EP 'relax' in the file, with another sizes");
    there = make("heat", "relax", 4, usual);
    epop_add_rigid(there.program, "end", (int (*)(void *))(void (*)(void))abort, NULL);
    free(there.head.structure);
    there.head.structure = epop_program_to_json(there.program);
    require_refusal(&there, "F: the program has 2 elements here, 3 in the file");
}

static void a_head_that_says_nothing_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "{", "no JSON"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct made there = make("heat", "relax", 4, usual);
        free(there.head.structure);
        there.head.structure = strdup(texts[i]);
        require_refusal(&there, "F: it does not say which program it is of");
    }
}

static void it_goes_on_in_an_elastic_phase(void **state)
{
    (void)state;
    struct made there = make("heat", "relax", 4, usual);
    there.head.at.pc = 0;
    require_refusal(&there, "F: it goes on at element 0, which is no elastic phase");
    there = make("heat", "relax", 4, usual);
    there.head.at.pc = 2;
    require_refusal(&there, "F: it goes on at element 2, which is not there");
}

static void each_number_of_a_head_can_be(void **state)
{
    (void)state;
    const struct checkpoint_head good = {.at = {1, 1, 0}, .size = 1, .number = 1},
                                 of[] = {
                                     {.at = {-1, 1, 0}, .size = 1, .number = 1},
                                     {.at = {INT_MAX, 1, 0}, .size = 1, .number = 1},
                                     {.at = {1, -1, 0}, .size = 1, .number = 1},
                                     {.at = {1, INT64_MAX, 0}, .size = 1, .number = 1},
                                     {.at = {1, 1, -1}, .size = 1, .number = 1},
                                     {.at = {1, 1, INT64_MAX}, .size = 1, .number = 1},
                                     {.at = {1, 1, 0}, .size = 0, .number = 1},
                                     {.at = {1, 1, 0}, .size = INT_MAX, .number = 1},
                                     {.at = {1, 1, 0}, .size = 1, .number = 0},
                                     {.at = {1, 1, 0}, .size = 1, .number = INT_MAX},
                                     {.at = {1, 1, 0}, .size = 1, .number = 1, .restarts = -1},
                                     {.at = {1, 1, 0}, .size = 1, .number = 1, .restarts = INT_MAX},
                                     {.at = {1, 1, 0}, .size = 1, .number = 1, .time = -1},
                                     {.at = {1, 1, 0}, .size = 1, .number = 1, .time = NAN},
                                     {.at = {1, 1, 0}, .size = 1, .number = 1, .time = INFINITY},
                                 };
    static const char *const names[] = {"pc",        "pc",       "visit", "visit",  "iteration",
                                        "iteration", "size",     "size",  "number", "number",
                                        "restarts",  "restarts", "time",  "time",   "time"};
    struct error error = {0};
    assert_int_equal(checkpoint_head_check(&good, &error), 0);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        char text[80];
        snprintf(text, sizeof text, "is damaged: its '%s' is out of range", names[i]);
        assert_int_equal(checkpoint_head_check(&of[i], &error), -1);
        assert_string_equal(error.text, text);
    }
}

static void an_executable_has_its_name_and_arguments_alone(void **state)
{
    (void)state;
    struct checkpoint_head one = {0}, other = {0};
    struct error error = {0};
    assert_int_equal(owner_make(NULL, "rod", usual, &one), 0);
    assert_int_equal(owner_make(NULL, "rod", (char *const[]){"rod", NULL}, &other), 0);
    assert_string_equal(one.arguments, "[\"100\",\"a b\"]");
    assert_int_equal(owner_compare(&one, &one, "F", &error), -1);
    assert_string_equal(error.text, "F: it goes on at element 0, iteration 0, which no executable has");
    one.at.iteration = other.at.iteration = 1;
    assert_int_equal(owner_compare(&one, &one, "F", &error), 0);
    assert_int_equal(owner_compare(&one, &other, "F", &error), -1);
    assert_string_equal(error.text, "F: argument 1 is missing here, '100' in the file" BUT);
    checkpoint_head_free(&one);
    checkpoint_head_free(&other);
}

static void what_is_described_is_compared_by_name_and_kind(void **state)
{
    (void)state;
    static const struct {
        const char *names[2], *kinds[2], *text;
    } cases[] = {{{"u", "k"}, {"array", "matrix"}, ""},
                 {{"k", "u"}, {"matrix", "array"}, ""},
                 {{"u", NULL}, {"array", NULL}, "F: 'k' is described here, and is not in the file"},
                 {{"u", "k"}, {"array", "csr"}, "F: 'k' is described as matrix here, csr in the file"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made here = make("heat", "relax", 4, usual), there = make("heat", "relax", 4, usual);
        struct error error = {0}, back = {0};
        assert_int_equal(owner_describe(&here.head, "u", "array") | owner_describe(&here.head, "k", "matrix"), 0);
        for (int k = 0; k < 2 && cases[i].names[k]; k++)
            assert_int_equal(owner_describe(&there.head, cases[i].names[k], cases[i].kinds[k]), 0);
        int result = owner_compare_described(&there.head, &here.head, "F", &error);
        assert_int_equal(result, cases[i].text[0] ? -1 : 0);
        assert_string_equal(error.text, cases[i].text);
        assert_int_equal(owner_compare_described(&here.head, &there.head, "F", &back), result);
        assert_int_equal(owner_compare(&there.head, &here.head, "F", &error), 0); /* it is no part of that */
        if (i == 2)
            assert_string_equal(back.text, "F: 'k' is in the file, and is not described here");
        drop(&here);
        drop(&there);
    }
}

/* ---- Files ---------------------------------------------------------------------------------- */

static void names_end_in_a_number(void **state)
{
    (void)state;
    static const struct {
        const char *path, *name;
        int number;
    } cases[] = {{"heat-0001.h5", "heat", 1},
                 {"/a-2.h5/heat-17-12345.h5", "heat-17", 12345},
                 {"heat.h5", NULL, 0},
                 {"heat-.h5", NULL, 0},
                 {"-0001.h5", NULL, 0},
                 {"heat-0000.h5", NULL, 0},
                 {"heat--1.h5", "heat-", 1},
                 {"heat-0001.h5.epop-part", NULL, 0},
                 {"heat-99999999999.h5", NULL, 0},
                 {"heat-1x.h5", NULL, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[100] = "";
        int number = 0;
        assert_int_equal(files_name(cases[i].path, name, sizeof name, &number), cases[i].name != NULL);
        assert_int_equal(number, cases[i].number);
        assert_string_equal(name, cases[i].name ? cases[i].name : "");
    }
    char small[4];
    int number;
    assert_false(files_name("heat-0001.h5", small, sizeof small, &number));
}

static void touch(const char *directory, const char *name, long time)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int file = open(path, O_CREAT | O_WRONLY, 0600);
    const struct timespec times[2] = {{time, 0}, {time, 0}};
    assert_true(file >= 0);
    assert_int_equal(futimens(file, times), 0);
    close(file);
}

static void require_list(const char *directory, const char *name, const char *wanted)
{
    struct checkpoint_file *files;
    size_t count;
    char text[300] = "";
    struct error error = {0};
    assert_int_equal(files_list(directory, name, &files, &count, &error), 0);
    for (size_t i = 0; i < count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s:%d ", strrchr(files[i].path, '/') + 1,
                 files[i].number);
    files_free(files, count);
    assert_string_equal(text, wanted);
}

static void the_newest_comes_first(void **state)
{
    (void)state;
    char directory[] = "/tmp/epop-test-XXXXXX", path[300];
    static const char *const names[] = {"heat-0003.h5", "heat-0001.h5", "heat-0002.h5",
                                        "cold-0009.h5", "mine.h5",      "heat-0004.h5.epop-part"};
    static const long times[] = {1000, 3000, 1000, 2000, 500, 9000};
    assert_non_null(mkdtemp(directory));
    require_list(directory, NULL, "");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        touch(directory, names[i], times[i]);
    require_list(directory, "heat", "heat-0001.h5:1 heat-0003.h5:3 heat-0002.h5:2 ");
    require_list(directory, NULL, "heat-0001.h5:1 cold-0009.h5:9 heat-0003.h5:3 heat-0002.h5:2 mine.h5:0 ");
    require_list(directory, "hea", "");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        unlink(path);
    }
    rmdir(directory);
    struct checkpoint_file *files;
    size_t count;
    struct error error = {0};
    assert_int_equal(files_list(directory, NULL, &files, &count, &error), -1);
    assert_non_null(strstr(error.text, "No such file or directory"));
}

int main(void)
{
    alarm(240);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_difference_is_named),
        cmocka_unit_test(arguments_may_be_new_ones),
        cmocka_unit_test(some_arguments_may_be_new_ones),
        cmocka_unit_test(a_head_that_says_nothing_is_refused),
        cmocka_unit_test(it_goes_on_in_an_elastic_phase),
        cmocka_unit_test(each_number_of_a_head_can_be),
        cmocka_unit_test(an_executable_has_its_name_and_arguments_alone),
        cmocka_unit_test(what_is_described_is_compared_by_name_and_kind),
        cmocka_unit_test(names_end_in_a_number),
        cmocka_unit_test(the_newest_comes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
