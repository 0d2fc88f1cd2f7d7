/*
 * Results of drivers: the file that one goes to, which is the old one or the whole new one and never a part; and what
 * several results have in common.
 */
#ifndef DRIVER_OUTPUT_H
#define DRIVER_OUTPUT_H

#include <cjson/cJSON.h>
#include <epop/driver.h>

#include "runtime/base/error.h"

/* Can the file be written? Before anything runs. 0, or -1 with one line of text. */
int output_check(const char *path, struct error *error);

/* Writes the text, and the end of a line. What is no ordinary file (a pipe, /dev/stdout) is written to as it is. 0, or
 * -1 with text. */
int output_write(const char *path, const char *text, struct error *error);

/* Adds the array "recoveries" of the job, those by epop --recover, if there were any. */
void output_add_recoveries(cJSON *object, const epop_job_t *job);

#endif
