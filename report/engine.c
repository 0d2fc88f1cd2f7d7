/* Runs the JavaScript in Duktape. Every call that may fail is protected, as it would end the process otherwise. */
#include "report/engine.h"

#include <duktape.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* report.js, from assets.S. */
extern const char report_script[], report_script_end[];

struct engine {
    duk_context *context;
};

static void died(void *data, const char *message)
{
    (void)data;
    fprintf(stderr, "epop-report: %s\n", message != NULL ? message : "the JavaScript engine failed");
    exit(1);
}

/* ECharts looks for timers; where nothing is animated, nothing waits for them. */
static duk_ret_t no_timer(duk_context *context)
{
    duk_push_int(context, 0);
    return 1;
}

static void add_timers(duk_context *context)
{
    static const char *const names[] = {"setTimeout", "clearTimeout"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        duk_push_c_function(context, no_timer, DUK_VARARGS);
        duk_put_global_string(context, names[i]);
    }
}

/* Takes the error off the stack. */
static void explain_error(duk_context *context, char *error, size_t error_size)
{
    snprintf(error, error_size, "%s", duk_safe_to_stacktrace(context, -1));
    error[strcspn(error, "\n")] = '\0';
    duk_pop(context);
}

struct engine *engine_start(char *error, size_t error_size)
{
    struct engine *engine = calloc(1, sizeof *engine);
    if (engine != NULL)
        engine->context = duk_create_heap(NULL, NULL, NULL, NULL, died);
    if (engine == NULL || engine->context == NULL) {
        snprintf(error, error_size, "no memory");
        free(engine);
        return NULL;
    }
    add_timers(engine->context);
    if (duk_peval_lstring(engine->context, report_script, (size_t)(report_script_end - report_script)) != 0) {
        explain_error(engine->context, error, error_size);
        engine_stop(engine);
        return NULL;
    }
    duk_pop(engine->context);
    return engine;
}

void engine_stop(struct engine *engine)
{
    if (engine != NULL)
        duk_destroy_heap(engine->context);
    free(engine);
}

/* The arguments of engine_call, for a protected call. */
struct call {
    const char *function, *json, *chart;
    int width;
};

static duk_ret_t call_inside(duk_context *context, void *data)
{
    const struct call *call = data;
    duk_get_global_string(context, "report");
    duk_push_string(context, call->function);
    duk_push_string(context, call->json);
    duk_push_string(context, call->chart);
    duk_push_int(context, call->width);
    duk_call_prop(context, -5, 3);
    duk_require_string(context, -1);
    return 1;
}

char *engine_call(struct engine *engine, const char *function, const char *json, const char *chart, int width,
                  char *error, size_t error_size)
{
    struct call call = {.function = function, .json = json, .chart = chart, .width = width};
    if (duk_safe_call(engine->context, call_inside, &call, 0, 1) != 0) {
        explain_error(engine->context, error, error_size);
        return NULL;
    }
    char *text = strdup(duk_get_string(engine->context, -1));
    duk_pop(engine->context);
    if (text == NULL)
        snprintf(error, error_size, "no memory");
    return text;
}
