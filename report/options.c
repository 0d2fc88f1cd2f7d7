/* The table of options, and what they are together: options stand before or behind the files. */
#include "report/options.h"

#include <stdio.h>
#include <string.h>

#include "terminal/output.h"

#define WIDTH_LEAST   240
#define WIDTH_MOST    4000
#define WIDTH_DEFAULT 640

static const struct option_row rows[] = {
    {"output", "PATH",
     "where to: a file, or a folder for the files of svg and csv; - is the standard output\n"
     "(report.html; folder report; with --chart the standard output)",
     OPT_TEXT(output), .letter = 'o'},
    {"format", "html|svg|csv", "one page with all charts, drawings, or their figures (html)", OPT_CHOICE(format)},
    {"chart", "NAME", "this one only, with svg or csv", OPT_TEXT(chart)},
    {"width", "PIXELS", "of a drawing (640)", OPT_WHOLE(width, WIDTH_LEAST, WIDTH_MOST)},
    {"version", NULL, "print the version", OPT_FLAG(version)},
    {0},
};

static const struct option_table table = {.rows = rows, .column = 26};

static void print_help(void)
{
    fputs("Usage: epop-report [OPTIONS] PROFILE [TRACE]\n"
          "       epop-report [OPTIONS] LOOPS\n"
          "       epop-report [OPTIONS] SCHEDULE\n"
          "       epop-report [OPTIONS] PAPER\n"
          "Makes a page, drawings or tables of what `epop --driver profile --output PROFILE` measured;\n"
          "with the trace of the same run (`epop --driver profile,trace`) it also shows what each process did when.\n"
          "Or of the loops of an executable, which the same command writes: how it calls MPI, and what that takes.\n"
          "Or of a schedule (`epopsim --output SCHEDULE`): which jobs were on which nodes when, and why.\n"
          "Or of a paper's evaluation, as bench/papers.py writes it: its figures, and those from here.\n\n",
          stdout);
    options_print(stdout, &table);
    fputs("\nCharts: world, resizes, phases, loops, functions, scaling, efficiency, fit (csv only), graph, traffic, "
          "timeline.\n"
          "Of loops: loops, calls.\n"
          "Of a schedule: metrics (csv only), gantt, queue, utilisation, slowdown, decisions (csv only).\n"
          "Of a paper: agreement, and those of its items by their names, as table1.\n"
          "PROFILE, LOOPS, SCHEDULE and PAPER may be - for the standard input.\n"
          "Exit status: 0 done, 1 could not write, 2 wrong usage, or a file that is none of epop's.\n",
          stdout);
}

static int complain_of(const char *text, const char *word)
{
    term_complain("%s%s%s%s (see epop-report --help)", text, word ? " \"" : "", word ? word : "", word ? "\"" : "");
    return -1;
}

/* The files, and what follows from options together. */
static int finish_options(struct options *options, int count, char **files)
{
    if (count < 1)
        return complain_of("which profile or schedule?", NULL);
    if (count > 2)
        return complain_of("a profile and a trace, and then", files[2]);
    options->file = files[0];
    options->trace = count > 1 ? files[1] : NULL;
    if (options->trace != NULL && strcmp(options->file, "-") == 0 && strcmp(options->trace, "-") == 0)
        return complain_of("only one file can be", "-");
    if (options->chart != NULL && options->format == FORMAT_HTML)
        return complain_of("--chart needs --format svg or csv", NULL);
    if (options->output == NULL)
        options->output = options->chart != NULL ? "-" : options->format == FORMAT_HTML ? "report.html" : "report";
    else if (options->chart == NULL && options->format != FORMAT_HTML && strcmp(options->output, "-") == 0)
        return complain_of("several files cannot go to the standard output: name a folder, or a --chart", NULL);
    return 0;
}

enum options_result options_parse(struct options *options, int argc, char **argv)
{
    struct error error;
    *options = (struct options){.format = FORMAT_HTML, .width = WIDTH_DEFAULT};
    int first = options_read(&table, argc, argv, options, &error);
    if (first == OPTIONS_WRONG)
        complain_of(error.text, NULL);
    else if (first == OPTIONS_HELP)
        print_help();
    else if (options->version)
        puts("epop-report " EPOP_VERSION);
    else
        return finish_options(options, argc - first, argv + first) != 0 ? OPTIONS_REFUSED : OPTIONS_GO;
    return first == OPTIONS_WRONG ? OPTIONS_REFUSED : OPTIONS_DONE;
}
