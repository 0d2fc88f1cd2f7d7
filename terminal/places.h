/* Places in programs by the names that people know them by. */
#ifndef TERMINAL_PLACES_H
#define TERMINAL_PLACES_H

#include <cjson/cJSON.h>

#define PLACES_NAME 64

/*
 * Of all loops in an answer to `measure`: adds "function" and "line" ("cg.c:12") to where their first and last calls
 * are, and "from_function" and "from_line", as far as the program can be read here and has debug information.
 */
void places_name_loops(cJSON *loops);

/* The same of the places in a process's graph, each under "site". */
void places_name_calls(cJSON *calls);

/* The same of the loops in jobs' statuses, which may be missing. */
void places_name_present(cJSON *const *statuses, int count);

/* "cg.c:12", or "cg+0x24d6" where nothing is known. */
const char *places_site_name(const cJSON *site, char text[PLACES_NAME]);

/* What a loop is called: "cg.c:12-30", from its first call to its last one as the function of the first sees it, or
 * "cg+0x24d6" where nothing is known. */
const char *places_loop_name(const cJSON *loop, char text[PLACES_NAME]);

#endif
