/* The commands' side of the daemon's socket. */
#ifndef SCHEDULER_EPOPRM_CLIENT_H
#define SCHEDULER_EPOPRM_CLIENT_H

#include <cjson/cJSON.h>
#include <stdbool.h>

struct client;

/* Connected; what is not answered in so many seconds times out (0: never). NULL: *code, after a line unless `quiet`. */
struct client *client_connect(double seconds, bool quiet, int *code);
/* May be NULL. */
void client_close(struct client *client);

/* Sends the request (still the caller's), and waits for one answer; where too many talk to the daemon, on another
 * connection for half a minute. NULL: refused or no answer; *code, after a line. */
cJSON *client_ask(struct client *client, const cJSON *request, int *code);

/* Both, on a connection of its own; the request is gone then. */
cJSON *client_request(cJSON *request, int *code);

/* The next line that comes; NULL: nothing came in time, or nothing will: *gone, which may be NULL. */
cJSON *client_next(struct client *client, bool *gone);

#endif
