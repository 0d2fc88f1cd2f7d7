/* JSON files: read whole, and refused with a line that says what is wrong with them. */
#ifndef EPOP_REPORT_INPUT_H
#define EPOP_REPORT_INPUT_H

#include <stddef.h>

#include <cjson/cJSON.h>

/* The file's JSON value, "-" is the standard input; NULL with the reason in error. The caller frees it. */
cJSON *input_read(const char *path, char *error, size_t error_size);

#endif
