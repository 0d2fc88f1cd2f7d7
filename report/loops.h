/* The loops of an executable: what `epop --driver profile` has written of one, or `epopctl measure --json`. */
#ifndef EPOP_REPORT_LOOPS_H
#define EPOP_REPORT_LOOPS_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/* Does it look like one? */
bool loops_is(const cJSON *json);

/* {"loops": ...} as text, with names of places that can be read here; NULL, with the reason in error. Takes the JSON.
 */
char *loops_text(cJSON *json, char *error, size_t error_size);

#endif
