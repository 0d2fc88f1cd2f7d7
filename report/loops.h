/*
 * The loops of an executable: what `epop --driver profile` has written of one, or `epopctl measure --json`; and those
 * in the phases of a profile.
 */
#ifndef EPOP_REPORT_LOOPS_H
#define EPOP_REPORT_LOOPS_H

#include <cjson/cJSON.h>
#include <stdbool.h>

/* Does it look like one? */
bool loops_is(const cJSON *json);

/* Adds names of places that can be read here. Why they cannot be shown; NULL: they can. */
const char *loops_prepare(cJSON *json);

/* Adds what each is called, by the places that the profile names. */
void loops_name_in_phases(cJSON *profile);

#endif
