/*
 * What process 0 starts beside the job, when the job has its address file. What cannot be had is no fault of the job's,
 * and nothing of it holds a descriptor of the job.
 */
#ifndef EPOP_JOB_BESIDE_H
#define EPOP_JOB_BESIDE_H

/* In a Slurm job that an adviser is named for, by $EPOP_ADVISER (HOST:PORT, or "none"), else by the first line of
 * `adviser` in the directory of address files, or of /etc/epop/adviser: the attendant that connects the job with it
 * (lib/epop/attend link). */
void beside_attend(const char *address_file);

/* What standard tools of PMIx ask is answered by lib/epop/pmix-gateway. It sees by itself when the job ends. */
void beside_gateway(const char *address_file);

/* The job ends: so does the attendant, before whoever waits for the job's output. */
void beside_end(void);

#endif
