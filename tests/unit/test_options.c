/* A table of options: how a command line is read by it, what is refused, and what --help has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <limits.h>

#include "terminal/options.h"

enum kind { PAGE, DRAWING, FIGURES };

struct options {
    bool quiet, json;
    const char *output, *hosts, *jobs;
    int ranks;
    double load, limit;
    enum kind kind;
    int waits;
    const char *until;
};

static int take_wait(const struct option_row *row, struct options *options, const char *value, struct error *error)
{
    if (value && strcmp(value, "gone"))
        return error_set(error, ERROR_REFUSED, "--%s=%s: only gone", row->name, value);
    options->waits++;
    options->until = value;
    return 0;
}

static const struct option_row rows[] = {
    {"quiet", NULL, "say less", OPT_FLAG(quiet), .letter = 'q'},
    {"json", NULL, "as JSON", OPT_FLAG(json)},
    {"output", "FILE", "where to;\n- is the standard output", OPT_TEXT(output), .letter = 'o', .group = "Files:"},
    {"hosts", "HOST,...", "where", OPT_TEXT(hosts)},
    {"jobs", "JOB", "of these hosts", OPT_TEXT(jobs), .goes_with = "hosts"},
    {"ranks", "N", "how many", OPT_COUNT(ranks)},
    {"load", "LOAD", "how much", OPT_NUMBER(load, 0, 2)},
    {"limit", "TIME", "how long", OPT_SECONDS(limit)},
    {"kind", "page|drawing|figures", "what", OPT_CHOICE(kind)},
    {"wait", "[=gone]", "until then", OPT_OWN(take_wait)},
    {0},
};

static const struct option_table anywhere = {.rows = rows, .column = 20};
static const struct option_table before = {.rows = rows, .column = 20, .ends_at_word = true};

#define MOST 20

/* The words behind the program's name, in one text; what is left of them in `words`. */
static int read_line(const struct option_table *table, const char *line, struct options *options, char *words,
                     struct error *error)
{
    static char text[200];
    char *argv[MOST + 1] = {"prog"}, *rest = NULL;
    int argc = 1;
    snprintf(text, sizeof text, "%s", line);
    for (char *word = strtok_r(text, " ", &rest); word && argc < MOST; word = strtok_r(NULL, " ", &rest))
        argv[argc++] = word;
    *options = (struct options){0};
    error->text[0] = words[0] = '\0';
    int first = options_read(table, argc, argv, options, error);
    for (int i = first; first > 0 && i < argc; i++)
        strcat(strcat(words, words[0] ? " " : ""), argv[i]);
    return first;
}

static void values_of_each_kind(void **state)
{
    struct options options;
    struct error error;
    char words[200];
    (void)state;
    assert_true(read_line(&anywhere,
                          "--quiet --output=a=b --ranks 3 --load=0.5 --limit 2m --kind figures --wait a --json b",
                          &options, words, &error) > 0);
    assert_true(options.quiet && options.json);
    assert_string_equal(options.output, "a=b");
    assert_int_equal(options.ranks, 3);
    assert_true(options.load == 0.5 && options.limit == 120);
    assert_int_equal(options.kind, FIGURES);
    assert_true(options.waits == 1 && !options.until);
    assert_string_equal(words, "a b");
}

static void letters_and_optional_values(void **state)
{
    struct options options;
    struct error error;
    char words[200];
    (void)state;
    assert_true(read_line(&anywhere, "-qofile --wait=gone", &options, words, &error) > 0);
    assert_true(options.quiet && options.waits == 1);
    assert_string_equal(options.output, "file");
    assert_string_equal(options.until, "gone");
    assert_true(read_line(&anywhere, "-o - -- --json", &options, words, &error) > 0);
    assert_string_equal(options.output, "-");
    assert_string_equal(words, "--json");
}

static void options_may_end_at_the_first_word(void **state)
{
    struct options options;
    struct error error;
    char words[200];
    (void)state;
    assert_true(read_line(&before, "--quiet prog.so --json -x", &options, words, &error) > 0);
    assert_true(options.quiet && !options.json);
    assert_string_equal(words, "prog.so --json -x");
}

static void what_is_refused_and_what_is_said(void **state)
{
    static const struct {
        const char *line, *text;
    } cases[] = {
        {"--bogus", "unknown option \"--bogus\""},
        {"word --qiet", "unknown option \"--qiet\": --quiet?"},
        {"-x", "unknown option \"-x\""},
        {"-qx word", "unknown option \"-x\""},
        {"word --output", "--output needs a value: FILE"},
        {"-o", "-o needs a value: FILE"},
        {"--json=yes", "--json takes no value"},
        {"--ranks 0", "--ranks: \"0\" is no whole number from 1 on"},
        {"--ranks 1.5", "--ranks: \"1.5\" is no whole number from 1 on"},
        {"--ranks 99999999999", "--ranks: \"99999999999\" is no whole number from 1 on"},
        {"--load 3", "--load: \"3\" is no number from 0 to 2"},
        {"--load 1x", "--load: \"1x\" is no number from 0 to 2"},
        {"--limit soon", "--limit: \"soon\" is no time, as 30, 30s, 10m or 1h"},
        {"--kind pages", "--kind: \"pages\" is none of page|drawing|figures"},
        {"--kind page|drawing", "--kind: \"page|drawing\" is none of page|drawing|figures"},
        {"--wait=now", "--wait=now: only gone"},
        {"--jobs 1", "--jobs goes with --hosts HOST,..."},
    };
    struct options options;
    struct error error;
    char words[200];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(read_line(&anywhere, cases[i].line, &options, words, &error), OPTIONS_WRONG);
        assert_string_equal(error.text, cases[i].text);
    }
    assert_true(read_line(&anywhere, "--jobs 1 --hosts a", &options, words, &error) > 0);
}

static void help_is_an_option_of_each(void **state)
{
    char *text = NULL, words[200];
    size_t size;
    struct options options;
    struct error error;
    FILE *file = open_memstream(&text, &size);
    (void)state;
    assert_int_equal(read_line(&anywhere, "word --help --bogus", &options, words, &error), OPTIONS_HELP);
    assert_int_equal(read_line(&anywhere, "-h", &options, words, &error), OPTIONS_HELP);
    assert_true(read_line(&before, "word --help", &options, words, &error) > 0);
    options_print(file, &anywhere);
    fclose(file);
    assert_non_null(strstr(text, "\n  --json            as JSON\n"));
    assert_non_null(
        strstr(text, "\nFiles:\n  -o, --output FILE  where to;\n                    - is the standard output\n"));
    assert_non_null(strstr(text, "\n  --wait[=gone]     until then\n  -h, --help        print this\n"));
    free(text);
}

static void the_nearest_name(void **state)
{
    static const char *const names[] = {"status", "stop", "step", NULL};
    (void)state;
    assert_string_equal(options_nearest("statsu", names), "status");
    assert_string_equal(options_nearest("stp", names), "stop");
    assert_null(options_nearest("x", names));
    assert_null(options_nearest("something-else-that-is-far-longer-than-any-name-of-a-command", names));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_each_kind),
        cmocka_unit_test(letters_and_optional_values),
        cmocka_unit_test(options_may_end_at_the_first_word),
        cmocka_unit_test(what_is_refused_and_what_is_said),
        cmocka_unit_test(help_is_an_option_of_each),
        cmocka_unit_test(the_nearest_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
