/* The backends there are, the preferred ones first. */
#include <stdbool.h>
#include <string.h>

#include "runtime/backends/device.h"
#include "runtime/base/error.h"
#include "runtime/launch/engine.h"
#include "runtime/world/backend.h"

static const struct backend *const backends[] = {&backend_join, &backend_pool, &backend_spawn, &backend_shrink};

#define COUNT (sizeof backends / sizeof backends[0])

int backend_leave(const char *word, enum backend_leave *leave, struct error *error)
{
    static const char *const words[] = {"auto", "exit", "park"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(word, words[i])) {
            *leave = (enum backend_leave)i;
            return 0;
        }
    return error_set(error, ERROR_FAILED, "--leave wants auto, exit or park, not '%s'", word);
}

bool backend_may_be(const char *name, const struct backend *backend)
{
    return !strcmp(name, backend->name) || (!strcmp(name, "auto") && backend->merit);
}

/* Does it do what is wanted, and does it work here? 0, or -1 with the reason. */
static int suits(const struct backend *backend, const struct backend_wish *wish, struct error *reason)
{
    if (wish->lends && backend_ends(backend))
        error_set(reason, ERROR_FAILED, "it starts all processes of the launch and does not go with --start");
    else if (wish->leave == LEAVE_EXIT && !backend_ends(backend))
        error_set(reason, ERROR_FAILED, "its processes park when they leave, and --leave exit is wanted");
    else if (wish->leave == LEAVE_PARK && backend->leavers == LEAVERS_END)
        error_set(reason, ERROR_FAILED, "its processes end when they leave, and --leave park is wanted");
    else
        return backend->available(reason);
    return -1;
}

/* The first one that suits; reason becomes why: why not the better ones, else what makes it work. */
static const struct backend *best(const struct backend_wish *wish, struct error *reason)
{
    struct error why_not = {0}, problem;
    for (size_t i = 0; i < COUNT; i++) {
        if (!backends[i]->merit)
            continue;
        if (!suits(backends[i], wish, &problem)) {
            error_set(reason, ERROR_NONE, "%s", why_not.code ? why_not.text : backends[i]->merit);
            return backends[i];
        }
        error_set(&why_not, ERROR_FAILED, "%s%snot '%s', %s", why_not.text, why_not.code ? "; " : "", backends[i]->name,
                  problem.text);
    }
    error_set(reason, ERROR_FAILED, "no backend works here: %s", why_not.text);
    return NULL;
}

const struct backend *backend_find(const struct backend_wish *wish, struct error *reason)
{
    struct error problem = {0};
    if (!strcmp(wish->name, "auto"))
        return best(wish, reason);
    for (size_t i = 0; i < COUNT; i++)
        if (!strcmp(wish->name, backends[i]->name)) {
            bool fits = !suits(backends[i], wish, &problem);
            if (fits)
                error_set(reason, ERROR_NONE, "it was asked for");
            else
                error_set(reason, ERROR_FAILED, "the backend '%s' does not work here: %s", wish->name, problem.text);
            return fits ? backends[i] : NULL;
        }
    error_set(reason, ERROR_FAILED, "there is no backend '%s'; choose one of: auto", wish->name);
    for (size_t i = 0; i < COUNT; i++)
        error_set(reason, ERROR_FAILED, "%s %s", reason->text, backends[i]->name);
    return NULL;
}

const char *epop__backend_auto(struct error *reason)
{
    const struct backend_wish wish = {.name = "auto"};
    engine_for(device_read().maker); /* without a job nothing has said so in this library */
    return backend_find(&wish, reason)->name;
}

bool epop__backend_parks(const char *name, const char *leave)
{
    struct error unknown;
    enum backend_leave wanted = LEAVE_AUTO;
    bool parks = !backend_leave(leave, &wanted, &unknown) && wanted == LEAVE_PARK, may = false;
    for (size_t i = 0; i < COUNT && parks; i++)
        may |= backends[i]->leavers == LEAVERS_DO_BOTH && backend_may_be(name, backends[i]);
    return may;
}
