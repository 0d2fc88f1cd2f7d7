/* The drivers that record (hooks record and write), handed to the runtime. */
#ifndef DRIVER_RECORDING_H
#define DRIVER_RECORDING_H

#include "driver/epop/drivers.h"

/* Before the job starts; *drivers stays where it is until the end. */
void recording_use(struct drivers *drivers, int quiet);

#endif
