/* The command line of the program. No getopt: its state is static, and a process may parse more than once. */
#include "cannon.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_WIDTH 256 /* the narrowest that costs OpenBLAS's dgemm nothing */

typedef struct parser {
    cannon_options_t *options;
    int argc, at;
    char **argv;
    const char *files[3];
    int file_count;
    char *error;
    size_t error_size;
} parser_t;

static int fail(const parser_t *parser, const char *format, const char *word)
{
    snprintf(parser->error, parser->error_size, format, word);
    return -1;
}

/* `count` numbers between commas; at most INT32_MAX, as BLAS counts in int. */
static int parse_numbers(const char *text, int64_t *numbers, int count)
{
    for (int i = 0; i < count; i++) {
        char *end;
        errno = 0;
        numbers[i] = strtoll(text, &end, 10);
        if (end == text || errno != 0 || numbers[i] < 1 || numbers[i] > INT32_MAX || *end != (i + 1 < count ? ',' : 0))
            return -1;
        text = end + 1;
    }
    return 0;
}

static int parse_random(parser_t *parser, const char *value)
{
    int64_t numbers[3];
    if (parse_numbers(value, numbers, 1) == 0)
        numbers[1] = numbers[2] = numbers[0];
    else if (parse_numbers(value, numbers, 3) != 0)
        return fail(parser, "--random %s: give N, or M,K,N, each at least 1", value);
    parser->options->random = 1;
    parser->options->m = numbers[0];
    parser->options->k = numbers[1];
    parser->options->n = numbers[2];
    return 0;
}

static int parse_seed(parser_t *parser, const char *value)
{
    char *end;
    errno = 0;
    parser->options->seed = strtoull(value, &end, 0);
    return end == value || *end || errno ? fail(parser, "--seed %s: give a whole number", value) : 0;
}

static int parse_panel(parser_t *parser, const char *value)
{
    return parse_numbers(value, &parser->options->width, 1) == 0
               ? 0
               : fail(parser, "--panel %s: give a whole number, at least 1", value);
}

static int parse_repeat(parser_t *parser, const char *value)
{
    int64_t repeats;
    if (parse_numbers(value, &repeats, 1) != 0 || repeats > CANNON_REPEATS_MAX)
        return fail(parser, "--repeat %s: give a whole number, 1 to 100", value);
    parser->options->repeats = (int)repeats;
    return 0;
}

/* An option without a value; 0 if the word is none of them. */
static int parse_flag(cannon_options_t *options, const char *word)
{
    if (strcmp(word, "--verify") == 0)
        return options->verify = 1;
    if (strcmp(word, "--json") == 0)
        return options->json = 1;
    if (strcmp(word, "--save") == 0)
        return options->save = 1;
    if (strcmp(word, "--help") == 0)
        return options->help = 1;
    return 0;
}

static int parse_valued(parser_t *parser, const char *word)
{
    static const struct {
        const char *name;
        int (*parse)(parser_t *parser, const char *value);
    } valued[] = {
        {"--random", parse_random}, {"--seed", parse_seed}, {"--panel", parse_panel}, {"--repeat", parse_repeat}};
    for (size_t i = 0; i < sizeof(valued) / sizeof(valued[0]); i++) {
        if (strcmp(word, valued[i].name) != 0)
            continue;
        if (parser->at + 1 >= parser->argc)
            return fail(parser, "%s needs a value (see --help)", word);
        return valued[i].parse(parser, parser->argv[++parser->at]);
    }
    return fail(parser, "unknown option %s (see --help)", word);
}

static int parse_word(parser_t *parser, const char *word)
{
    if (word[0] == '-' && word[1])
        return parse_flag(parser->options, word) ? 0 : parse_valued(parser, word);
    if (parser->file_count == 3)
        return fail(parser, "too many files: %s (see --help)", word);
    parser->files[parser->file_count++] = word;
    return 0;
}

/* Which file each word names depends on the options. */
static int assign_files(parser_t *parser)
{
    cannon_options_t *options = parser->options;
    int count = parser->file_count;
    if (options->save && !options->random)
        return fail(parser, "%s writes what --random generates (see --help)", "--save");
    if (options->random && !options->save) {
        options->c = parser->files[0];
        return count <= 1 ? 0
                          : fail(parser, "with --random only the result is a file: %s is too many", parser->files[1]);
    }
    options->a = parser->files[0];
    options->b = parser->files[1];
    options->c = parser->files[2];
    if (count < 2 || (options->save && count > 2))
        return fail(parser, "%s (see --help)",
                    options->save ? "--save needs the names of two files" : "give A.npy and B.npy, or --random N");
    return 0;
}

int cannon_options_parse(cannon_options_t *options, int argc, char **argv, char *error, size_t error_size)
{
    parser_t parser = {.options = options, .argc = argc, .argv = argv, .error = error, .error_size = error_size};
    *options = (cannon_options_t){.width = DEFAULT_WIDTH, .repeats = 1, .seed = 1};
    for (parser.at = 1; parser.at < argc; parser.at++)
        if (parse_word(&parser, argv[parser.at]) != 0)
            return -1;
    return options->help ? 0 : assign_files(&parser);
}

void cannon_usage(void)
{
    printf(
        "C = A * B in double precision, by Cannon's algorithm, on a square number of ranks that may change meanwhile\n"
        "\n"
        "  cannon.so [options] A.npy B.npy [C.npy]    multiply two files, write the product\n"
        "  cannon.so [options] --random N [C.npy]     multiply two random matrices of N x N\n"
        "  cannon.so --random N --save A.npy B.npy    only write the random matrices to files\n"
        "\n"
        "  --random N       or M,K,N: A is M x K, B is K x N; the same on any number of ranks\n"
        "  --seed S         other random matrices (1)\n"
        "  --panel W        inner indices that a rank holds of one panel (%d); smaller: more chances to resize\n"
        "  --verify         check the product with random vectors (Freivalds); a wrong one is not written\n"
        "  --repeat R       multiply R times, up to %d; the median counts (1)\n"
        "  --json           print nothing but one JSON line\n"
        "\n"
        "Files are .npy, little-endian float64, in C or Fortran order; C.npy is written in C order.\n"
        "Each rank's BLAS uses one thread unless OPENBLAS_NUM_THREADS or OMP_NUM_THREADS says otherwise.\n",
        DEFAULT_WIDTH, CANNON_REPEATS_MAX);
    fflush(stdout);
}
