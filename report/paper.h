/* A paper's evaluation that was repeated: what `bench/papers.py --report` has written. */
#ifndef EPOP_REPORT_PAPER_H
#define EPOP_REPORT_PAPER_H

#include <cjson/cJSON.h>
#include <stdbool.h>

/* Does it look like one? */
bool paper_is(const cJSON *json);

/* Why it cannot be shown; NULL: it can. */
const char *paper_problem(const cJSON *json);

#endif
