/* Validation: each fault is found and named in one line; JSON of the valid program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include <epop/program.h>

static int init(int *argc, char ***argv, void **data)
{
    (void)argc, (void)argv, (void)data;
    return 0;
}

static int block(void *data)
{
    (void)data;
    return 0;
}

static int branch(int pc, void *data)
{
    (void)data;
    return pc + 1;
}

static void progress(void *data, epop_progress_t *progress)
{
    (void)data, (void)progress;
}

enum { START, WORK, AGAIN, REPORT };

/* A valid program, which every test breaks in one place. */
static epop_program_t *valid(void)
{
    epop_program_t *program = epop_program_create("example");
    epop_add_init(program, "start", init);
    epop_add_elastic(program, "work", block, block, block);
    epop_add_branch(program, "again", branch);
    program->finalizer = epop_add_rigid(program, "report", block, NULL);
    return program;
}

static void expect_valid(epop_program_t *program)
{
    char error[256] = "";
    if (epop_program_validate(program, error, sizeof error) != EPOP_OK)
        fail_msg("%s", error);
    epop_program_free(program);
}

static void expect(epop_program_t *program, const char *text)
{
    char error[256] = "";
    assert_int_equal(epop_program_validate(program, error, sizeof error), EPOP_ERR_ARGUMENT);
    if (!strstr(error, text) || strchr(error, '\n'))
        fail_msg("'%s' does not say '%s' in one line", error, text);
    epop_program_free(program);
}

static void valid_programs(void **state)
{
    (void)state;
    expect_valid(valid());
    epop_program_t *program = valid();
    program->finalizer = 0; /* a static program's, which did not set it */
    program->elements[WORK].name = NULL;
    expect_valid(program);
    program = valid();
    program->sizes = (epop_sizes_t){.kind = EPOP_SIZE_SQUARE, .max = 16, .preferred = 9};
    program->elements[REPORT].loop_condition = block;
    expect_valid(program);
}

static void no_elements(void **state)
{
    (void)state;
    expect(NULL, "program: it is NULL");
    expect(epop_program_create("empty"), "program 'empty': it has no elements");
    epop_program_t none = {.size = 3, .elements = NULL};
    expect(&none, "no elements");
}

static void init_elements(void **state)
{
    (void)state;
    epop_program_t *program = valid();
    program->elements[START] = program->elements[REPORT];
    expect(program, "element 0 'report' (RP): the first element must be the INIT");
    program = valid();
    program->elements[AGAIN] = program->elements[START];
    expect(program, "element 2 'start' (INIT): an INIT that is not the first");
}

static void missing_blocks(void **state)
{
    (void)state;
    epop_program_t *program = valid();
    program->elements[START].init = NULL;
    expect(program, "program 'example': element 0 'start' (INIT): the init block is missing");
    program = valid();
    program->elements[WORK].phase_exec = NULL;
    expect(program, "element 1 'work' (EP): the phase_exec block is missing");
    program = valid();
    program->elements[WORK].phase_adapt = NULL;
    expect(program, "element 1 'work' (EP): the phase_adapt block is missing");
    program = valid();
    program->elements[WORK].loop_condition = NULL;
    expect(program, "element 1 'work' (EP): the loop_condition block is missing");
    program = valid();
    program->elements[AGAIN].branch_condition = NULL;
    expect(program, "element 2 'again' (BRANCH): the branch_condition block is missing");
    program = valid();
    program->elements[REPORT].phase_exec = NULL;
    expect(program, "element 3 'report' (RP): the phase_exec block is missing");
}

static void unknown_type(void **state)
{
    (void)state;
    epop_program_t *program = valid();
    program->elements[WORK].type = (epop_element_type)9;
    expect(program, "element 1 'work' (unknown): unknown element type 9");
    program = valid();
    program->elements[WORK].type = (epop_element_type)0;
    expect(program, "unknown element type 0");
}

static void size_rules(void **state)
{
    (void)state;
    static const struct {
        epop_sizes_t sizes;
        const char *text;
    } faults[] = {
        {{.kind = (epop_size_kind)8}, "unknown kind 8"},
        {{.min = -1}, "bounds -1 to 0 make no sense"},
        {{.min = 5, .max = 4}, "bounds 5 to 4 make no sense"},
        {{.kind = EPOP_SIZE_MULTIPLE}, "multiples of 0"},
        {{.kind = EPOP_SIZE_FUNCTION}, "its accepts is NULL"},
        {{.kind = EPOP_SIZE_SQUARE, .min = 5, .max = 8}, "accepts no size from 5 to 8"},
        {{.kind = EPOP_SIZE_EVEN, .preferred = 3}, "the preferred size 3 is none"},
        {{.preferred = -2}, "the preferred size -2 is none"},
        {{.scaling = (epop_scaling)3}, "the size rule has the unknown scaling 3"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        epop_program_t *program = valid();
        program->sizes = faults[i].sizes;
        expect(program, faults[i].text);
        program = valid();
        program->elements[WORK].sizes = &faults[i].sizes;
        expect(program, "element 1 'work' (EP): the ");
    }
}

static void finalizers(void **state)
{
    (void)state;
    epop_program_t *program = valid();
    program->finalizer = WORK;
    expect(program, "element 1 'work' (EP): it is named as the finalizer");
    program = valid();
    program->finalizer = 4;
    expect(program, "the finalizer 4 is no pc");
    program = valid();
    program->finalizer = -2;
    expect(program, "the finalizer -2 is no pc");
}

static void text_is_cut_to_the_room(void **state)
{
    (void)state;
    char error[] = "0123456789";
    assert_int_equal(epop_program_validate(NULL, error, 8), EPOP_ERR_ARGUMENT);
    assert_string_equal(error, "program");
    assert_string_equal(error + 8, "89");
    assert_int_equal(epop_program_validate(NULL, NULL, 0), EPOP_ERR_ARGUMENT);
}

static void json(void **state)
{
    (void)state;
    static const epop_sizes_t multiple = {.kind = EPOP_SIZE_MULTIPLE, .factor = 3, .min = 2, .max = 9, .preferred = 6};
    epop_program_t *program = valid();
    program->elements[WORK].sizes = &multiple;
    program->elements[WORK].progress = progress;
    program->elements[REPORT].name = NULL;
    char *text = epop_program_to_json(program);
    cJSON *object = cJSON_Parse(text);
    assert_non_null(object);
    assert_string_equal(cJSON_GetObjectItem(object, "name")->valuestring, "example");
    assert_int_equal(cJSON_GetObjectItem(object, "finalizer")->valueint, REPORT);
    const cJSON *elements = cJSON_GetObjectItem(object, "elements");
    assert_int_equal(cJSON_GetArraySize(elements), 4);
    const cJSON *work = cJSON_GetArrayItem(elements, WORK), *sizes = cJSON_GetObjectItem(work, "sizes");
    assert_int_equal(cJSON_GetObjectItem(sizes, "factor")->valueint, 3);
    assert_int_equal(cJSON_GetObjectItem(sizes, "preferred")->valueint, 6);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(work, "blocks")), 3);
    assert_true(cJSON_IsTrue(cJSON_GetObjectItem(work, "progress")));
    const cJSON *report = cJSON_GetArrayItem(elements, REPORT);
    assert_string_equal(cJSON_GetObjectItem(report, "name")->valuestring, "RP");
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(report, "sizes")));
    cJSON_Delete(object);
    free(text);
    epop_program_free(program);
    assert_null(epop_program_to_json(NULL));
}

/* By its own rule, or else the program's. One of version 3 was compiled without the member. */
static void scaling(void **state)
{
    (void)state;
    static const epop_sizes_t own = {.scaling = EPOP_SCALING_WEAK_WORK};
    epop_program_t *program = valid();
    program->sizes.scaling = EPOP_SCALING_WEAK;
    program->elements[WORK].sizes = &own;
    assert_int_equal(epop_scaling_at(program, WORK), EPOP_SCALING_WEAK_WORK);
    assert_int_equal(epop_scaling_at(program, REPORT), EPOP_SCALING_WEAK);
    assert_int_equal(epop_scaling_at(program, -1), EPOP_SCALING_WEAK);
    char *text = epop_program_to_json(program);
    cJSON *object = cJSON_Parse(text);
    const cJSON *work = cJSON_GetArrayItem(cJSON_GetObjectItem(object, "elements"), WORK);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(work, "scaling")), "weak-work");
    cJSON_Delete(object);
    free(text);
    program->abi_version = 3;
    program->sizes.scaling = (epop_scaling)77;
    assert_int_equal(epop_scaling_at(program, WORK), EPOP_SCALING_STRONG);
    assert_int_equal(epop_program_validate(program, NULL, 0), EPOP_OK);
    assert_string_equal(epop_scaling_name(EPOP_SCALING_STRONG), "strong");
    assert_string_equal(epop_scaling_name((epop_scaling)77), "unknown");
    epop_program_free(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_programs), cmocka_unit_test(no_elements),
        cmocka_unit_test(init_elements),  cmocka_unit_test(missing_blocks),
        cmocka_unit_test(unknown_type),   cmocka_unit_test(size_rules),
        cmocka_unit_test(finalizers),     cmocka_unit_test(text_is_cut_to_the_room),
        cmocka_unit_test(json),           cmocka_unit_test(scaling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
