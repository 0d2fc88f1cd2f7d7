/* What the commands say when they cannot, and how they read what they are given. */
#ifndef SCHEDULER_EPOPRM_SAY_H
#define SCHEDULER_EPOPRM_SAY_H

#include <cjson/cJSON.h>
#include <stddef.h>
#include <stdint.h>

/* One line on stderr, "epoprm: ...". */
void rm_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A job's number: 0, or -1 after a line. */
int rm_job_number(const char *text, int64_t *number);

/* What an event says: "4 -> 2 nodes (n3,n4): somebody waits". */
void rm_event_text(const cJSON *event, char *text, size_t size);

/* "12:30:05", with the day where it is not today. */
void rm_clock(double time, char text[32]);

#endif
