/* Lines for many processes: as they are written they are read, and what is none is nobody's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/wire/envelope.h"

static void what_is_written_is_read(void **state)
{
    static const int processes[] = {3, 64, 65, 66, 9, 2};
    static const char inner[] = "{\"op\":\"pong\"}";
    size_t size, count;
    (void)state;
    char *line = envelope_text("of", processes, 6, "says", inner, strlen(inner), &size);
    assert_string_equal(line, "{\"op\":\"of\",\"processes\":[3,[64,3],9,2],\"says\":{\"op\":\"pong\"}}\n");
    assert_int_equal(size, strlen(line));
    cJSON *read = cJSON_Parse(line);
    int *again = envelope_processes(read, &count);
    assert_int_equal(count, 6);
    assert_memory_equal(again, processes, sizeof processes);
    free(again);
    cJSON_Delete(read);
    free(line);
}

static void what_is_none_is_nobodys(void **state)
{
    static const char *const lists[] = {"[]",
                                        "{}",
                                        "null",
                                        "7",
                                        "[1,2,3,\"7\"]",
                                        "[1,2,3,-1]",
                                        "[1,2,3,[]]",
                                        "[1,[2,0]]",
                                        "[4194305]",
                                        "[[1,4194305]]",
                                        "[1,2,3,[4,null]]"};
    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        size_t count = 1;
        cJSON *envelope = cJSON_CreateObject();
        cJSON_AddItemToObject(envelope, ENVELOPE_PROCESSES, cJSON_Parse(lists[i]));
        assert_null(envelope_processes(envelope, &count));
        assert_int_equal(count, 0);
        cJSON_Delete(envelope);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_written_is_read),
                                       cmocka_unit_test(what_is_none_is_nobodys)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
