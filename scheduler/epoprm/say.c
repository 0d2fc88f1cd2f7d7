/* What the commands say: see say.h. */
#include "scheduler/epoprm/say.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/base/json.h"

void rm_complain(const char *format, ...)
{
    va_list arguments;
    fflush(stdout);
    fputs("epoprm: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

int rm_job_number(const char *text, int64_t *number)
{
    size_t length = strlen(text);
    *number = strtoll(text, NULL, 10);
    if (length && strspn(text, "0123456789") == length && length < 16 && *number > 0)
        return 0;
    rm_complain("\"%s\" is no job's number (see epoprm queue)", text);
    return -1;
}

/* Sizes of a resize or a start, if it is about one. */
static void sizes_text(const cJSON *event, char *text, size_t size)
{
    int from = json_int(event, "from", 0), to = json_int(event, "to", 0);
    text[0] = '\0';
    if (from && to)
        snprintf(text, size, "%d -> %d nodes", from, to);
    else if (to)
        snprintf(text, size, "%d node%s", to, to == 1 ? "" : "s");
}

void rm_event_text(const cJSON *event, char *text, size_t size)
{
    const char *said = json_text(event, "text"), *nodes = json_text(event, "nodes");
    char sizes[64];
    sizes_text(event, sizes, sizeof sizes);
    snprintf(text, size, "%s%s%s%s%s%s", sizes, sizes[0] && nodes ? " (" : "", sizes[0] && nodes ? nodes : "",
             sizes[0] && nodes ? ")" : "", sizes[0] && said && *said ? ": " : "", said ? said : "");
}

void rm_clock(double seconds, char text[32])
{
    time_t when = (time_t)seconds, now = time(NULL);
    struct tm then, today;
    localtime_r(&when, &then);
    localtime_r(&now, &today);
    bool same = then.tm_year == today.tm_year && then.tm_yday == today.tm_yday;
    strftime(text, 32, same ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S", &then);
}
