/* For a process that left its job, and is no member any more: hears when that job is over. */
#ifndef EPOP_CONTROL_LIFELINE_H
#define EPOP_CONTROL_LIFELINE_H

#include <stdbool.h>
#include <stddef.h>

/* A descriptor that comes to its end of file when the job of that address and token has ended; nothing is to be read
 * from it. -1: it cannot be reached, so it has ended. May wait some seconds for a host that does not answer. */
int control_lifeline(const char *uri, const char *token);

/* ---- The server's side, for its door (admission.c) ---- */

/* Is this first message one of control_lifeline's? */
bool control_lifeline_asked(const char *bytes, size_t size);
/* Takes the connection over. */
void control_lifeline_keep(int fd);
/* The job has ended: whoever asked hears of it, and so does at once whoever will. Any thread. */
void control_lifeline_cut(void);

#endif
