/* Lines on the standard error: whole, in one write each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/say.h"

enum { LONGEST = 20000 };

/* What `text` becomes, from a connection that keeps writes apart. The caller frees it. */
static char *said(const char *text)
{
    int ends[2], standard = dup(STDERR_FILENO);
    assert_return_code(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    assert_return_code(dup2(ends[1], STDERR_FILENO), 0);
    say_line("%s", text);
    assert_return_code(dup2(standard, STDERR_FILENO), 0);
    close(standard);
    close(ends[1]);
    char *result = calloc(1, LONGEST + 16);
    assert_non_null(result);
    assert_true(read(ends[0], result, LONGEST + 15) > 0);
    close(ends[0]);
    return result;
}

static void check(size_t length)
{
    char *text = malloc(length + 1), *line = said((memset(text, 'x', length), text[length] = 0, text));
    assert_int_equal(strlen(line), 6 + length + 1);
    assert_memory_equal(line, "epop: ", 6);
    assert_memory_equal(line + 6, text, length);
    assert_string_equal(line + 6 + length, "\n");
    free(line);
    free(text);
}

/* 128: pieces of glibc's; 1024: what needs no memory of its own. */
static void lines_are_whole(void **state)
{
    (void)state;
    static const size_t lengths[] = {0, 1, 121, 122, 123, 128, 1022, 1023, 1024, 1025, 4096, LONGEST};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        check(lengths[i]);
}

/* A program may have given the stream a buffer. */
static void what_was_printed_before_comes_before(void **state)
{
    (void)state;
    static char buffer[BUFSIZ];
    int ends[2], standard = dup(STDERR_FILENO);
    char text[64];
    assert_return_code(pipe(ends), 0);
    assert_return_code(dup2(ends[1], STDERR_FILENO), 0);
    setvbuf(stderr, buffer, _IOFBF, sizeof buffer);
    fputs("before\n", stderr);
    say_line("%d", 7);
    setvbuf(stderr, NULL, _IONBF, 0);
    assert_return_code(dup2(standard, STDERR_FILENO), 0);
    close(standard);
    close(ends[1]);
    ssize_t length = read(ends[0], text, sizeof text - 1);
    close(ends[0]);
    assert_true(length > 0);
    text[length] = 0;
    assert_string_equal(text, "before\nepop: 7\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines_are_whole),
                                       cmocka_unit_test(what_was_printed_before_comes_before)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
