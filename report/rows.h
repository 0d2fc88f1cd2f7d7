/* Tables as JSON: a list of rows, each a list of cells. A lack of memory is remembered. */
#ifndef EPOP_REPORT_ROWS_H
#define EPOP_REPORT_ROWS_H

#include <stdbool.h>

#include <cjson/cJSON.h>

struct rows {
    cJSON *list, *row;
    bool failed;
};

/* The list becomes a member of the object. */
struct rows rows_begin(cJSON *object, const char *key);
/* Cells that follow are those of a new row. */
void rows_next(struct rows *rows);
/* null for NAN. */
void rows_number(struct rows *rows, double value);
/* null for NULL. */
void rows_text(struct rows *rows, const char *text);
/* A copy of the object's member, null where there is none. */
void rows_member(struct rows *rows, const cJSON *object, const char *key);

#endif
