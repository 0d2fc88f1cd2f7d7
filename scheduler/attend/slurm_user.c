/* SlurmUser of slurm.conf: see slurm_user.h. */
#include "scheduler/attend/slurm_user.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

static FILE *open_conf(void)
{
    static const char *const usual[] = {"/etc/slurm/slurm.conf", "/etc/slurm-llnl/slurm.conf",
                                        "/run/slurm/conf/slurm.conf"};
    const char *named = getenv("SLURM_CONF");
    FILE *file = named && *named ? fopen(named, "re") : NULL;
    for (size_t i = 0; !file && i < sizeof usual / sizeof *usual; i++)
        file = fopen(usual[i], "re");
    return file;
}

/* "SlurmUser=slurm" or "SlurmUser=slurm(64030)" */
static uid_t uid_of(const char *name)
{
    const struct passwd *entry = getpwnam(name);
    return entry ? entry->pw_uid : 0;
}

uid_t slurm_user(void)
{
    char line[1024], name[128];
    FILE *file = open_conf();
    uid_t uid = 0;
    while (file && fgets(line, sizeof line, file))
        if (!strncasecmp(line, "SlurmUser", 9) && sscanf(line + 9, " = %127[^ \t\n(#]", name) == 1)
            uid = uid_of(name);
    if (file)
        fclose(file);
    return uid;
}
