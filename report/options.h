/* The command line of epop-report. */
#ifndef EPOP_REPORT_OPTIONS_H
#define EPOP_REPORT_OPTIONS_H

#include "terminal/options.h"

enum format { FORMAT_HTML, FORMAT_SVG, FORMAT_CSV };

struct options {
    enum format format;
    const char *file;   /* a profile or a schedule; "-": the standard input */
    const char *trace;  /* NULL: none */
    const char *output; /* a file, or with FORMAT_SVG and FORMAT_CSV and no chart a folder; "-": the standard output */
    const char *chart;  /* NULL: all */
    int width;          /* of a drawing, in pixels */
    bool version;
};

enum options_result { OPTIONS_GO, OPTIONS_DONE, OPTIONS_REFUSED };

/* OPTIONS_DONE: help or the version was printed. OPTIONS_REFUSED: an error was. The strings are argv's. */
enum options_result options_parse(struct options *options, int argc, char **argv);

#endif
