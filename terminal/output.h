/* What programs print: tables for people, tab-separated lines for programs, JSON. */
#ifndef TERMINAL_OUTPUT_H
#define TERMINAL_OUTPUT_H

#include <cjson/cJSON.h>
#include <stdbool.h>

/* One line on stderr: the program's name, ": ", the text by printf's rules, with ? for what moves a terminal's cursor.
 * What was printed before comes first. */
void term_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What was printed must have got there: `epopctl list > /dev/full` has not done its work. The exit status, which is 1
 * then where it was 0. */
int term_finish(int status);

/* Writes the text and what it ends with, "" or "\n". A regular file is written beside its place and put there when it
 * is whole; what a symbolic link points to is replaced; a device or a pipe is written to as it is; "-" is the standard
 * output. 0, or an errno. */
int term_write(const char *path, const char *text, const char *end);
/* A new file beside that path, as permissions are for files that programs make; `name`, of PATH_MAX bytes, is what it
 * is called. Its descriptor, or -1 with errno. */
int term_open_beside(const char *path, char *name);

/* A table: aligned for people, tab-separated when stdout is no terminal. Cells are copied. */
struct term_table;
struct term_table *term_table_new(int columns, const char *const *titles);
void term_table_add(struct term_table *table, const char *const *cells);
/* On a terminal: too wide a table goes without these columns, the first of them first, and is cut where that is not
 * enough. `drop` stays valid. */
void term_table_drop(struct term_table *table, const int *drop, int count);
void term_table_print(struct term_table *table); /* and frees it */

#define TERM_GAP 2 /* characters between two columns */

/* Drops columns, in the order of `drop`, until the others fit into so many characters; *shown says which stay. Those
 * that are not in `drop` stay even if they do not fit. */
void term_fit(const int *widths, int columns, const int *drop, int drops, int room, bool *shown);

bool term_for_people(void);
/* Of the terminal. */
int term_columns(void);

void term_print_json(const cJSON *json);
/* A text member of a JSON object, with a default where it is missing. */
const char *term_text(const cJSON *object, const char *name, const char *otherwise);
/* A number member of a JSON object, by one printf format; "-" where it is missing. */
const char *term_figure(const cJSON *object, const char *name, const char *format, char text[32]);
/* "3 d 4 h", "5 min 6 s", "1.2 s" */
void term_duration(double seconds, char text[32]);
/* "1.2 GiB" */
void term_bytes(double bytes, char text[32]);

#endif
