/* Process sets: the five definitions, with the sets of figure 6.1 (Huber 2021), and operations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "runtime/base/json.h"
#include "runtime/psets/psets.h"

/* Processes 0 to 7 are app1, which has made three sets of its own; 8 to 11 are app2. Two changes are announced. */
struct figure {
    struct psets sets;
    struct pset *app1, *mul, *add, *roots, *app2, *s1, *s2;
};

static struct pset *define(struct psets *sets, const char *name, int first, int count)
{
    int members[12];
    struct error error;
    for (int i = 0; i < count; i++)
        members[i] = first + i;
    struct pset *set = psets_define(sets, name, members, count, &error);
    assert_non_null(set);
    return set;
}

static int draw(void **state)
{
    static struct figure f;
    static const int roots[] = {0, 4}, taken1[] = {2, 3}, taken2[] = {10, 11};
    struct error error;
    psets_init(&f.sets);
    f.app1 = define(&f.sets, "mpi://app/app1", 0, 8);
    f.app2 = define(&f.sets, "mpi://app/app2", 8, 4);
    f.mul = define(&f.sets, "mpi://app/app1/mul", 0, 4);
    f.add = define(&f.sets, "mpi://app/app1/add", 4, 4);
    f.roots = psets_define(&f.sets, "mpi://app/app1/roots", roots, 2, &error);
    f.app1->active = false;
    f.s1 = psets_define_delta(&f.sets, "app1", "sub", taken1, 2, NULL, &error);
    f.s2 = psets_define_delta(&f.sets, "app2", "sub", taken2, 2, NULL, &error);
    *state = &f;
    return f.roots && f.s1 && f.s2 ? 0 : -1;
}

static int wipe(void **state)
{
    psets_destroy(&((struct figure *)*state)->sets);
    return 0;
}

struct found {
    struct pset *sets[8];
    int count;
};

static void note(void *context, struct pset *set)
{
    struct found *found = context;
    found->sets[found->count++] = set;
}

static void expect(const struct found *found, int count, ...)
{
    va_list sets;
    va_start(sets, count);
    assert_int_equal(found->count, count);
    for (int i = 0; i < count; i++)
        assert_ptr_equal(found->sets[i], va_arg(sets, struct pset *));
    va_end(sets);
}

/* ---- The definitions ---------------------------------------------------------------------- */

static void test_epochs(void **state)
{
    struct figure *f = *state;
    static const int more[] = {12};
    struct error error;
    assert_int_equal(f->app1->epoch, 0);
    assert_int_equal(f->mul->version, 0);
    assert_int_equal(f->s1->epoch, 1);
    assert_int_equal(f->s2->epoch, 1); /* each application counts its own */
    struct pset *next = psets_define_delta(&f->sets, "app1", "add", more, 1, NULL, &error);
    assert_int_equal(next->epoch, 2);
    assert_string_equal(next->name, "mpi://rte/app1/rc/2-add");
    struct pset_request r = {.op = PSET_OP_UNION, .a = f->add, .b = next, .app = "app1"};
    struct pset *sum = psets_operate(&f->sets, &r, &error);
    assert_int_equal(sum->epoch, 2); /* the later of both */
    assert_int_equal(sum->version, 0);
}

static void test_malleable(void **state)
{
    struct figure *f = *state;
    struct found found = {.count = 0}, other = {.count = 0};
    psets_malleable(&f->sets, "app1", note, &found);
    expect(&found, 3, f->mul, f->add, f->roots);
    psets_malleable(&f->sets, "app2", note, &other);
    expect(&other, 1, f->app2);
}

static void test_malleable_is_the_largest_active(void **state)
{
    struct figure *f = *state;
    struct found found = {.count = 0};
    f->app1->active = true;
    psets_malleable(&f->sets, "app1", note, &found);
    expect(&found, 1, f->app1);
}

static void test_reference_counted(void **state)
{
    struct figure *f = *state;
    struct found one = {.count = 0}, two = {.count = 0};
    psets_reference_counted(&f->sets, "app1", f->s1, note, &one);
    expect(&one, 1, f->mul);
    psets_reference_counted(&f->sets, "app2", f->s2, note, &two);
    expect(&two, 1, f->app2);
}

static void test_recursively_affected(void **state)
{
    struct figure *f = *state;
    struct found one = {.count = 0}, two = {.count = 0};
    psets_affected(&f->sets, "app1", f->mul, f->s1, note, &one);
    expect(&one, 1, f->app1);
    psets_affected(&f->sets, "app2", f->app2, f->s2, note, &two);
    expect(&two, 0);
}

static void is(const struct pset *set, int count, ...)
{
    va_list members;
    va_start(members, count);
    assert_int_equal(set->count, count);
    for (int i = 0; i < count; i++)
        assert_int_equal(set->members[i], va_arg(members, int));
    va_end(members);
}

static void test_operations(void **state)
{
    struct figure *f = *state;
    struct error error;
    struct pset_request r = {.op = PSET_OP_UNION, .a = f->roots, .b = f->mul, .app = "app1"};
    is(psets_operate(&f->sets, &r, &error), 5, 0, 4, 1, 2, 3);
    r.op = PSET_OP_DIFFERENCE;
    is(psets_operate(&f->sets, &r, &error), 1, 4);
    r.op = PSET_OP_INTERSECTION;
    is(psets_operate(&f->sets, &r, &error), 1, 0);
    r = (struct pset_request){.op = PSET_OP_INTERSECTION, .a = f->mul, .b = f->add, .app = "app1"};
    assert_null(psets_operate(&f->sets, &r, &error));
    assert_string_equal(error.text, "no process is left in the result of mpi://app/app1/mul and mpi://app/app1/add");
}

static void test_more_operands(void **state)
{
    struct figure *f = *state;
    struct error error;
    struct pset *more[] = {f->add, f->app2};
    struct pset_request r = {
        .op = PSET_OP_UNION, .a = f->roots, .b = f->mul, .more = more, .more_count = 2, .app = "app1"};
    is(psets_operate(&f->sets, &r, &error), 12, 0, 4, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11);
    r = (struct pset_request){
        .op = PSET_OP_DIFFERENCE, .a = f->app1, .b = f->roots, .more = more, .more_count = 1, .app = "app1"};
    is(psets_operate(&f->sets, &r, &error), 3, 1, 2, 3);
    r.op = PSET_OP_INTERSECTION;
    is(psets_operate(&f->sets, &r, &error), 1, 4);
    int count = f->sets.count;
    r.more_count = 2;
    assert_null(psets_operate(&f->sets, &r, &error));
    assert_int_equal(count, f->sets.count);
}

/* ---- Versions, attributes, what follows --------------------------------------------------------- */

static void test_a_new_version_and_what_follows(void **state)
{
    struct figure *f = *state;
    struct error error;
    struct pset_request r = {
        .op = PSET_OP_DIFFERENCE, .a = f->mul, .b = f->s1, .target = "mpi://app/app1/mul", .app = "app1"};
    assert_ptr_equal(psets_operate(&f->sets, &r, &error), f->mul);
    is(f->mul, 2, 0, 1);
    assert_int_equal(f->mul->version, 1);
    assert_int_equal(f->mul->epoch, 1);
    is(f->app1, 6, 0, 1, 4, 5, 6, 7); /* which the runtime cares for */
    assert_int_equal(f->app1->version, 1);
    assert_int_equal(f->app1->epoch, 1);
    is(f->roots, 2, 0, 4);
    assert_int_equal(f->roots->version, 0);
}

static void test_names(void **state)
{
    struct figure *f = *state;
    struct error error;
    struct pset_request r = {
        .op = PSET_OP_UNION, .a = f->mul, .b = f->add, .target = "mpi://app/app1/all", .app = "app1"};
    assert_string_equal(psets_operate(&f->sets, &r, &error)->name, "mpi://app/app1/all");
    assert_null(psets_operate(&f->sets, &r, &error));
    assert_string_equal(error.text, "there is a process set mpi://app/app1/all already");
    r.target = "mpi://app/app2/all";
    assert_null(psets_operate(&f->sets, &r, &error));
    assert_string_equal(error.text,
                        "a process set of this program is named mpi://app/app1/..., not mpi://app/app2/all");
    r.target = NULL;
    assert_string_equal(psets_operate(&f->sets, &r, &error)->name, "mpi://app/app1/1");
}

/* What is the runtime's no program gets another meaning of. */
static void test_the_world_stays(void **state)
{
    struct figure *f = *state;
    struct error error;
    const int all[] = {0, 1};
    struct pset *world = psets_define(&f->sets, PSETS_WORLD, all, 2, &error);
    struct pset_request r = {.op = PSET_OP_UNION, .a = world, .b = f->mul, .target = PSETS_WORLD, .app = "app1"};
    assert_null(psets_operate(&f->sets, &r, &error));
    assert_string_equal(error.text, "mpi://WORLD is the runtime's");
    r.op = PSET_OP_NULL;
    assert_null(psets_operate(&f->sets, &r, &error));
    is(world, 2, 0, 1);
}

static void test_attributes(void **state)
{
    struct figure *f = *state;
    struct error error;
    const bool no = false;
    const struct named_text sched[] = {{"mpi_ps_sched_opt", "96"}};
    struct pset_request r = {.target = "mpi://app/app1/mul", .app = "app1", .active = &no, .sched = {sched, 1}};
    assert_ptr_equal(psets_operate(&f->sets, &r, &error), f->mul);
    assert_false(f->mul->active);
    struct pset_request sum = {.op = PSET_OP_UNION, .a = f->mul, .b = f->add, .app = "app1"};
    struct pset *made = psets_operate(&f->sets, &sum, &error);
    assert_false(made->active); /* as the first one has it */
    assert_string_equal(cJSON_GetObjectItem(made->sched, "mpi_ps_sched_opt")->valuestring, "96");
}

static void say(struct pset *set, const char *least, const char *most, const char *preferred)
{
    json_put_text(set->sched, PSETS_HINT_MIN, least);
    json_put_text(set->sched, PSETS_HINT_MAX, most);
    json_put_text(set->sched, PSETS_HINT_PREFERRED, preferred);
}

static void assert_hints(const struct psets *sets, int least, int most, int preferred)
{
    struct pset_hints hints;
    assert_true(psets_hints(sets, &hints));
    assert_int_equal(hints.least, least);
    assert_int_equal(hints.most, most);
    assert_int_equal(hints.preferred, preferred);
}

/* Of 7 processes: two sets of 2 and 3 that share nothing, and 2 processes in none. */
static void test_hints_are_summed(void **state)
{
    static const int all[] = {0, 1, 2, 3, 4, 5, 6}, one[] = {0, 1}, other[] = {2, 3, 4}, both[] = {0, 1, 2, 3, 4};
    struct psets sets;
    struct pset_hints hints;
    struct error error;
    (void)state;
    psets_init(&sets);
    psets_define(&sets, PSETS_WORLD, all, 7, &error);
    struct pset *a = psets_define(&sets, "mpi://app/x/a", one, 2, &error);
    struct pset *b = psets_define(&sets, "mpi://app/x/b", other, 3, &error);
    assert_false(psets_hints(&sets, &hints));
    say(a, "1", "4", "4");
    assert_hints(&sets, 1 + 5, 4 + 5, 4 + 5);
    json_put_text(b->sched, PSETS_HINT_MAX, "6");
    assert_hints(&sets, 1 + 1 + 2, 4 + 6 + 2, 4 + 3 + 2);
    json_put_text(b->sched, PSETS_HINT_PREFERRED_OTHER, "5");
    assert_hints(&sets, 4, 12, 11);
    b->active = false;
    assert_hints(&sets, 6, 9, 9);
    b->active = true;
    struct pset *larger = psets_define(&sets, "mpi://app/x/larger", both, 5, &error);
    json_put_text(larger->sched, PSETS_HINT_MIN, "3");
    assert_hints(&sets, 3 + 2, 0, 0); /* it has the processes of both, and no bound */
    larger->stale = true;
    assert_hints(&sets, 4, 12, 11);
    psets_destroy(&sets);
}

static void test_hints_that_are_none_are_refused(void **state)
{
    struct figure *f = *state;
    static const struct {
        struct named_text sched;
        const char *why;
    } rows[] = {
        {{PSETS_HINT_MIN, "many"}, PSETS_HINT_MIN " is 'many', which is no number of processes from 1 to 1000000"},
        {{PSETS_HINT_PREFERRED, "0"}, PSETS_HINT_PREFERRED " is '0', which is no number"},
        {{PSETS_HINT_MIN, "9"}, PSETS_HINT_MIN " is 9, above " PSETS_HINT_MAX ", 8"},
        {{PSETS_HINT_PRIORITY, "5"}, "by epoprm submit --priority"},
    };
    json_put_text(f->mul->sched, PSETS_HINT_MAX, "8");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error error;
        struct pset_request r = {.target = "mpi://app/app1/mul", .app = "app1", .sched = {&rows[i].sched, 1}};
        assert_null(psets_operate(&f->sets, &r, &error));
        if (!strstr(error.text, rows[i].why))
            fail_msg("'%s' is not in '%s'", rows[i].why, error.text);
        assert_null(json_text(f->mul->sched, rows[i].sched.name));
    }
}

static void test_split(void **state)
{
    struct figure *f = *state;
    static const int sizes[] = {3, 1}, wrong[] = {3, 2};
    struct pset *parts[2];
    struct error error;
    assert_int_equal(psets_split(&f->sets, "app1", f->mul, sizes, 2, parts, &error), 0);
    is(parts[0], 3, 0, 1, 2);
    is(parts[1], 1, 3);
    assert_int_equal(psets_split(&f->sets, "app1", f->mul, wrong, 2, parts, &error), -1);
    assert_string_equal(error.text, "mpi://app/app1/mul has 4 processes, which cannot be split into parts like that");
}

static void test_prune(void **state)
{
    struct figure *f = *state;
    static const int one[] = {12};
    struct error error;
    for (int i = 0; i < 20; i++)
        assert_non_null(psets_define_delta(&f->sets, "app1", "add", one, 1, NULL, &error));
    psets_prune(&f->sets);
    assert_int_equal(f->sets.count, 5 + 8);
    assert_non_null(psets_find(&f->sets, "mpi://rte/app1/rc/21-add"));
    assert_null(psets_find(&f->sets, "mpi://rte/app1/rc/13-add"));
    assert_non_null(psets_find(&f->sets, "mpi://app/app1/roots"));
    assert_int_equal(psets_define_delta(&f->sets, "app1", "add", one, 1, NULL, &error)->epoch, 22);
}

static void test_stale(void **state)
{
    struct figure *f = *state;
    struct found found = {.count = 0};
    psets_leave(&f->sets, f->s1);
    assert_true(f->mul->stale && f->app1->stale && !f->add->stale);
    psets_malleable(&f->sets, "app1", note, &found);
    expect(&found, 2, f->add, f->roots);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_epochs, draw, wipe),
        cmocka_unit_test_setup_teardown(test_malleable, draw, wipe),
        cmocka_unit_test_setup_teardown(test_malleable_is_the_largest_active, draw, wipe),
        cmocka_unit_test_setup_teardown(test_reference_counted, draw, wipe),
        cmocka_unit_test_setup_teardown(test_recursively_affected, draw, wipe),
        cmocka_unit_test_setup_teardown(test_operations, draw, wipe),
        cmocka_unit_test_setup_teardown(test_more_operands, draw, wipe),
        cmocka_unit_test_setup_teardown(test_a_new_version_and_what_follows, draw, wipe),
        cmocka_unit_test_setup_teardown(test_names, draw, wipe),
        cmocka_unit_test_setup_teardown(test_the_world_stays, draw, wipe),
        cmocka_unit_test_setup_teardown(test_attributes, draw, wipe),
        cmocka_unit_test(test_hints_are_summed),
        cmocka_unit_test_setup_teardown(test_hints_that_are_none_are_refused, draw, wipe),
        cmocka_unit_test_setup_teardown(test_split, draw, wipe),
        cmocka_unit_test_setup_teardown(test_prune, draw, wipe),
        cmocka_unit_test_setup_teardown(test_stale, draw, wipe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
