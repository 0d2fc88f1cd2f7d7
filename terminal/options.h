/*
 * The options of a program, or of one of its commands: a table of rows, by which --help is printed and the command line
 * read, with getopt_long. An option is a line there, and one in the program's page of docs/man.
 */
#ifndef TERMINAL_OPTIONS_H
#define TERMINAL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "runtime/base/error.h"

/* What a command line says. Each program has its own, as no two are ever linked. */
struct options;

/* What an option takes, and the type of the member that it sets. */
enum option_kind {
    OPTION_FLAG,    /* nothing; bool */
    OPTION_TEXT,    /* anything; const char *, which stays the command line's */
    OPTION_WHOLE,   /* a whole number from `least` to `most`; int */
    OPTION_NUMBER,  /* a number from `least` to `most`; double */
    OPTION_SECONDS, /* from 0 on, perhaps with s, m, h or d behind; double */
    OPTION_CHOICE,  /* one of the words of `argument`, as "html|svg|csv"; an enum, from 0 on */
    OPTION_OWN,     /* anything: `take` is called with it */
};

struct option_row {
    const char *name;     /* without the dashes */
    const char *argument; /* NULL: takes none; "[=WORD]": may go without */
    const char *help;     /* lines, with \n between them */
    enum option_kind kind;
    size_t target; /* of the member, in bytes from the beginning of struct options */
    double least, most;
    char letter; /* short form; 0: has none */
    /* value: NULL where there is none. 0, or -1 with one line of text. */
    int (*take)(const struct option_row *row, struct options *options, const char *value, struct error *error);
    const char *goes_with; /* another option, without which this one is refused */
    const char *group;     /* of a table's help, the headline above this row */
};

/* A kind with its member, whose type must be that of the kind. */
#define OPTION_MEMBER(type, member)                                                                                    \
    (offsetof(struct options, member) + 0 * sizeof(char[_Generic(((struct options *)0)->member, type : 1)]))
#define OPTION_SETS(of_kind, type, member) .kind = (of_kind), .target = OPTION_MEMBER(type, member)
#define OPT_FLAG(member)                   OPTION_SETS(OPTION_FLAG, bool, member)
#define OPT_TEXT(member)                   OPTION_SETS(OPTION_TEXT, const char *, member)
#define OPT_SECONDS(member)                OPTION_SETS(OPTION_SECONDS, double, member)
#define OPT_CHOICE(member)                 OPTION_SETS(OPTION_CHOICE, unsigned, member)
#define OPT_COUNT(member)                  OPT_WHOLE(member, 1, INT_MAX)
#define OPT_WHOLE(member, from, to)        OPTION_SETS(OPTION_WHOLE, int, member), .least = (from), .most = (to)
#define OPT_NUMBER(member, from, to)       OPTION_SETS(OPTION_NUMBER, double, member), .least = (from), .most = (to)
#define OPT_OWN(function)                  .kind = OPTION_OWN, .take = (function)

/* The rows end with one that has no name. Every table has -h, --help besides. */
struct option_table {
    const struct option_row *rows;
    int column;        /* where --help begins to tell of an option */
    bool ends_at_word; /* options stand before the first word; else anywhere */
    const char *hint;  /* behind an option that is unknown; NULL: none */
};

enum { OPTIONS_MAX = 128, OPTIONS_WRONG = -1, OPTIONS_HELP = -2 };

/*
 * Reads argv[1] and what follows into *options, in their order; words that are no options are moved behind them, in
 * their order. The number of the first one in argv (argc: there is none), OPTIONS_WRONG with one line of text, or
 * OPTIONS_HELP at -h or --help, where the rest was not read. A row's `take` may change the table.
 */
int options_read(const struct option_table *table, int argc, char **argv, struct options *options, struct error *error);

/* A line for each, and one for --help. */
void options_print(FILE *file, const struct option_table *table);

/* What a mistyped word may have meant: of `names`, which end with NULL, the one that differs from it in the fewest
 * letters, at most two. NULL: none does. */
const char *options_nearest(const char *word, const char *const *names);

#endif
