/* The job of a batch system that this process belongs to, by its environment; and lists of nodes. */
#include "runtime/base/batch.h"

#include <ctype.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"

/* ---- The job ------------------------------------------------------------------------------------ */

static int job_number(const char *text)
{
    char *end;
    long value = text ? strtol(text, &end, 10) : 0;
    return text && !*end && value > 0 && value <= INT_MAX ? (int)value : 0;
}

int slurm_job(void)
{
    int step = job_number(getenv(SLURM_STEP_JOB));
    return step ? step : job_number(getenv("SLURM_JOB_ID"));
}

static char job[BATCH_MAX];

/* It goes into files and tables. */
static int is_word(const char *text)
{
    size_t length = strlen(text);
    for (const char *at = text; *at; at++)
        if (!isgraph((unsigned char)*at))
            return 0;
    return length > 0 && length < BATCH_MAX;
}

static void find_batch_job(void)
{
    const char *said = getenv("EPOP_BATCH_JOB");
    if (said && is_word(said))
        strcpy(job, said);
    else if (slurm_job())
        snprintf(job, sizeof job, "slurm:%d", slurm_job());
}

const char *batch_job(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_batch_job);
    return job[0] ? job : NULL;
}

bool batch_account(const char *name)
{
    return *name && !name[strcspn(name, " \t\r\n,=#")];
}

/* ---- Lists of nodes ----------------------------------------------------------------------------- */

#define NODES_MAX 1000000

static int add_name(struct nodelist *list, const char *name)
{
    if (!name[0] || list->count >= NODES_MAX ||
        array_reserve(&list->names, &list->room, list->count + 1, sizeof *list->names))
        return -1;
    memcpy(list->names[list->count++], name, NODELIST_NAME_MAX);
    return 0;
}

static int expand(struct nodelist *list, const char *before, const char *rest, size_t length);

/* One number in place of the brackets, with as many digits as it was written with. */
static int put_number(struct nodelist *list, const char *before, unsigned long number, int digits, const char *rest,
                      size_t length)
{
    char name[NODELIST_NAME_MAX];
    if (snprintf(name, sizeof name, "%s%0*lu", before, digits, number) >= (int)sizeof name)
        return -1;
    return expand(list, name, rest, length);
}

/* "1-3,07", of which `rest` is what stands behind the brackets. */
static int expand_ranges(struct nodelist *list, const char *before, const char *ranges, const char *rest, size_t length)
{
    for (const char *at = ranges;; at++) {
        char *end;
        if (!isdigit((unsigned char)*at))
            return -1;
        unsigned long first = strtoul(at, &end, 10), last = first;
        int digits = (int)(end - at);
        if (*end == '-' && isdigit((unsigned char)end[1]))
            last = strtoul(end + 1, &end, 10);
        if (last < first || last - first >= NODES_MAX || digits >= NODELIST_NAME_MAX || (*end != ',' && *end != ']'))
            return -1;
        for (unsigned long number = first; number <= last; number++)
            if (put_number(list, before, number, digits, rest, length))
                return -1;
        if (*end == ']')
            return 0;
        at = end;
    }
}

/* `before` is done; of `rest` the first `length` characters are still to be expanded. */
static int expand(struct nodelist *list, const char *before, const char *rest, size_t length)
{
    char name[NODELIST_NAME_MAX] = "";
    const char *bracket = memchr(rest, '[', length), *end = bracket ? memchr(rest, ']', length) : NULL;
    int plain = (int)(bracket ? (size_t)(bracket - rest) : length);
    if (snprintf(name, sizeof name, "%s%.*s", before, plain, rest) >= (int)sizeof name || (bracket && end < bracket))
        return -1;
    if (!bracket)
        return add_name(list, name);
    return expand_ranges(list, name, bracket + 1, end + 1, length - (size_t)(end + 1 - rest));
}

/* Up to the comma that is not in brackets. */
static size_t element_length(const char *text)
{
    size_t length = 0;
    int depth = 0;
    for (; text[length] && (depth || text[length] != ','); length++)
        depth += (text[length] == '[') - (text[length] == ']');
    return length;
}

int nodelist_add(struct nodelist *list, const char *text)
{
    for (const char *at = text;;) {
        size_t length = element_length(at);
        if (expand(list, "", at, length))
            return -1;
        if (!at[length])
            return 0;
        at += length + 1;
    }
}

void nodelist_free(struct nodelist *list)
{
    free(list->names);
    *list = (struct nodelist){0};
}

int nodelist_number(const char *text, size_t place)
{
    int number, used;
    unsigned times;
    for (size_t passed = 0; text && sscanf(text, "%d%n", &number, &used) == 1 && number > 0; passed += times) {
        text += used;
        if (sscanf(text, "(x%u)%n", &times, &used) == 1)
            text += used;
        else
            times = 1;
        if (place < passed + times)
            return number;
        if (*text++ != ',')
            return 0;
    }
    return 0;
}
