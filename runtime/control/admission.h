/* The door in front of PMIx: who comes in, with limits on size, number and time. */
#ifndef EPOP_CONTROL_ADMISSION_H
#define EPOP_CONTROL_ADMISSION_H

#include "runtime/control/control.h"

/* Takes the place of PMIx's listener, at an address that is put into uri; `directory` is private. 0, or -1 with
 * errno. */
int control_admission_open(char uri[CONTROL_URI_MAX], const char *directory);
void control_admission_close(void);
/* Called by tool_connected: gives PMIx the newcomer's own connection. Its descriptor, or -1. */
int control_admission_swap(void);
/* PMIx has answered the newcomer: the answer may go out. */
void control_admission_uncork(int fd);

#endif
