/* A paper's evaluation that was repeated: what `bench/papers.py --report` has written. */
#ifndef EPOP_REPORT_PAPER_H
#define EPOP_REPORT_PAPER_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/* Does it look like one? */
bool paper_is(const cJSON *json);

/* {"paper": ...} as text; NULL, with the reason in error. Takes the JSON. */
char *paper_text(cJSON *json, char *error, size_t error_size);

#endif
