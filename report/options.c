/* Parses the command line by getopt_long: options stand before or behind the files. */
#include "report/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH_LEAST   240
#define WIDTH_MOST    4000
#define WIDTH_DEFAULT 640

enum { CHART = 256, FORMAT, WIDTH, VERSION };

static const char *const formats[] = {[FORMAT_HTML] = "html", [FORMAT_SVG] = "svg", [FORMAT_CSV] = "csv"};

static const char help[] =
    "Usage: epop-report [OPTIONS] PROFILE [TRACE]\n"
    "       epop-report [OPTIONS] SCHEDULE\n"
    "Makes a page, drawings or tables of what `epop --driver profile --output PROFILE` measured;\n"
    "with the trace of the same run (`epop --driver profile,trace`) it also shows what each process did when.\n"
    "Or of a schedule (`epopsim --output SCHEDULE`): which jobs were on which nodes when, and why.\n\n"
    "  -o, --output PATH   where to: a file, or a folder for the files of svg and csv; - is the standard output\n"
    "                      (report.html; folder report; with --chart the standard output)\n"
    "  --format html|svg|csv  one page with all charts, drawings, or their figures (html)\n"
    "  --chart NAME        this one only, with svg or csv\n"
    "  --width PIXELS      of a drawing (640)\n"
    "  -h, --help          print this\n"
    "  --version           print the version\n\n"
    "Charts: world, resizes, phases, functions, scaling, efficiency, fit (csv only), graph, traffic, timeline.\n"
    "Of a schedule: metrics (csv only), gantt, queue, utilisation, slowdown, decisions (csv only).\n"
    "PROFILE and SCHEDULE may be - for the standard input.\n"
    "Exit status: 0 done, 1 could not write, 2 wrong usage, or a file that is none of epop's.\n";

static int complain_of(const char *text, const char *word)
{
    fprintf(stderr, "epop-report: %s%s%s%s (see epop-report --help)\n", text, word ? " \"" : "", word ? word : "",
            word ? "\"" : "");
    return -1;
}

static int parse_format(struct options *options, const char *word)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(word, formats[i]) == 0) {
            options->format = (enum format)i;
            return 0;
        }
    return complain_of("--format takes html, svg or csv, not", word);
}

static int parse_width(struct options *options, const char *word)
{
    char *end;
    long width = strtol(word, &end, 10);
    if (end == word || *end != '\0' || width < WIDTH_LEAST || width > WIDTH_MOST)
        return complain_of("--width takes a number from 240 to 4000, not", word);
    options->width = (int)width;
    return 0;
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
    static const struct option known[] = {
        {"output", required_argument, NULL, 'o'},
        {"format", required_argument, NULL, FORMAT},
        {"chart", required_argument, NULL, CHART},
        {"width", required_argument, NULL, WIDTH},
        {"version", no_argument, NULL, VERSION},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int letter, failed = 0;
    *options = (struct options){.format = FORMAT_HTML, .width = WIDTH_DEFAULT};
    opterr = 0;
    while (!failed && (letter = getopt_long(argc, argv, ":ho:", known, NULL)) != -1) {
        switch (letter) {
        case 'o':
            options->output = optarg;
            break;
        case CHART:
            options->chart = optarg;
            break;
        case FORMAT:
            failed = parse_format(options, optarg);
            break;
        case WIDTH:
            failed = parse_width(options, optarg);
            break;
        case 'h':
            fputs(help, stdout);
            return OPTIONS_DONE;
        case VERSION:
            puts("epop-report " EPOP_VERSION);
            return OPTIONS_DONE;
        default:
            failed = complain_of(letter == ':' ? "a value is missing for" : "unknown option", argv[optind - 1]);
        }
    }
    return failed || finish_options(options, argc - optind, argv + optind) != 0 ? OPTIONS_WRONG : OPTIONS_GO;
}
