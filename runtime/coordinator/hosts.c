/* Lists of hosts: see hosts.h. */
#include "runtime/coordinator/hosts.h"

#include <string.h>

static bool same_host(const char *a, size_t a_length, const char *b)
{
    size_t a_short = strcspn(a, ".,"), b_short = strcspn(b, "."), b_length = strlen(b);
    if (a_short == a_length || b_short == b_length)
        return a_short == b_short && !strncmp(a, b, a_short);
    return a_length == b_length && !strncmp(a, b, a_length);
}

bool hosts_valid(const char *list)
{
    for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        if (!*p || *p == ',' || *p == '-')
            return false;
    return !strpbrk(list, " \t\r\n");
}

bool hosts_has(const char *list, const char *host)
{
    for (const char *p = list; p && *p; p += strcspn(p, ","), p += *p == ',')
        if (same_host(p, strcspn(p, ","), host))
            return true;
    return false;
}
