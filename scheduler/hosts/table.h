/* What the commands do to a daemon of hosts. */
#ifndef SCHEDULER_HOSTS_TABLE_H
#define SCHEDULER_HOSTS_TABLE_H

#include "scheduler/daemon/daemon.h"

/* Its context is a struct hosts. */
extern const struct daemon_table hosts_table;

#endif
