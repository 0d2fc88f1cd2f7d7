/* The JavaScript that makes charts and pages (report/web), run in Duktape. */
#ifndef EPOP_REPORT_ENGINE_H
#define EPOP_REPORT_ENGINE_H

#include <stddef.h>

struct engine;

/* NULL with the reason in error. */
struct engine *engine_start(char *error, size_t error_size);
void engine_stop(struct engine *engine);

/*
 * Calls a function of src/server.js with a JSON text, the name of a chart and a width; those that it does not take are
 * ignored. The text that it gives is the caller's to free; NULL with the reason in error.
 */
char *engine_call(struct engine *engine, const char *function, const char *json, const char *chart, int width,
                  char *error, size_t error_size);

#endif
