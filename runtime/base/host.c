/* This host's name, and lists of hosts. */
#include "runtime/base/host.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char own[HOST_OWN_MAX] = "localhost";

static void find(void)
{
    char name[HOST_OWN_MAX] = "";
    if (!gethostname(name, sizeof name) && *name)
        memcpy(own, name, sizeof own);
}

const char *host_own(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find);
    return own;
}

/* ---- Lists ----------------------------------------------------------------------------------------- */

static bool same_host(const char *a, size_t a_length, const char *b)
{
    const char *dot = memchr(a, '.', a_length);
    size_t a_short = dot ? (size_t)(dot - a) : a_length, b_short = strcspn(b, "."), b_length = strlen(b);
    if (a_short == a_length || b_short == b_length)
        return a_short == b_short && !strncmp(a, b, a_short);
    return a_length == b_length && !strncmp(a, b, a_length);
}

bool hostlist_valid(const char *list)
{
    for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        if (!*p || *p == ',' || *p == '-')
            return false;
    return !strpbrk(list, " \t\r\n");
}

/* Of "n1:4" up to the colon; an IPv6 address has several. */
static size_t name_length(const char *element)
{
    size_t length = strcspn(element, ","), colon = strcspn(element, ":,");
    bool counted =
        colon < length && colon + 1 < length && strspn(element + colon + 1, "0123456789") == length - colon - 1;
    return counted ? colon : length;
}

bool hostlist_has(const char *list, const char *host)
{
    for (const char *p = list; p && *p; p += strcspn(p, ","), p += *p == ',')
        if (same_host(p, name_length(p), host))
            return true;
    return false;
}

bool hostlist_next(const char **at, char name[HOST_MAX], int *count)
{
    const char *element = *at;
    if (!*element)
        return false;
    size_t length = name_length(element);
    snprintf(name, HOST_MAX, "%.*s", (int)length, element);
    if (count)
        *count = element[length] == ':' ? atoi(element + length + 1) : 0;
    *at += strcspn(element, ",");
    *at += **at == ',';
    return true;
}
