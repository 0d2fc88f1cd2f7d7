/* The commands' side of the daemon's socket. */
#ifndef SCHEDULER_EPOPRM_CLIENT_H
#define SCHEDULER_EPOPRM_CLIENT_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>

/* Connected; what is not answered in so many seconds times out. NULL: *code, after a line unless `quiet`. */
FILE *client_connect(double seconds, bool quiet, int *code);

/* Sends the request (still the caller's), and reads one answer. NULL: refused or no answer; *code, after a line. */
cJSON *client_ask(FILE *daemon, const cJSON *request, int *code);

/* Both, on a connection of its own; the request is gone then. */
cJSON *client_request(cJSON *request, int *code);

/* The next line that comes; NULL: the daemon is gone, or nothing came in time. */
cJSON *client_next(FILE *daemon);

#endif
