/* lib/epop/munge.so: libmunge behind scheduler/munge/munge.h. */
#include "scheduler/munge/munge.h"

#include <munge.h>
#include <stdlib.h>
#include <string.h>

#include <epop/visibility.h>

#define SECONDS 60

static munge_ctx_t context(const char *socket)
{
    munge_ctx_t made = munge_ctx_create();
    if (made && socket)
        munge_ctx_set(made, MUNGE_OPT_SOCKET, socket);
    return made;
}

static const char *make(const char *socket, const char *text, uid_t reader, char **credential)
{
    munge_ctx_t ctx = context(socket);
    munge_err_t result = EMUNGE_NO_MEMORY;
    if (ctx) {
        munge_ctx_set(ctx, MUNGE_OPT_TTL, SECONDS);
        munge_ctx_set(ctx, MUNGE_OPT_UID_RESTRICTION, reader);
        result = munge_encode(credential, ctx, text, (int)strlen(text));
        munge_ctx_destroy(ctx);
    }
    return result ? munge_strerror(result) : NULL;
}

/* libmunge ends a payload with a zero, which it does not count. */
static const char *check(const char *socket, const char *credential, char **text, uid_t *uid)
{
    munge_ctx_t ctx = context(socket);
    munge_err_t result = EMUNGE_NO_MEMORY;
    gid_t gid;
    int length = 0;
    void *payload = NULL;
    if (ctx) {
        result = munge_decode(credential, ctx, &payload, &length, uid, &gid);
        munge_ctx_destroy(ctx);
    }
    if (!result && (!payload || memchr(payload, '\0', (size_t)length)))
        result = EMUNGE_CRED_INVALID;
    if (result)
        free(payload);
    else
        *text = payload;
    return result ? munge_strerror(result) : NULL;
}

EPOP_EXPORT extern const struct munge_module munge_module;
const struct munge_module munge_module = {make, check};
