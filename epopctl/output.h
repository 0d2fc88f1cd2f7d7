/* What epopctl prints: tables for people, tab-separated lines for programs, JSON. */
#ifndef EPOP_CTL_OUTPUT_H
#define EPOP_CTL_OUTPUT_H

#include <cjson/cJSON.h>
#include <stdbool.h>

/* One line on stderr, "epopctl: ...". */
void ctl_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A table: aligned for people, tab-separated when stdout is no terminal. Cells are copied. */
struct ctl_table;
struct ctl_table *ctl_table_new(int columns, const char *const *titles);
void ctl_table_add(struct ctl_table *table, const char *const *cells);
/* On a terminal: too wide a table goes without these columns, the first of them first, and is cut where that is not
 * enough. `drop` stays valid. */
void ctl_table_drop(struct ctl_table *table, const int *drop, int count);
void ctl_table_print(struct ctl_table *table); /* and frees it */
bool ctl_for_people(void);
/* Of the terminal. */
int ctl_columns(void);

void ctl_print_json(const cJSON *json);
/* A text member of a JSON object, with a default where it is missing. */
const char *ctl_text(const cJSON *object, const char *name, const char *otherwise);
/* "3 d 4 h", "5 min 6 s", "1.2 s" */
void ctl_duration(double seconds, char text[32]);

#endif
