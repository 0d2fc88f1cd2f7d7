/* What epopsim prints and writes: errors, tables, and runs as JSON. */
#ifndef SCHEDULER_EPOPSIM_OUTPUT_H
#define SCHEDULER_EPOPSIM_OUTPUT_H

#include <cjson/cJSON.h>
#include <stdio.h>

#include "runtime/base/error.h"
#include "scheduler/epopsim/trials.h"

enum { EXIT_DONE, EXIT_FAILED, EXIT_USAGE };

/* Errors are printed here alone: one line, whatever of the input it quotes. Gives the status back. */
int output_complain(int status, const struct error *error);

/* ---- JSON --------------------------------------------------------------------------------------- */

/* By schema/schedule.schema.json, and the metrics alone by schema/metrics.schema.json. NULL: no memory. */
cJSON *output_schedules(const struct trials *trials, const struct options *options, const struct workload *workload);
cJSON *output_metrics(const struct trials *trials, const struct options *options, const struct workload *workload);

/* path: "-" is the standard output. A regular file is whole or as it was before. Takes the JSON, which may be NULL: no
 * memory. 0, or -1 with text. */
int output_write(const char *path, cJSON *json, struct error *error);

/* ---- Tables ------------------------------------------------------------------------------------- */

/* The metrics of several runs side by side, for people: in brackets, each figure's ratio to the first run's. */
void output_table(FILE *file, const struct trials *trials);
/* Every metric, unrounded, with tabs between them. */
void output_tsv(FILE *file, const struct trials *trials);

#endif
