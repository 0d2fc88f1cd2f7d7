/* The Slurm job that this process runs in, by its environment. */
#ifndef EPOP_BASE_SLURM_H
#define EPOP_BASE_SLURM_H

/* lib/epop/step sets it for the processes that it starts: Hydra gives them the first job's SLURM_JOB_ID. */
#define SLURM_STEP_JOB "EPOP_SLURM_JOB"

/* Its number; 0: in none. */
int slurm_job(void);

#endif
