/* The door in front of PMIx: who comes in, with limits on size, number and time. */
#ifndef EPOP_CONTROL_ADMISSION_H
#define EPOP_CONTROL_ADMISSION_H

#include "runtime/control/control.h"

/* Takes the place of PMIx's listener, at an address that is put into uri; `directory` is private. 0, or -1 with
 * errno. */
int control_admission_open(char uri[CONTROL_URI_MAX], const char *directory);
void control_admission_close(void);
/* One of these is called by tool_connected. Swap gives PMIx the newcomer's own connection: its descriptor, or -1 when
 * the newcomer has gone. Refuse ends the handover of one that may not attach. */
int control_admission_swap(void);
void control_admission_refuse(void);
/* PMIx has answered the newcomer: the answer may go out. */
void control_admission_uncork(int fd);

#endif
