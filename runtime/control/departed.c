/*
 * Tools that have gone. PMIx keeps some 50 kB for each that ever attached, every epopctl too, until its namespace is
 * taken out. Not at once: one that says goodbye is still connected then.
 */
#include <stdlib.h>
#include <time.h>

#include "runtime/control/control_internal.h"

#define KEEP_SECONDS 3

typedef struct departed {
    struct departed *next;
    time_t when;
    pmix_nspace_t nspace;
} departed_t;

/* Of PMIx's progress thread. The oldest is first. */
static departed_t *first, **end = &first;

static time_t seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

void control_departed_add(const char *nspace)
{
    departed_t *one = calloc(1, sizeof *one);
    if (one == NULL)
        return;
    one->when = seconds();
    PMIX_LOAD_NSPACE(one->nspace, nspace);
    *end = one;
    end = &one->next;
}

static void forgotten(pmix_status_t status, void *cbdata)
{
    (void)status;
    free(cbdata);
}

void control_departed_forget(void)
{
    time_t now = seconds();

    while (first != NULL && now - first->when > KEEP_SECONDS) {
        departed_t *one = first;
        first = one->next;
        if (first == NULL)
            end = &first;
        PMIx_server_deregister_nspace(one->nspace, forgotten, one);
    }
}
