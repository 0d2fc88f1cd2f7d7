/*
 * One row of the table of options: what it is called, what kind of value it takes, and where that goes. Most options
 * are such a row and nothing else.
 */
#ifndef DRIVER_OPTION_H
#define DRIVER_OPTION_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/base/error.h"

struct parse; /* the parser's own: see options.c */

/* What the option takes, and the type of its target. */
enum option_kind {
    OPTION_FLAG,    /* nothing; bool */
    OPTION_RANKS,   /* a number from 1 on; int */
    OPTION_COUNT,   /* a number from 1 on; int */
    OPTION_SECONDS, /* from 0 on, perhaps with s, m or h behind; double */
    OPTION_CHOICE,  /* the first of two words, which is false, or the second; bool */
    OPTION_TEXT,    /* anything; const char *, which points into the process's arguments */
    OPTION_ACTION,  /* anything: `act` is called with it */
};

struct option_row {
    const char *name;     /* without the dashes */
    const char *argument; /* for --help; NULL: takes none */
    const char *help;
    enum option_kind kind;
    size_t target; /* the distance of its value from the begin of the structure that is filled in */
    char letter;   /* short form; 0: has none */
    const char *words[2];
    const char *goes_with; /* another option, without which this one is refused */
    int (*act)(struct parse *parse, const char *value, struct error *error);
};

/* Sets the option's value in the structure at `options`; no action. 0, or -1 with one line of text. */
int option_set(const struct option_row *row, void *options, const char *value, struct error *error);

/* Has it a value other than 0, false or NULL? */
bool option_is_set(const struct option_row *row, const void *options);

#endif
