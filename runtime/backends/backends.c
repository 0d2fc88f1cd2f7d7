/* The backends there are, the preferred ones first. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "runtime/backends/backend.h"
#include "runtime/job/job.h"

static const struct backend *const backends[] = {&backend_join, &backend_pool, &backend_spawn, &backend_shrink};

#define COUNT (sizeof backends / sizeof backends[0])

/* Does it do what is wanted, and does it work here? 0, or -1 with the reason. */
static int suits(const struct backend *backend, const struct backend_wish *wish, char *reason, size_t size)
{
    bool ends = backend->flags & BACKEND_ENDS;
    if (wish->lends && !(backend->flags & BACKEND_LENDS))
        snprintf(reason, size, "it starts all processes of the launch and does not go with --start");
    else if (!strcmp(wish->leave, "exit") && !ends)
        snprintf(reason, size, "its processes park when they leave, and --leave exit is wanted");
    else if (!strcmp(wish->leave, "park") && ends && !(backend->flags & BACKEND_PARKS))
        snprintf(reason, size, "its processes end when they leave, and --leave park is wanted");
    else
        return backend->available(reason, size);
    return -1;
}

/* The first one that suits; reason becomes why: why not the better ones, else what makes it work. */
static const struct backend *best(const struct backend_wish *wish, char *reason, size_t size)
{
    char why_not[300] = "", problem[200];
    for (size_t i = 0; i < COUNT; i++) {
        size_t used = strlen(why_not);
        if (backends[i]->flags & BACKEND_ASKED)
            continue;
        if (!suits(backends[i], wish, problem, sizeof problem)) {
            snprintf(reason, size, "%s", used ? why_not : backends[i]->merit);
            return backends[i];
        }
        snprintf(why_not + used, sizeof why_not - used, "%snot '%s', %s", used ? "; " : "",
                 backends[i]->coordinator.name, problem);
    }
    snprintf(reason, size, "no backend works here: %s", why_not);
    return NULL;
}

static bool leave_is_known(const char *leave)
{
    return !strcmp(leave, "auto") || !strcmp(leave, "exit") || !strcmp(leave, "park");
}

const struct backend *backend_find(const struct backend_wish *wish, char *reason, size_t size)
{
    char problem[200];
    if (!leave_is_known(wish->leave)) {
        snprintf(reason, size, "--leave wants auto, exit or park, not '%s'", wish->leave);
        return NULL;
    }
    if (!strcmp(wish->name, "auto"))
        return best(wish, reason, size);
    for (size_t i = 0; i < COUNT; i++)
        if (!strcmp(wish->name, backends[i]->coordinator.name)) {
            bool fits = !suits(backends[i], wish, problem, sizeof problem);
            if (fits)
                snprintf(reason, size, "it was asked for");
            else
                snprintf(reason, size, "the backend '%s' does not work here: %s", wish->name, problem);
            return fits ? backends[i] : NULL;
        }
    int length = snprintf(reason, size, "there is no backend '%s'; choose one of: auto", wish->name);
    for (size_t i = 0; i < COUNT && length > 0 && (size_t)length < size; i++)
        length += snprintf(reason + length, size - (size_t)length, " %s", backends[i]->coordinator.name);
    return NULL;
}

const char *epop__backend_auto(char *reason, size_t size)
{
    const struct backend_wish wish = {.name = "auto", .leave = "auto"};
    return backend_find(&wish, reason, size)->coordinator.name;
}
