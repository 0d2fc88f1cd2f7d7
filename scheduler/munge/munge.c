/* Credentials, by the module: see munge.h. */
#include "scheduler/munge/munge.h"

#include <stdlib.h>

#include "scheduler/munge/module.h"

/* Tests and sites with several munged name theirs, as Slurm's AuthInfo does. */
static const char *socket_name(void)
{
    const char *name = getenv("EPOP_MUNGE_SOCKET");
    return name && *name ? name : NULL;
}

static const struct munge_module *module(struct error *error)
{
    static const struct munge_module *loaded;
    if (!loaded)
        loaded = module_load("munge.so", "munge_module", error);
    return loaded;
}

int munge_make(const char *text, uid_t reader, char **credential, struct error *error)
{
    const struct munge_module *munge = module(error);
    const char *wrong = munge ? munge->make(socket_name(), text, reader, credential) : NULL;
    if (!munge)
        return -1;
    return wrong ? error_set(error, ERROR_FAILED, "munge makes no credential: %s", wrong) : 0;
}

int munge_check(const char *credential, char **text, uid_t *uid, struct error *error)
{
    const struct munge_module *munge = module(error);
    const char *wrong = munge ? munge->check(socket_name(), credential, text, uid) : NULL;
    if (!munge)
        return -1;
    return wrong ? error_set(error, ERROR_REFUSED, "munge does not take the credential: %s", wrong) : 0;
}
