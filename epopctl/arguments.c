/*
 * The arguments behind a command's name. By hand rather than with getopt: `epopctl resize -2` asks for two ranks
 * less, and options may stand before or behind the job.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "epopctl/command.h"
#include "epopctl/output.h"
#include "runtime/base/duration.h"

#define SHORT_TIMEOUT_MS 10000
#define LONG_TIMEOUT_MS  60000 /* of a request that is answered when it has happened */
#define SECONDS_MAX      1000000.0

/* N, +N or -N */
static bool is_size(const char *word)
{
    if (*word == '+' || *word == '-')
        word++;
    size_t digits = strspn(word, "0123456789");
    return digits > 0 && !word[digits];
}

static int parse_timeout(const char *text, int *timeout_ms)
{
    char *end;
    double seconds = decimal_read(text, &end);
    if (end == text || *end || !(seconds >= 0 && seconds <= SECONDS_MAX)) {
        ctl_complain("--timeout: \"%s\" is no number of seconds", text);
        return -1;
    }
    *timeout_ms = seconds * 1000 < INT_MAX ? (int)(seconds * 1000) : INT_MAX;
    return 0;
}

/* The option's name without dashes, its value behind '=' or in the next word. */
struct option {
    const char *word;
    size_t length;
    const char *value;
};

static bool is_option(const struct option *option, const char *name)
{
    return strlen(name) == option->length && !strncmp(option->word, name, option->length);
}

/* The options: which commands take them (0: all), and where in the arguments they go: a value as the word that it is,
 * a flag as true. */
static const struct option_row {
    const char *name;
    int takes;
    enum { FLAG, VALUE } kind;
    size_t offset;
} option_rows[] = {
    {"--timeout", CTL_TAKES_TIMEOUT, VALUE, offsetof(struct ctl_arguments, timeout)},
    {"--hosts", CTL_TAKES_RESIZE, VALUE, offsetof(struct ctl_arguments, hosts)},
    {"--slurm-job", CTL_TAKES_RESIZE, VALUE, offsetof(struct ctl_arguments, slurm_job)},
    {"--companions", CTL_TAKES_RESIZE, FLAG, offsetof(struct ctl_arguments, companions)},
    {"--release", CTL_TAKES_RESIZE, VALUE, offsetof(struct ctl_arguments, release)},
    {"--pset", CTL_TAKES_RESIZE, VALUE, offsetof(struct ctl_arguments, pset)},
    {"--release-ranks", CTL_TAKES_RESIZE, VALUE, offsetof(struct ctl_arguments, release_ranks)},
    {"--asker", CTL_TAKES_MEASURE, VALUE, offsetof(struct ctl_arguments, asker)},
    {"--keep", CTL_TAKES_MEASURE, VALUE, offsetof(struct ctl_arguments, keep)},
    {"--json", CTL_TAKES_JSON, FLAG, offsetof(struct ctl_arguments, json)},
    {"--once", CTL_TAKES_ONCE, FLAG, offsetof(struct ctl_arguments, once)},
    {"--wait", CTL_TAKES_WAIT, FLAG, offsetof(struct ctl_arguments, wait)},
    {"--force", CTL_TAKES_FORCE, FLAG, offsetof(struct ctl_arguments, force)},
    {"--remove", CTL_TAKES_BREAKPOINT, FLAG, offsetof(struct ctl_arguments, remove)},
    {"--help", 0, FLAG, offsetof(struct ctl_arguments, help)},
    {"-h", 0, FLAG, offsetof(struct ctl_arguments, help)},
};

/* Of this command; NULL: it has none of that name. */
static const struct option_row *find_option(const struct ctl_command *command, const struct option *option)
{
    for (const struct option_row *row = option_rows; row < option_rows + sizeof option_rows / sizeof *option_rows;
         row++)
        if ((!row->takes || command->takes & row->takes) && is_option(option, row->name))
            return row;
    return NULL;
}

/* --wait=vacated; the words used up, or -1. */
static int take_wait(const struct ctl_command *command, const char *until, struct ctl_arguments *arguments)
{
    if (strcmp(until, "vacated")) {
        ctl_complain("%s: --wait=%s: only --wait=vacated is known, or --wait", command->name, until);
        return -1;
    }
    arguments->wait = arguments->vacated = true;
    return 1;
}

/* Takes an option, and its value from the next word if it has none. The words used up, or -1. */
static int take_option(const struct ctl_command *command, char **words, int count, struct ctl_arguments *arguments)
{
    const char *equals = strchr(words[0], '=');
    struct option option = {.word = words[0],
                            .length = equals ? (size_t)(equals - words[0]) : strlen(words[0]),
                            .value = equals ? equals + 1 : NULL};
    const struct option_row *row = find_option(command, &option);
    void *target = row ? (char *)arguments + row->offset : NULL;
    if (row && row->kind == FLAG && !option.value) {
        *(bool *)target = true;
        return 1;
    }
    if (row && option.value && command->takes & CTL_TAKES_RESIZE && is_option(&option, "--wait"))
        return take_wait(command, option.value, arguments);
    if (!row || row->kind == FLAG) {
        ctl_complain("%s: unknown option \"%s\" (see epopctl %s --help)", command->name, words[0], command->name);
        return -1;
    }
    if (!option.value && count < 2) {
        ctl_complain("%s: %s needs a value", command->name, words[0]);
        return -1;
    }
    *(const char **)target = option.value ? option.value : words[1];
    return option.value ? 1 : 2;
}

/* What has to stand behind [JOB], and what to ask where it does not. */
static const char **last_word(const struct ctl_command *command, struct ctl_arguments *arguments, const char **missing)
{
    bool text = command->takes & CTL_TAKES_TEXT;
    *missing = text ? "which text?" : "where? PHASE[:ITERATION][@RANK]";
    return text ? &arguments->text : command->takes & CTL_TAKES_BREAKPOINT ? &arguments->breakpoint : NULL;
}

/* The words that are no options: [JOB], and behind it a size (resize), a breakpoint (break), a text (note). */
static int take_words(const struct ctl_command *command, char **words, int count, struct ctl_arguments *arguments)
{
    const char *missing, **last = last_word(command, arguments, &missing);
    bool resize = command->takes & CTL_TAKES_RESIZE;
    int most = ((command->takes & CTL_TAKES_JOB) != 0) + (resize || last);
    if (count > most) {
        ctl_complain("%s: \"%s\" is one argument too many (see epopctl %s --help)", command->name, words[most],
                     command->name);
        return -1;
    }
    if (last && count == 0 && !arguments->help) {
        ctl_complain("%s: %s (see epopctl %s --help)", command->name, missing, command->name);
        return -1;
    }
    if (last && count > 0)
        *last = words[--count];
    if (!resize) {
        arguments->job = count > 0 ? words[0] : NULL;
        return 0;
    }
    if (count > 0 && is_size(words[count - 1]))
        arguments->size = words[--count];
    arguments->job = count > 0 ? words[0] : NULL;
    if (count > 1) {
        ctl_complain("resize: \"%s\" is no number of ranks: N, +N or -N", words[1]);
        return -1;
    }
    if (!arguments->size && !arguments->release && !arguments->release_ranks && !arguments->help) {
        ctl_complain("resize: how many ranks? N, +N or -N (see epopctl resize --help)");
        return -1;
    }
    if (arguments->slurm_job && !arguments->hosts && !arguments->help) {
        ctl_complain("resize: --slurm-job: which hosts are that job's? It goes with --hosts");
        return -1;
    }
    return 0;
}

int ctl_parse(const struct ctl_command *command, int argc, char **argv, struct ctl_arguments *arguments)
{
    char *words[3];
    int count = 0;
    bool options = true;
    *arguments = (struct ctl_arguments){0};
    for (int i = 0; i < argc;) {
        if (options && !strcmp(argv[i], "--")) {
            options = false;
            i++;
        } else if (options && argv[i][0] == '-' && !((command->takes & CTL_TAKES_RESIZE) && is_size(argv[i]))) {
            int used = take_option(command, argv + i, argc - i, arguments);
            if (used < 0)
                return -1;
            i += used;
        } else {
            if (count < 3)
                words[count++] = argv[i];
            i++;
        }
    }
    /* pause and step are answered when all ranks hold, so they wait like the others with --wait. */
    bool waits = arguments->wait || arguments->force || command->run == ctl_pause || command->run == ctl_step;
    arguments->timeout_ms = waits ? LONG_TIMEOUT_MS : SHORT_TIMEOUT_MS;
    if (arguments->timeout && parse_timeout(arguments->timeout, &arguments->timeout_ms))
        return -1;
    return take_words(command, words, count, arguments);
}
