/* The options of the trace driver. */
#ifndef TRACE_OPTIONS_H
#define TRACE_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include <epop/driver.h>

struct trace_options {
    char output[4096]; /* "": PROGRAM.trace.json */
    int64_t least_call, limit, buffer;
};

extern const epop_driver_option_t trace_option_list[];

void trace_options_init(struct trace_options *options);

/* EPOP_OK, or EPOP_ERR_ARGUMENT: the value is none for that option. */
int trace_options_set(struct trace_options *options, const char *name, const char *value);

#endif
