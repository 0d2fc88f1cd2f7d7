/* The profile made of records whose sums are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "driver/profile/merge.h"
#include "runtime/base/json.h"

static const char *const structure =
    "{\"name\":\"p\",\"abi_version\":1,\"finalizer\":null,\"sizes\":{\"kind\":\"any\"},\"elements\":["
    "{\"pc\":0,\"type\":\"INIT\",\"name\":\"init\"},{\"pc\":1,\"type\":\"EP\",\"name\":\"a\"},"
    "{\"pc\":2,\"type\":\"EP\",\"name\":\"b\"}]}";

#define CELL(pc, size, rank, iterations, time, mpi)                                                                    \
    "{\"pc\":" #pc ",\"size\":" #size ",\"rank\":" #rank ",\"visits\":1,\"iterations\":" #iterations                   \
    ",\"time\":" #time ",\"mpi\":[[\"MPI_Barrier\",2," #mpi "]]}"
#define RECORD(cells, adaptations)                                                                                     \
    "{\"host\":\"h\",\"pid\":7,\"ranks\":[[0,2,101,102]],\"cells\":[" cells "],\"adaptations\":[" adaptations "]}"

static cJSON *merge_structure(epop_job_t *job, const char *text)
{
    cJSON *program = cJSON_Parse(text);
    job->id = "p-1";
    job->path = "p.so";
    job->started = 100;
    job->now = 110;
    cJSON *profile = merge_profile(job, program, "MPICH 1");
    cJSON_Delete(program);
    return profile;
}

static cJSON *merge(epop_job_t *job)
{
    return merge_structure(job, structure);
}

static cJSON *merge_records(const epop_record_t *records, int count)
{
    epop_job_t job = {.size = 2, .end = EPOP_JOB_ENDED, .records = records, .record_count = count};
    return merge(&job);
}

/* The world of element `pc` at that size. */
static const cJSON *world_of(const cJSON *profile, int pc, int size)
{
    const cJSON *element = cJSON_GetArrayItem(cJSON_GetObjectItem(profile, "elements"), pc), *world;
    cJSON_ArrayForEach(world,
                       cJSON_GetObjectItem(element, "worlds")) if (json_int(world, "size", 0) == size) return world;
    return NULL;
}

static double inside(const cJSON *object, const char *outer, const char *key)
{
    return json_number(cJSON_GetObjectItem(object, outer), key, -1);
}

static void assert_near(double value, double expected)
{
    assert_true(value > expected - 1e-9 && value < expected + 1e-9);
}

static void sums_over_ranks(void **state)
{
    (void)state;
    const epop_record_t records[] = {{0, RECORD(CELL(1, 2, 0, 10, 4.0, 1.0), "")},
                                     {1, RECORD(CELL(1, 2, 1, 10, 6.0, 5.0), "")}};
    cJSON *profile = merge_records(records, 2);
    const cJSON *world = world_of(profile, 1, 2);
    assert_near(inside(world, "loop_time", "total"), 10);
    assert_near(inside(world, "loop_time", "mean"), 5);
    assert_near(inside(world, "loop_time", "min"), 4);
    assert_near(inside(world, "loop_time", "max"), 6);
    assert_near(inside(world, "loop_time", "variance"), 1);
    assert_near(inside(world, "mpi_time", "total"), 6);
    assert_near(json_number(world, "mpi_share", -1), 0.6);
    assert_near(json_number(world, "mtct", -1), 1.5);          /* 6 to 4 */
    assert_near(json_number(world, "imbalance", -1), 3 / 2.0); /* 3 and 1 outside MPI */
    assert_near(json_number(world, "iterations_per_second", -1), 2);
    assert_int_equal(json_int(world, "iterations", 0), 10);
    const cJSON *function = cJSON_GetArrayItem(cJSON_GetObjectItem(world, "mpi"), 0);
    assert_string_equal(json_text(function, "function"), "MPI_Barrier");
    assert_int_equal(json_int(function, "calls", 0), 4);
    assert_null(world_of(profile, 2, 2));
    cJSON_Delete(profile);
}

static void processes_that_were_the_same_rank_are_one(void **state)
{
    (void)state;
    const epop_record_t records[] = {{0, RECORD(CELL(1, 2, 0, 10, 4.0, 0), "")},
                                     {1, RECORD(CELL(1, 2, 1, 6, 2.0, 0), "")},
                                     {1, RECORD(CELL(1, 2, 1, 1, 0.5, 0), "")},
                                     {2, RECORD(CELL(1, 2, 1, 3, 1.0, 0), "")}};
    cJSON *profile = merge_records(records, 4);
    const cJSON *world = world_of(profile, 1, 2), *processes = cJSON_GetObjectItem(profile, "processes");
    assert_int_equal(json_int(world, "iterations", 0), 10);
    assert_near(inside(world, "loop_time", "min"), 3.5);
    assert_near(inside(world, "loop_time", "mean"), 3.75);
    assert_int_equal(cJSON_GetArraySize(processes), 3);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(cJSON_GetArrayItem(processes, 1), "ranks")), 2);
    cJSON_Delete(profile);
}

static void a_rank_that_is_not_known_is_not_a_rank_without_time(void **state)
{
    (void)state;
    const epop_record_t records[] = {{0, RECORD(CELL(1, 2, 0, 10, 4.0, 4.0), "")}, {1, "cut off"}};
    cJSON *profile = merge_records(records, 2);
    const cJSON *world = world_of(profile, 1, 2);
    assert_near(inside(world, "loop_time", "min"), 4);
    assert_near(inside(world, "loop_time", "mean"), 4);
    assert_near(json_number(world, "mpi_share", -1), 1);
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(world, "mtct"))); /* no time outside MPI */
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(world, "imbalance")));
    cJSON_Delete(profile);
}

/* a: 1 s per iteration at 1, 0.5 s at 2. b: only at 2, so it says nothing about the job. */
static void speedup_and_efficiency(void **state)
{
    (void)state;
    const epop_record_t records[] = {
        {0, RECORD(CELL(1, 1, 0, 10, 10.0, 0) "," CELL(1, 2, 0, 4, 2.0, 0) "," CELL(2, 2, 0, 1, 9.0, 0), "")},
        {1, RECORD(CELL(1, 2, 1, 4, 2.0, 0) "," CELL(2, 2, 1, 1, 9.0, 0), "")}};
    cJSON *profile = merge_records(records, 2);
    assert_near(json_number(world_of(profile, 1, 1), "speedup", -1), 1);
    assert_near(json_number(world_of(profile, 1, 2), "speedup", -1), 2);
    assert_near(json_number(world_of(profile, 1, 2), "efficiency", -1), 1);
    assert_near(json_number(world_of(profile, 2, 2), "efficiency", -1), 1); /* its own smallest size */
    const cJSON *two = cJSON_GetArrayItem(cJSON_GetObjectItem(profile, "efficiency"), 1);
    assert_near(json_number(two, "time", -1), 11);
    assert_near(json_number(two, "speedup", -1), 2);
    cJSON_Delete(profile);
}

/* a: 1 s per iteration at 1, 1.25 s at 2, which do twice the work. */
static void weak_scaling(void **state)
{
    (void)state;
    const epop_record_t records[] = {{0, RECORD(CELL(1, 1, 0, 10, 10.0, 0) "," CELL(1, 2, 0, 4, 5.0, 0), "")},
                                     {1, RECORD(CELL(1, 2, 1, 4, 5.0, 0), "")}};
    epop_job_t job = {.size = 2, .end = EPOP_JOB_ENDED, .records = records, .record_count = 2};
    cJSON *profile = merge_structure(&job, "{\"elements\":[{},{\"scaling\":\"weak\"}]}");
    assert_near(json_number(world_of(profile, 1, 2), "iterations_per_second", -1), 0.8);
    assert_near(json_number(world_of(profile, 1, 2), "speedup", -1), 1.6);
    assert_near(json_number(world_of(profile, 1, 2), "efficiency", -1), 0.8);
    const cJSON *two = cJSON_GetArrayItem(cJSON_GetObjectItem(profile, "efficiency"), 1);
    assert_near(json_number(two, "speedup", -1), 1.6);
    cJSON_Delete(profile);
}

#define SITE(place) "{\"place\":\"p.so+0x" #place "\",\"mpi\":\"MPI_Send\"}"
#define TOLD(lap, key, outer)                                                                                          \
    "{\"lap\":" #lap ",\"key\":\"" #key "\",\"outer\":" #outer ",\"head\":" SITE(1) ",\"tail\":" SITE(2) "}"
#define WITH_LOOPS(size, rank, laps, told)                                                                             \
    "{\"host\":\"h\",\"pid\":7,\"ranks\":[],\"adaptations\":[],\"cells\":[{\"pc\":1,\"size\":" #size                   \
    ",\"rank\":" #rank ",\"visits\":1,\"iterations\":1,\"time\":9,\"mpi\":[],\"loops\":[" laps "]}],\"loops\":[" told  \
    "]}"

static const cJSON *loop_at(const cJSON *profile, int size, int place)
{
    return cJSON_GetArrayItem(cJSON_GetObjectItem(world_of(profile, 1, size), "loops"), place);
}

/* Each process numbers its laps in its own way; a loop around one is told where it came round. */
static void loops_of_all_ranks_are_one(void **state)
{
    (void)state;
    const epop_record_t records[] = {
        {0, WITH_LOOPS(2, 0, "[0,4,2,1],[1,8,1,1]", TOLD(0, aa, -1) "," TOLD(1, bb, 0))},
        {1, WITH_LOOPS(2, 1, "[5,4,2,0],[3,6,3,0],[7,1,1,1]", TOLD(3, bb, 5) "," TOLD(5, aa, -1))},
        {2, WITH_LOOPS(1, 0, "[1,8,4,1]", TOLD(0, aa, -1) "," TOLD(1, bb, 0))}};
    cJSON *profile = merge_records(records, 3);
    const cJSON *outer = loop_at(profile, 2, 0), *inner = loop_at(profile, 2, 1);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(world_of(profile, 1, 2), "loops")), 2);
    assert_int_equal(json_int(outer, "number", 0), 1);
    assert_int_equal(json_int(inner, "within", 0), 1);
    assert_int_equal(json_int(inner, "iterations", 0), 8);
    assert_int_equal(json_int(inner, "ranks", 0), 2);
    assert_near(inside(inner, "loop_time", "total"), 4);
    assert_near(json_number(inner, "mtct", -1), 1 / 3.0);
    assert_near(json_number(inner, "iterations_per_second", -1), 4);
    assert_near(json_number(inner, "speedup", -1), 2); /* 2 per second on one rank */
    assert_int_equal(json_int(loop_at(profile, 1, 0), "number", 0), json_int(inner, "number", -1));
    assert_null(cJSON_GetObjectItem(loop_at(profile, 1, 0), "within")); /* it did not come round there */
    assert_null(cJSON_GetObjectItem(outer, "within"));
    cJSON_Delete(profile);
}

#define ROW(sent, received, least, time, to)                                                                           \
    "{\"id\":1,\"opened\":103.5,\"time\":" #time ",\"mpi\":0,\"sent\":" #sent ",\"received\":" #received               \
    ",\"least\":" #least ",\"to\":[" to "]}"

static void adaptations(void **state)
{
    (void)state;
    const epop_record_t records[] = {{0, RECORD("", ROW(30, 0, 0, 1.0, "[5,10],[2,20]"))},
                                     {2, RECORD("", ROW(0, 20, 20, 3.0, ""))},
                                     {5, RECORD("", ROW(0, 10, 10, 2.0, ""))}};
    const epop_adaptation_t done[] = {
        {.id = 1,
         .from = 1,
         .to = 3,
         .state = "committed",
         .by = "x",
         .pc = 1,
         .reason = "",
         .requested = 102,
         .prepared = 103,
         .agreed = 103.2,
         .committed = 104,
         .stall = 0.5},
        {.id = 2, .from = 3, .to = 4, .state = "failed", .by = "x", .pc = -1, .reason = "no", .requested = 105}};
    epop_job_t job = {.size = 1, .end = EPOP_JOB_STOPPED, .reason = "x", .records = records, .record_count = 3};
    job.adaptations = done;
    job.adaptation_count = 2;
    cJSON *profile = merge(&job);
    const cJSON *list = cJSON_GetObjectItem(profile, "adaptations");
    const cJSON *first = cJSON_GetArrayItem(list, 0), *second = cJSON_GetArrayItem(list, 1);
    const cJSON *traffic = cJSON_GetObjectItem(first, "traffic"), *world = cJSON_GetObjectItem(profile, "world");
    assert_near(inside(first, "times", "opened"), 3.5);
    assert_near(inside(first, "bytes", "sent"), 30);
    assert_near(inside(first, "bytes", "least"), 30);
    assert_near(inside(first, "adapt_time", "max"), 3);
    assert_int_equal(cJSON_GetArraySize(traffic), 2);
    assert_int_equal(json_int(cJSON_GetArrayItem(traffic, 0), "to", 0), 2); /* sorted */
    assert_string_equal(json_text(first, "element"), "a");
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(second, "bytes")));
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(cJSON_GetObjectItem(second, "times"), "prepared")));
    assert_int_equal(cJSON_GetArraySize(world), 2);
    assert_string_equal(json_text(profile, "reason"), "stopped by x");
    cJSON_Delete(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_over_ranks),
        cmocka_unit_test(processes_that_were_the_same_rank_are_one),
        cmocka_unit_test(a_rank_that_is_not_known_is_not_a_rank_without_time),
        cmocka_unit_test(speedup_and_efficiency),
        cmocka_unit_test(weak_scaling),
        cmocka_unit_test(loops_of_all_ranks_are_one),
        cmocka_unit_test(adaptations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
