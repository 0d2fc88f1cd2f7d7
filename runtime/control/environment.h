/* What PMIx finds around it; control_prepare (control.h) sets it up. */
#ifndef EPOP_CONTROL_ENVIRONMENT_H
#define EPOP_CONTROL_ENVIRONMENT_H

/* PMIx has started, and read its variable, which must not reach the processes that this one starts. */
void control_environment_restore(void);
/* Closes what control_prepare opened. */
void control_leave_nothing(void);

#endif
