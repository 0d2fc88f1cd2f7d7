/* Comments and names of jobs: see words.h. */
#include "scheduler/slurm/words.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char mark[] = "epop:", companion[] = "epop-";

enum { NODES_MAX = 1000000 };

bool words_range(const char *comment, int *min, int *max)
{
    const char *at = comment;
    int end = 0;
    while ((at = strstr(at, mark)) && at > comment && !isspace((unsigned char)at[-1]))
        at++;
    if (!at || sscanf(at + strlen(mark), "min=%9d,max=%9d%n", min, max, &end) < 2 || !end)
        return false;
    at += strlen(mark) + (size_t)end;
    return (!*at || isspace((unsigned char)*at)) && *min >= 1 && *max >= *min && *max <= NODES_MAX;
}

int64_t words_companion(const char *name)
{
    const char *digits = name + strlen(companion);
    char *end;
    if (strncmp(name, companion, strlen(companion)) || !isdigit((unsigned char)*digits))
        return 0;
    errno = 0;
    long long job = strtoll(digits, &end, 10);
    return !*end && !errno && job > 0 ? job : 0;
}
