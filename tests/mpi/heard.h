/* What the ranks of a window say on stderr: one line on rank 0, nothing elsewhere. Behind redist_world.h. */
#ifndef TESTS_HEARD_H
#define TESTS_HEARD_H

#include <string.h>
#include <unistd.h>

static int saved_stderr;
static FILE *said;

static void listen(void)
{
    fflush(stderr);
    said = tmpfile();
    saved_stderr = dup(STDERR_FILENO);
    REQUIRE(said && saved_stderr >= 0 && dup2(fileno(said), STDERR_FILENO) >= 0);
}

/* One line with `text` where rank is 0, nothing elsewhere. NULL: nothing at all. */
static void heard_on(int rank, const char *text)
{
    char line[512] = "", more[8];
    fflush(stderr);
    dup2(saved_stderr, STDERR_FILENO);
    close(saved_stderr);
    rewind(said);
    int some = fgets(line, sizeof line, said) != NULL;
    if (text && rank == 0 && !(some && strstr(line, text)))
        fprintf(stderr, "it says: %swhich lacks: %s\n", line, text);
    if (!text || rank != 0) {
        REQUIRE(!some);
    } else {
        REQUIRE(some && strstr(line, text) && strncmp(line, "epop: ", 6) == 0 && line[strlen(line) - 1] == '\n');
        REQUIRE(!fgets(more, sizeof more, said));
    }
    fclose(said);
}

#endif
