/*
 * Programs whose first word is a command, as `epopctl resize`: a table of commands, each with a table of options. What
 * such a program prints and how it ends is the same for all.
 */
#ifndef TERMINAL_COMMANDS_H
#define TERMINAL_COMMANDS_H

#include "terminal/options.h"

/* Exit statuses. */
enum { COMMAND_DONE = 0, COMMAND_REFUSED = 1, COMMAND_USAGE = 2, COMMAND_NO_JOB = 3, COMMAND_TIMEOUT = 4 };

struct command {
    const char *name, *synopsis, *summary;
    const char *words;                /* lines of its help on what is no option; NULL: none */
    const struct option_row *options; /* end with one that has no name */
    const char *notes;                /* lines of its help behind the options; NULL: none */
    int least, most;                  /* how many words; most: -1: any number, and options end at the first */
    int (*run)(const struct options *options);
    bool (*is_word)(const char *text); /* of what begins with a dash, what is no option; NULL: nothing */
};

struct commands {
    const char *program, *usage, *purpose; /* usage: what stands behind COMMAND */
    const char *notes;                     /* of its help, behind the commands; NULL: none */
    const char *statuses;                  /* of every help, the last line */
    const struct command *rows;            /* end with one that has no name */
    int (*take)(const struct command *command, struct options *options, int count, char **words, struct error *error);
    struct options *options;
};

/* main of such a program; `take` is called with the words that are no options. The exit status. */
int commands_main(const struct commands *commands, int argc, char **argv);

#endif
