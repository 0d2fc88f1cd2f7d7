/* A table of options: reading a command line by it, with getopt_long, and printing it. */
#include "terminal/options.h"

#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "runtime/base/clock.h"

/* ---- What a mistyped word may have meant -------------------------------------------------------- */

enum { LONGEST = 40, FARTHEST = 2 };

static int least_of_three(int a, int b, int c)
{
    int two = a < b ? a : b;
    return two < c ? two : c;
}

/* Letters put in, left out, or changed. */
static int distance(const char *from, const char *to)
{
    int row[LONGEST + 1], length = (int)strlen(to);
    for (int j = 0; j <= length; j++)
        row[j] = j;
    for (int i = 1; from[i - 1]; i++) {
        int corner = row[0];
        row[0] = i;
        for (int j = 1; j <= length; j++) {
            int above = row[j];
            row[j] = least_of_three(row[j - 1] + 1, above + 1, corner + (from[i - 1] != to[j - 1]));
            corner = above;
        }
    }
    return row[length];
}

const char *options_nearest(const char *word, const char *const *names)
{
    const char *best = NULL;
    int least_far = FARTHEST + 1;
    for (; *names && strlen(word) <= LONGEST; names++) {
        int far = distance(word, *names);
        if (far < least_far && far < (int)strlen(*names) / 2) {
            best = *names;
            least_far = far;
        }
    }
    return best;
}

/* ---- One value ---------------------------------------------------------------------------------- */

static int set_number(const struct option_row *row, void *target, const char *value, struct error *error)
{
    char *end;
    bool whole = row->kind == OPTION_WHOLE;
    double number = decimal_read(value, &end);
    bool right = end != value && !*end && number >= row->least && number <= row->most;
    if (right && whole && number == floor(number))
        *(int *)target = (int)number;
    else if (right && !whole)
        *(double *)target = number;
    else if (row->most == INT_MAX)
        return error_set(error, ERROR_REFUSED, "--%s: \"%s\" is no %snumber from %.10g on", row->name, value,
                         whole ? "whole " : "", row->least);
    else
        return error_set(error, ERROR_REFUSED, "--%s: \"%s\" is no %snumber from %.10g to %.10g", row->name, value,
                         whole ? "whole " : "", row->least, row->most);
    return 0;
}

static int set_seconds(const struct option_row *row, double *seconds, const char *value, struct error *error)
{
    if (!duration_read(value, seconds))
        return 0;
    return error_set(error, ERROR_REFUSED, "--%s: \"%s\" is no time, as 30, 30s, 10m or 1h", row->name, value);
}

static int set_choice(const struct option_row *row, unsigned *number, const char *value, struct error *error)
{
    const char *word = row->argument;
    for (*number = 0; *word; ++*number) {
        size_t length = strcspn(word, "|");
        if (strlen(value) == length && !strncmp(word, value, length))
            return 0;
        word += length + (word[length] == '|');
    }
    return error_set(error, ERROR_REFUSED, "--%s: \"%s\" is none of %s", row->name, value, row->argument);
}

static int set_value(const struct option_row *row, struct options *options, const char *value, struct error *error)
{
    void *target = (char *)options + row->target;
    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)target = true;
        return 0;
    case OPTION_TEXT:
        *(const char **)target = value;
        return 0;
    case OPTION_WHOLE:
    case OPTION_NUMBER:
        return set_number(row, target, value, error);
    case OPTION_SECONDS:
        return set_seconds(row, target, value, error);
    case OPTION_CHOICE:
        return set_choice(row, target, value, error);
    case OPTION_OWN:
        break;
    }
    return row->take(row, options, value, error);
}

/* ---- Reading ------------------------------------------------------------------------------------ */

/* What getopt_long returns: FIRST and a row's number, the letter of a row without one, or of what is wrong. */
enum { FIRST = 256, HELP = 'h' };

struct reader {
    const struct option_table *table;
    int count;                            /* of rows */
    struct option known[OPTIONS_MAX + 2]; /* getopt's table */
    char letters[2 * OPTIONS_MAX + 4];    /* and its other one */
    bool given[OPTIONS_MAX];
};

/* Anew for each option, as the one before may have brought others. False: there are too many. */
static bool fill_reader(struct reader *reader)
{
    size_t letters = 0;
    const struct option_table *table = reader->table;
    if (table->ends_at_word)
        reader->letters[letters++] = '+';
    reader->letters[letters++] = ':'; /* a value that is missing is told from an option that is unknown */
    for (reader->count = 0; table->rows[reader->count].name; reader->count++) {
        const struct option_row *row = &table->rows[reader->count];
        int value = !row->argument ? no_argument : row->argument[0] == '[' ? optional_argument : required_argument;
        if (reader->count == OPTIONS_MAX)
            return false;
        reader->known[reader->count] = (struct option){row->name, value, NULL, FIRST + reader->count};
        if (row->letter)
            reader->letters[letters++] = row->letter;
        if (row->letter && row->argument)
            reader->letters[letters++] = ':';
    }
    reader->known[reader->count] = (struct option){"help", no_argument, NULL, HELP};
    reader->known[reader->count + 1] = (struct option){0};
    reader->letters[letters++] = HELP;
    reader->letters[letters] = '\0';
    return true;
}

/* The number of a row; -1: it is none's. */
static int find_row(const struct reader *reader, int returned)
{
    if (returned >= FIRST)
        return returned - FIRST;
    for (int i = 0; i < reader->count; i++)
        if (reader->table->rows[i].letter == returned)
            return i;
    return -1;
}

static int refuse_option(const struct reader *reader, const char *word, struct error *error)
{
    const struct option_table *table = reader->table;
    char dashed[OPTIONS_MAX + 1][LONGEST + 1];
    const char *names[OPTIONS_MAX + 2], *hint = table->hint ? table->hint : "";
    for (int i = 0; i <= reader->count; i++) {
        snprintf(dashed[i], sizeof dashed[i], "--%s", reader->known[i].name);
        names[i] = dashed[i];
    }
    names[reader->count + 1] = NULL;
    const char *near = options_nearest(word, names);
    if (near)
        return error_set(error, ERROR_REFUSED, "unknown option \"%s\": %s?", word, near);
    return error_set(error, ERROR_REFUSED, "unknown option \"%s\"%s", word, hint);
}

/* What getopt could not make sense of. */
static int refuse(const struct reader *reader, int returned, char **argv, struct error *error)
{
    char letter[3] = {'-', (char)optopt, '\0'};
    int row = optopt ? find_row(reader, optopt) : -1;
    const char *word = optopt > 0 && optopt < FIRST ? letter : argv[optind - 1];
    if (returned == ':')
        return error_set(error, ERROR_REFUSED, "%s needs a value: %s", word,
                         row < 0 ? "" : reader->table->rows[row].argument);
    if (row >= 0)
        return error_set(error, ERROR_REFUSED, "--%s takes no value", reader->table->rows[row].name);
    return refuse_option(reader, word, error);
}

/* Options that mean nothing without another one. */
static int check_pairs(const struct reader *reader, struct error *error)
{
    const struct option_row *rows = reader->table->rows;
    for (int i = 0; i < reader->count; i++) {
        int other = 0;
        while (rows[i].goes_with && strcmp(rows[other].name, rows[i].goes_with))
            other++;
        if (rows[i].goes_with && reader->given[i] && !reader->given[other])
            return error_set(error, ERROR_REFUSED, "--%s goes with --%s%s%s", rows[i].name, rows[other].name,
                             rows[other].argument ? " " : "", rows[other].argument ? rows[other].argument : "");
    }
    return 0;
}

int options_read(const struct option_table *table, int argc, char **argv, struct options *options, struct error *error)
{
    struct reader reader = {.table = table};
    opterr = 0;
    optind = 0; /* getopt begins anew */
    for (;;) {
        if (!fill_reader(&reader))
            return error_set(error, ERROR_REFUSED, "there are too many options");
        int returned = getopt_long(argc, argv, reader.letters, reader.known, NULL);
        int row = find_row(&reader, returned);
        if (returned == -1)
            return check_pairs(&reader, error) ? OPTIONS_WRONG : optind;
        if (row < 0 && returned == HELP)
            return OPTIONS_HELP;
        if (row < 0)
            return refuse(&reader, returned, argv, error);
        if (set_value(&table->rows[row], options, optarg, error))
            return OPTIONS_WRONG;
        reader.given[row] = true;
    }
}

/* ---- --help ------------------------------------------------------------------------------------- */

static void print_row(FILE *file, const struct option_row *row, int column)
{
    char left[80], letter[8] = "";
    bool optional = row->argument && row->argument[0] == '[';
    if (row->letter)
        snprintf(letter, sizeof letter, "-%c, ", row->letter);
    int length = snprintf(left, sizeof left, "  %s--%s%s%s", letter, row->name, row->argument && !optional ? " " : "",
                          row->argument ? row->argument : "");
    fprintf(file, "%-*s", length + 2 > column ? length + 2 : column, left);
    for (const char *text = row->help; *text; text++) {
        fputc(*text, file);
        if (*text == '\n')
            fprintf(file, "%*s", column, "");
    }
    fputc('\n', file);
}

void options_print(FILE *file, const struct option_table *table)
{
    static const struct option_row help = {"help", NULL, "print this", .letter = HELP};
    bool has_help = false;
    for (const struct option_row *row = table->rows; row->name; row++) {
        if (row->group)
            fprintf(file, "\n%s\n", row->group);
        print_row(file, row, table->column);
        has_help = has_help || !strcmp(row->name, help.name);
    }
    if (!has_help)
        print_row(file, &help, table->column);
}
