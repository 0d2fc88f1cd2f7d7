/*
 * Tools that have gone. PMIx keeps some 50 kB for each that ever attached, every epopctl too, until its namespace is
 * taken out. Not at once: one that says goodbye is still connected then.
 */
#include "runtime/control/namespaces.h"

#include <pmix_server.h>
#include <stdlib.h>

#include "runtime/base/clock.h"

#define KEEP_SECONDS 3

struct departed {
    struct departed *next;
    double when;
    pmix_nspace_t nspace;
};

/* Of PMIx's progress thread. The oldest is first. */
static struct departed *first, **end = &first;

void control_namespaces_gone(const char *nspace)
{
    struct departed *one = calloc(1, sizeof *one);
    if (!one)
        return;
    one->when = monotonic_seconds();
    PMIX_LOAD_NSPACE(one->nspace, nspace);
    *end = one;
    end = &one->next;
}

static void forgotten(pmix_status_t status, void *cbdata)
{
    (void)status;
    free(cbdata);
}

void control_namespaces_forget(void)
{
    double now = monotonic_seconds();
    while (first && now - first->when > KEEP_SECONDS) {
        struct departed *one = first;
        first = one->next;
        if (!first)
            end = &first;
        PMIx_server_deregister_nspace(one->nspace, forgotten, one);
    }
}
