/* In a Slurm job that an adviser is named for: the attendant that connects the job with it (lib/epop/attend link). */
#ifndef EPOP_JOB_ADVISER_H
#define EPOP_JOB_ADVISER_H

/* Process 0, when the job has its address file. $EPOP_ADVISER (HOST:PORT, or "none"), else the first line of `adviser`
 * in the directory of address files, or of /etc/epop/adviser. What cannot be had is no fault of the job's. */
void adviser_attend(const char *address_file);

/* The job ends: so does the attendant, before whoever waits for the job's output. */
void adviser_end(void);

#endif
