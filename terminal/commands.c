/* The command line of a program of commands, from its words to the exit status. */
#include "terminal/commands.h"

#include <signal.h>
#include <string.h>

#include "terminal/output.h"

/* ---- Help --------------------------------------------------------------------------------------- */

static void print_help(FILE *file, const struct commands *commands)
{
    fprintf(file, "Usage: %s COMMAND %s\n%s\n\n", commands->program, commands->usage, commands->purpose);
    for (const struct command *command = commands->rows; command->name; command++)
        fprintf(file, "  %-10s  %s\n", command->name, command->summary);
    fprintf(file, "\n%s%s COMMAND --help tells more of a command; %s --version prints the version.\n%s",
            commands->notes ? commands->notes : "", commands->program, commands->program, commands->statuses);
}

static void print_command_help(const struct commands *commands, const struct command *command,
                               const struct option_table *table)
{
    printf("Usage: %s %s %s\n%s\n\n%s", commands->program, command->name, command->synopsis, command->summary,
           command->words ? command->words : "");
    options_print(stdout, table);
    printf("%s%s", command->notes ? command->notes : "", commands->statuses);
}

static bool is_help(const char *word)
{
    return !strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help");
}

/* ---- One command -------------------------------------------------------------------------------- */

static const struct command *find_command(const struct commands *commands, const char *name)
{
    const char *names[OPTIONS_MAX + 1];
    int count = 0;
    for (const struct command *command = commands->rows; command->name && count < OPTIONS_MAX; command++) {
        names[count++] = command->name;
        if (!strcmp(command->name, name))
            return command;
    }
    names[count] = NULL;
    const char *near = options_nearest(name, names);
    if (near)
        term_complain("unknown command \"%s\": %s?", name, near);
    else
        term_complain("unknown command \"%s\" (see %s --help)", name, commands->program);
    return NULL;
}

/* Moves to the end what begins with a dash and is no option. How many these were. */
static int set_words_aside(const struct command *command, int argc, char **argv)
{
    int aside = 0;
    for (int i = 1; command->is_word && i < argc - aside && strcmp(argv[i], "--");) {
        char *word = argv[i];
        if (word[0] != '-' || !command->is_word(word)) {
            i++;
            continue;
        }
        memmove(argv + i, argv + i + 1, (size_t)(argc - i - 1) * sizeof *argv);
        argv[argc - 1] = word;
        aside++;
    }
    return aside;
}

static int check_count(const struct command *command, int count, char **words, struct error *error)
{
    if (count < command->least)
        return error_set(error, ERROR_REFUSED, "something is missing: %s %s", command->name, command->synopsis);
    if (command->most >= 0 && count > command->most)
        return error_set(error, ERROR_REFUSED, "\"%s\" is one argument too many", words[command->most]);
    return 0;
}

/* argv[0] is the command's name. */
static int run_command(const struct commands *commands, const struct command *command, int argc, char **argv)
{
    struct error error;
    struct option_table table = {.rows = command->options, .column = 22, .ends_at_word = command->most < 0};
    int aside = set_words_aside(command, argc, argv);
    int first = options_read(&table, argc - aside, argv, commands->options, &error);
    if (first == OPTIONS_HELP) {
        print_command_help(commands, command, &table);
        return COMMAND_DONE;
    }
    if (first < 0 || check_count(command, argc - first, argv + first, &error) ||
        commands->take(command, commands->options, argc - first, argv + first, &error)) {
        term_complain("%s: %s (see %s %s --help)", command->name, error.text, commands->program, command->name);
        return COMMAND_USAGE;
    }
    return command->run(commands->options);
}

/* ---- From the command line to the exit status --------------------------------------------------- */

int commands_main(const struct commands *commands, int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN); /* what cannot be written is told */
    if (argc < 2) {
        print_help(stderr, commands);
        return COMMAND_USAGE;
    }
    if (is_help(argv[1])) {
        print_help(stdout, commands);
        return term_finish(COMMAND_DONE);
    }
    if (!strcmp(argv[1], "--version")) {
        printf("%s %s\n", commands->program, EPOP_VERSION);
        return term_finish(COMMAND_DONE);
    }
    const struct command *command = find_command(commands, argv[1]);
    return command ? term_finish(run_command(commands, command, argc - 1, argv + 1)) : COMMAND_USAGE;
}
