/* The walk's part in a window. */
#ifndef EPOP_JOB_WALK_H
#define EPOP_JOB_WALK_H

/* The hook of runtime/world/world.h: the window's processes are connected. */
void job_connected(void);

#endif
