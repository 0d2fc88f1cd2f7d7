/* The command line of the Gauss example. */
#include "gauss/options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_BLOCK 64
#define MAX_BLOCK     4096
#define MAX_ORDER     1000000

void options_usage(void)
{
    printf("A x = b in double precision, by Gaussian elimination with partial pivoting, on ranks that may change "
           "meanwhile\n"
           "\n"
           "  gauss.so [options] A.mtx [b.mtx]       solve a system from files; either may be .npy\n"
           "  gauss.so [options] --random N [b.mtx]  A is a random matrix of order N\n"
           "\n"
           "  --block NB       columns per block, the unit that ranks take in turn (%d)\n"
           "  --width W        columns eliminated at a time, at most a block (a block)\n"
           "  --tolerance T    a pivot below T times the largest entry of its column is zero (N times epsilon)\n"
           "  --output x.npy   write the solution\n"
           "  --json           print nothing but one JSON line\n"
           "\n"
           "A is coordinate or array, real or integer, general or symmetric; without b it is A x for a known x.\n",
           DEFAULT_BLOCK);
}

__attribute__((format(printf, 3, 4))) static int fail(char *error, size_t size, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(error, size, "%s (see --help)", text);
    return -1;
}

static int parse_count(const char *text, int64_t max, int64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return end == text || *end != '\0' || errno != 0 || *value < 1 || *value > max ? -1 : 0;
}

static int parse_tolerance(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end == text || *end != '\0' || !(*value >= 0.0 && *value < 1.0) ? -1 : 0;
}

static int set_option(options_t *options, const char *name, const char *value, char *error, size_t size)
{
    if (!value)
        return fail(error, size, "%s needs a value", name);
    if (strcmp(name, "--output") == 0)
        options->output = value;
    else if (strcmp(name, "--random") == 0 && parse_count(value, MAX_ORDER, &options->random_n))
        return fail(error, size, "--random: '%s' is no number from 1 to %d", value, MAX_ORDER);
    else if (strcmp(name, "--block") == 0 && parse_count(value, MAX_BLOCK, &options->block))
        return fail(error, size, "--block: '%s' is no number from 1 to %d", value, MAX_BLOCK);
    else if (strcmp(name, "--width") == 0 && parse_count(value, MAX_BLOCK, &options->width))
        return fail(error, size, "--width: '%s' is no number from 1 to %d", value, MAX_BLOCK);
    else if (strcmp(name, "--tolerance") == 0 && parse_tolerance(value, &options->tolerance))
        return fail(error, size, "--tolerance: '%s' is no number from 0 to below 1", value);
    return 0;
}

static int is_option(const char *name)
{
    const char *known[] = {"--output", "--random", "--block", "--width", "--tolerance"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(name, known[i]) == 0)
            return 1;
    return 0;
}

int options_parse(options_t *options, int argc, char **argv, char *error, size_t error_size)
{
    const char *files[2] = {NULL, NULL};
    int count = 0;
    *options = (options_t){.block = DEFAULT_BLOCK, .tolerance = -1.0};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            options->json = 1;
        } else if (strcmp(argv[i], "--help") == 0) {
            options->help = 1;
            return 0;
        } else if (is_option(argv[i])) {
            const char *value = i + 1 < argc ? argv[i + 1] : NULL;
            if (set_option(options, argv[i], value, error, error_size) != 0)
                return -1;
            i++;
        } else if (argv[i][0] == '-') {
            return fail(error, error_size, "unknown option '%s'", argv[i]);
        } else if (count == (options->random_n ? 1 : 2)) {
            return fail(error, error_size, "'%s': too many files", argv[i]);
        } else {
            files[count++] = argv[i];
        }
    }
    if (options->random_n && count == 2)
        return fail(error, error_size, "'%s': too many files beside --random", files[1]);
    if (!options->random_n && count == 0)
        return fail(error, error_size, "no matrix given");
    if (!options->width || options->width > options->block)
        options->width = options->block;
    options->a_path = options->random_n ? NULL : files[0];
    options->b_path = options->random_n ? files[0] : files[1];
    return 0;
}
