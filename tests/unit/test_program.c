/* Constructors of programs, the names of the published listings, and the texts. */
#define EPOP_SHORT_NAMES
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <epop/program.h>

#include "epop_api/program.h"

static int init(int *argc, char ***argv, void **data)
{
    (void)argc, (void)argv, (void)data;
    return 0;
}

static int exec(void *data)
{
    (void)data;
    return 0;
}

static int adapt(void *data)
{
    (void)data;
    return 0;
}

static int loop(void *data)
{
    (void)data;
    return 0;
}

static int branch(int pc, void *data)
{
    (void)data;
    return pc + 1;
}

static void one_of_each(void **state)
{
    (void)state;
    char name[] = "example";
    epop_program_t *program = epop_program_create(name);
    name[0] = 'X'; /* the name was copied */
    assert_string_equal(program->name, "example");
    assert_int_equal(program->abi_version, EPOP_ABI_VERSION);
    assert_int_equal(program->finalizer, -1);
    assert_int_equal(epop_add_init(program, "start", init), 0);
    assert_int_equal(epop_add_elastic(program, "work", exec, adapt, loop), 1);
    assert_int_equal(epop_add_rigid(program, "report", exec, NULL), 2);
    assert_int_equal(epop_add_branch(program, "again", branch), 3);
    assert_int_equal(program->size, 4);
    const epop_element_t *e = program->elements;
    assert_true(e[0].type == EPOP_INIT && e[0].init == init && strcmp(e[0].name, "start") == 0);
    assert_true(e[1].type == EPOP_EP && e[1].phase_exec == exec && e[1].phase_adapt == adapt);
    assert_true(e[1].loop_condition == loop && !e[1].sizes && !e[1].progress);
    assert_true(e[2].type == EPOP_RP && e[2].phase_exec == exec && !e[2].loop_condition);
    assert_true(e[3].type == EPOP_BRANCH && e[3].branch_condition == branch);
    epop_program_free(program);
}

static void grows(void **state)
{
    (void)state;
    epop_program_t *program = epop_program_create(NULL);
    assert_null(program->name);
    for (int i = 0; i < 100; i++)
        assert_int_equal(epop_add_rigid(program, "phase", exec, NULL), i);
    for (int i = 0; i < 100; i++)
        assert_true(program->elements[i].phase_exec == exec && !program->elements[i].sizes);
    epop_program_free(program);
}

/* As in the published listings: allocate, fill in, return. INIT has its function where phases have theirs. */
static void published_names(void **state)
{
    (void)state;
    program_t *program = malloc(sizeof(program_t));
    memset(program, 0xff, sizeof(program_t));
    assert_int_equal(epop_alloc_phases(&program, 2), EPOP_OK);
    program_element_t *elements = program->elements;
    assert_int_equal(program->size, 2);
    assert_int_equal(program->abi_version, EPOP_ABI_VERSION);
    assert_int_equal(program->finalizer, -1);
    assert_int_equal(elements[0].type, 0);
    elements[0].type = INIT;
    elements[0].phase_exec = init;
    elements[1].type = RP;
    elements[1].phase_exec = exec;
    assert_true(INIT == EPOP_INIT && EP == EPOP_EP && RP == EPOP_RP && BRANCH == EPOP_BRANCH);
    assert_int_equal(epop_program_validate(program, NULL, 0), EPOP_OK);
    assert_ptr_equal(epop__program_init(program), init);
    assert_int_equal(epop_add_rigid(program, "one more", exec, NULL), 2);
    assert_ptr_equal(program->elements[1].phase_exec, exec);
    epop_program_free(program);
}

static void init_where_it_belongs_wins(void **state)
{
    (void)state;
    program_t *program = NULL;
    assert_int_equal(epop_alloc_phases(&program, 1), EPOP_OK);
    program->elements[0] = (program_element_t){.type = INIT, .init = init, .phase_exec = exec};
    assert_ptr_equal(epop__program_init(program), init);
    epop_program_free(program);
}

/* Without the published names phase_exec has another type: what INIT has there is a mistake. */
static void phase_exec_of_other_programs(void **state)
{
    (void)state;
    epop_program_t *program = epop_program_alloc(1);
    program->elements[0] = (epop_element_t){.type = EPOP_INIT, .phase_exec = exec};
    assert_null(epop__program_init(program));
    assert_int_equal(epop_program_validate(program, NULL, 0), EPOP_ERR_ARGUMENT);
    epop_program_free(program);
}

static void phases_are_allocated_again(void **state)
{
    (void)state;
    program_t *program = NULL;
    assert_int_equal(epop_alloc_phases(&program, 1), EPOP_OK);
    assert_int_equal(epop_alloc_phases(&program, 3), EPOP_OK);
    assert_int_equal(program->size, 3);
    assert_int_equal(epop_alloc_phases(&program, -1), EPOP_ERR_ARGUMENT);
    assert_null(program);
    assert_int_equal(epop_alloc_phases(NULL, 1), EPOP_ERR_ARGUMENT);
}

static void alloc_refuses_a_negative_size(void **state)
{
    (void)state;
    assert_null(epop_program_alloc(-1));
}

static void others_are_left_alone(void **state)
{
    (void)state;
    epop_element_t elements[] = {{.type = EPOP_INIT, .init = init}};
    epop_program_t program = {.size = 1, .elements = elements, .name = "static"};
    epop_program_free(&program);
    epop_program_free(NULL);
    assert_int_equal(epop_add_rigid(&program, "more", exec, NULL), -1);
    assert_int_equal(epop_add_init(NULL, "start", init), -1);
    assert_int_equal(program.size, 1);
}

static void free_in_any_order(void **state)
{
    (void)state;
    epop_program_t *a = epop_program_create("a"), *b = epop_program_create("b"), *c = epop_program_create("c");
    a->name = "another"; /* what the caller put there is the caller's */
    epop_program_free(b);
    assert_int_equal(epop_add_init(a, "start", init), 0);
    epop_program_free(a);
    epop_program_free(c);
    assert_int_equal(epop_add_init(a, "start", init), -1);
}

/* The caller's are gone when the program is used. */
static void sizes_are_copied(void **state)
{
    (void)state;
    epop_program_t *program = epop_program_create("sizes");
    epop_add_init(program, "start", init);
    for (int max = 1; max <= 9; max++) {
        epop_sizes_t sizes = {.max = max};
        assert_int_equal(epop_add_rigid(program, "phase", exec, NULL), max);
        assert_int_equal(epop_set_sizes(program, max, &sizes), EPOP_OK);
        assert_int_equal(epop_set_sizes(program, -1, &sizes), EPOP_OK);
        sizes.max = 0;
    }
    for (int max = 1; max <= 9; max++)
        assert_int_equal(program->elements[max].sizes->max, max);
    assert_int_equal(program->sizes.max, 9);
    assert_int_equal(epop_set_sizes(program, 3, NULL), EPOP_OK);
    assert_null(program->elements[3].sizes);
    assert_int_equal(epop_set_sizes(program, -1, NULL), EPOP_ERR_ARGUMENT);
    assert_int_equal(epop_set_sizes(program, 10, &program->sizes), EPOP_ERR_ARGUMENT);
    assert_int_equal(epop_set_sizes(NULL, 0, &program->sizes), EPOP_ERR_ARGUMENT);
    epop_program_free(program);
}

static void sizes_of_a_static_program(void **state)
{
    (void)state;
    const epop_sizes_t sizes = {.max = 4};
    epop_element_t elements[] = {{.type = EPOP_INIT, .init = init}};
    epop_program_t program = {.size = 1, .elements = elements, .name = "static"};
    assert_int_equal(epop_set_sizes(&program, 0, &sizes), EPOP_ERR_ARGUMENT);
    assert_null(elements[0].sizes);
    assert_int_equal(epop_set_sizes(&program, -1, &sizes), EPOP_OK);
    assert_int_equal(program.sizes.max, 4);
}

static void texts(void **state)
{
    (void)state;
    assert_string_equal(epop_element_type_name(EPOP_BRANCH), "BRANCH");
    assert_string_equal(epop_element_type_name((epop_element_type)9), "unknown");
    assert_string_equal(epop_result_text(EPOP_ERR_MEMORY), "out of memory");
    for (int result = EPOP_ERR_ARGUMENT; result <= EPOP_ERR_SYSTEM; result++)
        assert_string_not_equal(epop_result_text(result), epop_result_text(1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_of_each),
        cmocka_unit_test(grows),
        cmocka_unit_test(published_names),
        cmocka_unit_test(init_where_it_belongs_wins),
        cmocka_unit_test(phase_exec_of_other_programs),
        cmocka_unit_test(phases_are_allocated_again),
        cmocka_unit_test(alloc_refuses_a_negative_size),
        cmocka_unit_test(others_are_left_alone),
        cmocka_unit_test(free_in_any_order),
        cmocka_unit_test(sizes_are_copied),
        cmocka_unit_test(sizes_of_a_static_program),
        cmocka_unit_test(texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
