/* The arguments behind a command's name; options may stand before or behind its words, but for submit's program. */
#include <stddef.h>
#include <string.h>

#include "scheduler/epoprm/command.h"
#include "scheduler/epoprm/nearest.h"
#include "scheduler/epoprm/say.h"

/* Which commands take an option (0: all), and where it goes: a value as the word that it is, a flag as true. */
static const struct row {
    const char *name;
    int takes;
    enum { FLAG, VALUE } kind;
    size_t offset;
} rows[] = {
#define AT(member) offsetof(struct rm_arguments, member)
    {"--hosts", RM_TAKES_START, VALUE, AT(hosts)},
    {"--local", RM_TAKES_START, VALUE, AT(local)},
    {"--site", RM_TAKES_START, VALUE, AT(site)},
    {"--policy", RM_TAKES_START, VALUE, AT(policy)},
    {"--launcher", RM_TAKES_START, VALUE, AT(launcher)},
    {"--launcher-exec", RM_TAKES_START, VALUE, AT(launcher_exec)},
    {"--port", RM_TAKES_START, VALUE, AT(port)},
    {"--address-file", RM_TAKES_START, VALUE, AT(address_file)},
    {"--reader", RM_TAKES_START, VALUE, AT(reader)},
    {"--foreground", RM_TAKES_START, FLAG, AT(foreground)},
    {"--ranks", RM_TAKES_SUBMIT, VALUE, AT(ranks)},
    {"--nodes", RM_TAKES_SUBMIT, VALUE, AT(nodes)},
    {"--time", RM_TAKES_SUBMIT, VALUE, AT(time)},
    {"--name", RM_TAKES_SUBMIT, VALUE, AT(name)},
    {"--once", RM_TAKES_SUBMIT, FLAG, AT(once)},
    {"--output", RM_TAKES_OUTPUT, VALUE, AT(output)},
    {"-o", RM_TAKES_OUTPUT, VALUE, AT(output)},
    {"--format", RM_TAKES_FORMAT, VALUE, AT(format)},
    {"--all", RM_TAKES_ALL, FLAG, AT(all)},
    {"--undo", RM_TAKES_UNDO, FLAG, AT(undo)},
    {"--jobs", RM_TAKES_STOP, FLAG, AT(jobs)},
    {"--leave", RM_TAKES_STOP, FLAG, AT(leave)},
    {"--json", RM_TAKES_JSON, FLAG, AT(json)},
    {"--help", 0, FLAG, AT(help)},
    {"-h", 0, FLAG, AT(help)},
#undef AT
};
enum { ROWS = sizeof rows / sizeof *rows };

static bool takes(const struct rm_command *command, const struct row *row)
{
    return !row->takes || command->takes & row->takes;
}

/* "--ranks=4" is "--ranks" with a value of its own. */
static const struct row *find(const struct rm_command *command, const char *word, size_t length)
{
    for (const struct row *row = rows; row < rows + ROWS; row++)
        if (takes(command, row) && strlen(row->name) == length && !strncmp(row->name, word, length))
            return row;
    return NULL;
}

static int unknown(const struct rm_command *command, const char *word)
{
    const char *names[ROWS + 1];
    int count = 0;
    for (const struct row *row = rows; row < rows + ROWS; row++)
        if (takes(command, row))
            names[count++] = row->name;
    const char *near = nearest(word, names, count);
    if (near)
        rm_complain("%s: unknown option \"%s\": %s?", command->name, word, near);
    else
        rm_complain("%s: unknown option \"%s\" (see epoprm %s --help)", command->name, word, command->name);
    return -1;
}

/* The words used up, or -1. */
static int take_option(const struct rm_command *command, char **words, int count, struct rm_arguments *arguments)
{
    const char *equals = !strncmp(words[0], "--", 2) ? strchr(words[0], '=') : NULL;
    const struct row *row = find(command, words[0], equals ? (size_t)(equals - words[0]) : strlen(words[0]));
    void *target = row ? (char *)arguments + row->offset : NULL;
    if (!row || (row->kind == FLAG && equals))
        return unknown(command, words[0]);
    if (row->kind == FLAG) {
        *(bool *)target = true;
        return 1;
    }
    if (!equals && count < 2) {
        rm_complain("%s: %s needs a value", command->name, words[0]);
        return -1;
    }
    *(const char **)target = equals ? equals + 1 : words[1];
    return equals ? 1 : 2;
}

static int check_count(const struct rm_command *command, const struct rm_arguments *arguments)
{
    if (arguments->help)
        return 0;
    if (arguments->count < command->least)
        rm_complain("%s: something is missing: epoprm %s %s", command->name, command->name, command->synopsis);
    else if (command->most >= 0 && arguments->count > command->most)
        rm_complain("%s: \"%s\" is one argument too many (see epoprm %s --help)", command->name,
                    arguments->words[command->most], command->name);
    else
        return 0;
    return -1;
}

/* The words are moved to the front of argv, in their order. */
int rm_parse(const struct rm_command *command, int argc, char **argv, struct rm_arguments *arguments)
{
    bool options = true;
    *arguments = (struct rm_arguments){.words = argv};
    for (int i = 0; i < argc;) {
        bool option = options && argv[i][0] == '-' && argv[i][1];
        if (option && !strcmp(argv[i], "--")) {
            options = false;
            i++;
        } else if (option) {
            int used = take_option(command, argv + i, argc - i, arguments);
            if (used < 0)
                return -1;
            i += used;
        } else {
            options = options && command->most >= 0;
            argv[arguments->count++] = argv[i++];
        }
    }
    argv[arguments->count] = NULL;
    return check_count(command, arguments);
}
