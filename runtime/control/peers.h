/* Who is attached to the server: members by number, and epopctls. */
#ifndef EPOP_CONTROL_PEERS_H
#define EPOP_CONTROL_PEERS_H

#include <pmix.h>
#include <stdbool.h>
#include <stddef.h>

void control_peers_add(const char *nspace, int process);
/* Marks the member as ready for messages. Its number, or -1 if it is unknown or that number is taken. */
int control_peers_ready(const char *nspace);
/* Takes it out of the table. 0 with its number (-1: an epopctl) and whether it was ready, -1 if unknown. */
int control_peers_remove(const char *nspace, int *process, bool *ready);
/* Called for whoever speaks. 0 with its number (-1: an epopctl), -1 if it is unknown. */
int control_peers_find(const char *nspace, int *process);
int control_peers_watch(const char *nspace);
/* The ready member of that number, or all of them (CONTROL_ALL); the watching epopctls; everybody.
 * *procs is the caller's to free. How many. */
enum control_audience { CONTROL_MEMBERS, CONTROL_WATCHERS, CONTROL_EVERYBODY };
size_t control_peers_list(enum control_audience audience, int process, pmix_proc_t **procs);
/* Waits until nobody who ever spoke is attached, at most timeout_ms. */
void control_peers_drain(int timeout_ms);
void control_peers_forget(void);

#endif
