/* Slurm's own user, whom jobs of Slurm trust anyway. */
#ifndef SCHEDULER_ATTEND_SLURM_USER_H
#define SCHEDULER_ATTEND_SLURM_USER_H

#include <sys/types.h>

/* By SlurmUser of slurm.conf ($SLURM_CONF, or where packages have it); root where that does not say it. */
uid_t slurm_user(void);

#endif
