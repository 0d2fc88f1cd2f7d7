/*
 * attend link HOST:PORT ADDRESSFILE: a job inside of Slurm starts it, so that the adviser can talk with it. It looks
 * for the adviser again and again, as that may die at any moment, and ends with the job.
 */
#ifndef SCHEDULER_ATTEND_LINK_H
#define SCHEDULER_ATTEND_LINK_H

#include <event2/event.h>
#include <stdint.h>
#include <sys/types.h>

#include "runtime/base/error.h"
#include "runtime/wire/line.h"

/* Its exit status. */
int link_to(const char *adviser, const char *address_file);

#endif
