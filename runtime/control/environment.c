/*
 * A job may itself have been started by a PMIx launcher (srun --mpi=pmix), whose variables would make our
 * server or tool take itself for a client of that one.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/control/control_internal.h"

extern char **environ;

struct control_environment {
    size_t count;
    char *entries[]; /* NAME=VALUE */
};

/* PMIX_MCA_* are settings of the user's own, and stay. */
static int belongs_to_launcher(const char *entry)
{
    return strncmp(entry, "PMIX_", 5) == 0 && strncmp(entry, "PMIX_MCA_", 9) != 0;
}

control_environment_t *control_environment_hide(void)
{
    size_t count = 0;

    for (char **entry = environ; entry != NULL && *entry != NULL; entry++)
        count += (size_t)belongs_to_launcher(*entry);
    if (count == 0)
        return NULL;
    control_environment_t *hidden = calloc(1, sizeof *hidden + count * sizeof(char *));
    if (hidden == NULL)
        return NULL;
    for (char **entry = environ; *entry != NULL && hidden->count < count; entry++)
        if (belongs_to_launcher(*entry) && (hidden->entries[hidden->count] = strdup(*entry)) != NULL)
            hidden->count++;
    for (size_t i = 0; i < hidden->count; i++) {
        char *equals = strchr(hidden->entries[i], '=');
        *equals = '\0';
        unsetenv(hidden->entries[i]);
    }
    return hidden;
}

void control_environment_restore(control_environment_t *hidden)
{
    if (hidden == NULL)
        return;
    for (size_t i = 0; i < hidden->count; i++) {
        setenv(hidden->entries[i], hidden->entries[i] + strlen(hidden->entries[i]) + 1, 1);
        free(hidden->entries[i]);
    }
    free(hidden);
}
