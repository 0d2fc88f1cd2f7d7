/* The walk's part in a window. */
#ifndef EPOP_JOB_WALK_H
#define EPOP_JOB_WALK_H

/* For struct world_services: the window's processes are connected. */
void job_connected(void);

#endif
