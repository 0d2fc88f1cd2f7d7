/* The tree of switches: read from a file like Slurm's topology.conf, checked, and joined to the nodes. */
#include "scheduler/core/topology.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "runtime/base/array.h"
#include "runtime/base/batch.h"

/* ---- Lines -------------------------------------------------------------------------------------- */

/* A line of the file: what it says, as text. */
struct entry {
    char *name, *nodes, *switches; /* NULL: it does not say that */
    int line;
};

struct reader {
    const char *path;
    struct entry *entries;
    size_t count, room;
    int line; /* that is being read */
};

#define FORM "\"SwitchName=s1 Nodes=n[1-4]\" or \"SwitchName=top Switches=s[1-2]\""

/* One KEY=VALUE. */
static int take_word(const struct reader *reader, struct entry *entry, char *word, struct error *error)
{
    static const char *const ignored[] = {"LinkSpeed"};
    const struct {
        const char *key;
        char **value;
    } keys[] = {{"SwitchName", &entry->name}, {"Nodes", &entry->nodes}, {"Switches", &entry->switches}};
    char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) : 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (length == strlen(keys[i].key) && !strncasecmp(word, keys[i].key, length) && equals[1] && !*keys[i].value)
            return (*keys[i].value = strdup(equals + 1)) ? 0 : error_memory(error);
    if (length == strlen(ignored[0]) && !strncasecmp(word, ignored[0], length))
        return 0;
    return error_set(error, ERROR_REFUSED, "%s:%d: \"%.60s\" has no place here: a line is " FORM, reader->path,
                     reader->line, word);
}

static int check_entry(const struct reader *reader, const struct entry *entry, struct error *error)
{
    if (entry->name && !entry->nodes != !entry->switches)
        return 0;
    return error_set(error, ERROR_REFUSED, "%s:%d: a line is " FORM ", and this one has %s", reader->path, reader->line,
                     !entry->name   ? "no SwitchName"
                     : entry->nodes ? "Nodes and Switches"
                                    : "neither Nodes nor Switches");
}

static int take_line(struct reader *reader, char *line, struct error *error)
{
    struct entry *entry;
    char *word, *rest = line;
    line[strcspn(line, "#")] = '\0';
    if (!line[strspn(line, " \t\r\n")])
        return 0;
    if (array_reserve(&reader->entries, &reader->room, reader->count + 1, sizeof *reader->entries))
        return error_memory(error);
    entry = &reader->entries[reader->count++];
    *entry = (struct entry){.line = reader->line};
    while ((word = strsep(&rest, " \t\r\n")))
        if (*word && take_word(reader, entry, word, error))
            return -1;
    return check_entry(reader, entry, error);
}

/* Up to the end of a line that does not end with a backslash; false: there is nothing more. */
static bool next_line(FILE *file, struct reader *reader, char **line, size_t *room)
{
    ssize_t length = getline(line, room, file);
    reader->line++;
    for (char *more = NULL; length >= 0; free(more), more = NULL) {
        size_t end = strcspn(*line, "\r\n"), space = 0;
        if (!end || (*line)[end - 1] != '\\')
            return true;
        (*line)[end - 1] = '\0';
        ssize_t got = getline(&more, &space, file);
        char *joined = got < 0 ? NULL : realloc(*line, end + (size_t)got);
        if (!joined) {
            free(more);
            return true;
        }
        reader->line++;
        *room = end + (size_t)got;
        *line = strcat(joined, more);
    }
    return false;
}

static int read_lines(struct reader *reader, struct error *error)
{
    FILE *file = fopen(reader->path, "re");
    char *line = NULL;
    size_t room = 0;
    int failed = 0;
    if (!file)
        return error_set(error, ERROR_REFUSED, "%s: %s", reader->path, strerror(errno));
    while (!failed && next_line(file, reader, &line, &room))
        failed = take_line(reader, line, error);
    if (!failed && ferror(file))
        failed = error_set(error, ERROR_REFUSED, "%s: it cannot be read", reader->path);
    free(line);
    fclose(file);
    if (!failed && !reader->count)
        failed = error_set(error, ERROR_REFUSED, "%s: there is no switch in it: a line is " FORM, reader->path);
    return failed;
}

static void free_lines(struct reader *reader)
{
    for (size_t i = 0; i < reader->count; i++) {
        free(reader->entries[i].name);
        free(reader->entries[i].nodes);
        free(reader->entries[i].switches);
    }
    free(reader->entries);
}

/* ---- Names to numbers --------------------------------------------------------------------------- */

struct named {
    const char *name;
    int number;
};

static int by_name(const void *one, const void *other)
{
    return strcmp(((const struct named *)one)->name, ((const struct named *)other)->name);
}

/* Sorted, to be found by find_name; the caller's to free. NULL: no memory. */
static struct named *index_names(char *const *names, int count)
{
    struct named *index = calloc((size_t)count + 1, sizeof *index);
    for (int i = 0; index && i < count; i++)
        index[i] = (struct named){names[i], i};
    if (index)
        qsort(index, (size_t)count, sizeof *index, by_name);
    return index;
}

/* Those that have this name, which stand together in the index. */
struct found {
    const struct named *first;
    int count;
};

static struct found find_name(const struct named *index, int count, const char *name)
{
    const struct named key = {name, 0}, *end = index + count;
    struct found found = {bsearch(&key, index, (size_t)count, sizeof *index, by_name), 0};
    while (found.first && found.first > index && !strcmp(found.first[-1].name, name))
        found.first--;
    while (found.first && found.first + found.count < end && !strcmp(found.first[found.count].name, name))
        found.count++;
    return found;
}

/* What a line names. -1: it is no such list. */
static int expand_list(const struct reader *reader, const struct entry *entry, const char *text, struct nodelist *list,
                       struct error *error)
{
    *list = (struct nodelist){0};
    if (!nodelist_add(list, text))
        return 0;
    nodelist_free(list);
    return error_set(error, ERROR_REFUSED, "%s:%d: \"%.60s\" is no list of names, as n[1-4],m7", reader->path,
                     entry->line, text);
}

static int add_names(struct topology *topology, size_t *room, const struct nodelist *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if (array_reserve(&topology->names, room, (size_t)topology->node_count + 1, sizeof *topology->names) ||
            !(topology->names[topology->node_count] = strdup(list->names[i])))
            return -1;
        topology->node_count++;
    }
    return 0;
}

/* As they stand in the file. */
static int names_of_file(struct topology *topology, const struct reader *reader, int count, struct error *error)
{
    size_t room = 0;
    for (size_t i = 0; i < reader->count; i++) {
        struct nodelist list;
        const struct entry *entry = &reader->entries[i];
        if (!entry->nodes)
            continue;
        if (expand_list(reader, entry, entry->nodes, &list, error))
            return -1;
        int failed = add_names(topology, &room, &list);
        nodelist_free(&list);
        if (failed)
            return error_memory(error);
    }
    if (topology->node_count == count)
        return 0;
    return error_set(error, ERROR_REFUSED, "%s: it names %d nodes, and the machine has %d", reader->path,
                     topology->node_count, count);
}

static int names_given(struct topology *topology, const char *const *names, int count, struct error *error)
{
    topology->names = calloc((size_t)count, sizeof *topology->names);
    for (int i = 0; topology->names && i < count; i++) {
        if (!(topology->names[i] = strdup(names[i])))
            return error_memory(error);
        topology->node_count++;
    }
    return topology->names ? 0 : error_memory(error);
}

/* ---- The tree ----------------------------------------------------------------------------------- */

static int reserve_tree(struct topology *topology, size_t count, struct error *error)
{
    topology->switches = calloc(count + 1, sizeof *topology->switches);
    topology->branches = calloc(count + 1, sizeof *topology->branches);
    topology->leaves = calloc((size_t)topology->node_count + 1, sizeof *topology->leaves);
    topology->largest = calloc(count + 1, sizeof *topology->largest);
    topology->marks = calloc(count + 1, sizeof *topology->marks);
    if (!topology->switches || !topology->branches || !topology->leaves || !topology->largest || !topology->marks)
        return error_memory(error);
    for (int i = 0; i < topology->node_count; i++)
        topology->leaves[i] = -1;
    return 0;
}

/* No two of them have one name. `index` is sorted. */
static int check_twins(const struct topology *topology, const struct reader *reader, const struct named *index,
                       struct error *error)
{
    for (int i = 1; i < topology->count; i++) {
        int one = index[i - 1].number, other = index[i].number;
        if (!strcmp(index[i - 1].name, index[i].name))
            return error_set(error, ERROR_REFUSED, "%s:%d: switch %.60s is there already", reader->path,
                             reader->entries[one > other ? one : other].line, index[i].name);
    }
    return 0;
}

static int name_switches(struct topology *topology, const struct reader *reader, struct named **index,
                         struct error *error)
{
    *index = calloc(reader->count, sizeof **index);
    for (size_t i = 0; *index && i < reader->count; i++) {
        topology->switches[i] = (epop_policy_switch_t){.name = strdup(reader->entries[i].name), .parent = -1};
        topology->count++;
        if (!topology->switches[i].name)
            return error_memory(error);
        (*index)[i] = (struct named){topology->switches[i].name, (int)i};
    }
    if (!*index)
        return error_memory(error);
    qsort(*index, reader->count, sizeof **index, by_name);
    return check_twins(topology, reader, *index, error);
}

static int ascending(const void *one, const void *other)
{
    return *(const int *)one - *(const int *)other;
}

/* One name below a switch: that node's leaf, or that switch's parent. */
static int put_below(struct topology *topology, const struct reader *reader, int above, bool leaf, int number,
                     const char *name, struct error *error)
{
    struct topology_branch *branch = &topology->branches[above];
    int *of = leaf ? &topology->leaves[number] : &topology->switches[number].parent;
    if (*of >= 0)
        return error_set(error, ERROR_REFUSED, "%s:%d: %s %.60s is below %.60s already", reader->path,
                         reader->entries[above].line, leaf ? "node" : "switch", name, topology->switches[*of].name);
    *of = above;
    branch->members[branch->count++] = number;
    return 0;
}

/* How many of the index this list names. */
static size_t count_named(const struct named *index, int names, const struct nodelist *list)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++)
        count += (size_t)find_name(index, names, list->names[i]).count;
    return count;
}

/* All names that a line has below its switch. Nodes that the machine does not have are left out. */
static int join_line(struct topology *topology, const struct reader *reader, int above, const struct named *index,
                     int names, struct error *error)
{
    const struct entry *entry = &reader->entries[above];
    struct topology_branch *branch = &topology->branches[above];
    struct nodelist list;
    int failed;
    branch->leaf = entry->nodes;
    if (expand_list(reader, entry, branch->leaf ? entry->nodes : entry->switches, &list, error))
        return -1;
    branch->members = calloc(count_named(index, names, &list) + 1, sizeof *branch->members);
    failed = branch->members ? 0 : error_memory(error);
    for (size_t i = 0; !failed && i < list.count; i++) {
        struct found found = find_name(index, names, list.names[i]);
        for (int of = 0; !failed && of < found.count; of++)
            failed = put_below(topology, reader, above, branch->leaf, found.first[of].number, list.names[i], error);
        if (!found.count && !branch->leaf)
            failed = error_set(error, ERROR_REFUSED, "%s:%d: there is no switch %.60s", reader->path, entry->line,
                               list.names[i]);
    }
    nodelist_free(&list);
    qsort(branch->members, (size_t)branch->count, sizeof *branch->members, ascending);
    return failed;
}

/* Following parents comes to an end. */
static int check_circles(const struct topology *topology, const struct reader *reader, struct error *error)
{
    for (int i = 0; i < topology->count; i++) {
        int steps = 0;
        for (int at = i; at >= 0 && steps <= topology->count; at = topology->switches[at].parent)
            steps++;
        if (steps > topology->count)
            return error_set(error, ERROR_REFUSED, "%s:%d: switch %.60s is below itself", reader->path,
                             reader->entries[i].line, topology->switches[i].name);
    }
    return 0;
}

static int check_nodes(const struct topology *topology, const struct reader *reader, struct error *error)
{
    for (int i = 0; i < topology->node_count; i++)
        if (topology->leaves[i] < 0)
            return error_set(error, ERROR_REFUSED, "%s: node %.60s is below no switch", reader->path,
                             topology->names[i]);
    return 0;
}

/* The whole machine, above those that have nothing above them. */
static int add_top(struct topology *topology, struct error *error)
{
    struct topology_branch *top = &topology->branches[topology->count];
    top->members = calloc((size_t)topology->count + 1, sizeof *top->members);
    for (int i = 0; top->members && i < topology->count; i++)
        if (topology->switches[i].parent < 0)
            top->members[top->count++] = i;
    return top->members ? 0 : error_memory(error);
}

static void sort_leaves(struct topology *topology)
{
    for (int i = 0; i < topology->count; i++)
        if (topology->branches[i].leaf)
            topology->largest[topology->leaf_count++] = -topology->branches[i].count;
    qsort(topology->largest, (size_t)topology->leaf_count, sizeof *topology->largest, ascending);
    for (int i = 0; i < topology->leaf_count; i++)
        topology->largest[i] = -topology->largest[i];
}

static int join_lines(struct topology *topology, const struct reader *reader, const struct named *switches,
                      const struct named *nodes, struct error *error)
{
    for (int i = 0; i < topology->count; i++) {
        bool leaf = reader->entries[i].nodes;
        if (join_line(topology, reader, i, leaf ? nodes : switches, leaf ? topology->node_count : topology->count,
                      error))
            return -1;
    }
    return check_circles(topology, reader, error) || check_nodes(topology, reader, error) || add_top(topology, error)
               ? -1
               : 0;
}

static int build_tree(struct topology *topology, const struct reader *reader, struct error *error)
{
    struct named *switches = NULL, *nodes = index_names(topology->names, topology->node_count);
    int failed = nodes ? 0 : error_memory(error);
    if (!failed)
        failed = reserve_tree(topology, reader->count, error) || name_switches(topology, reader, &switches, error) ||
                 join_lines(topology, reader, switches, nodes, error);
    free(switches);
    free(nodes);
    if (!failed)
        sort_leaves(topology);
    return failed ? -1 : 0;
}

int topology_read(struct topology *topology, const char *path, const char *const *names, int count, struct error *error)
{
    struct reader reader = {.path = path};
    *topology = (struct topology){0};
    int failed =
        read_lines(&reader, error) ||
        (names ? names_given(topology, names, count, error) : names_of_file(topology, &reader, count, error)) ||
        build_tree(topology, &reader, error);
    free_lines(&reader);
    if (failed)
        topology_free(topology);
    return failed ? -1 : 0;
}

void topology_free(struct topology *topology)
{
    for (int i = 0; i < topology->count; i++)
        free((char *)topology->switches[i].name);
    for (int i = 0; topology->branches && i <= topology->count; i++)
        free(topology->branches[i].members);
    for (int i = 0; i < topology->node_count; i++)
        free(topology->names[i]);
    free(topology->switches);
    free(topology->branches);
    free(topology->names);
    free(topology->leaves);
    free(topology->largest);
    free(topology->marks);
    *topology = (struct topology){0};
}

/* ---- Looking at it ------------------------------------------------------------------------------ */

int topology_above(const struct topology *topology, int number)
{
    if (number == topology->count)
        return -1;
    int above = topology->switches[number].parent;
    return above < 0 ? topology->count : above;
}

int topology_leaves(const struct topology *topology, const int *nodes, int count)
{
    int leaves = 0;
    for (int i = 0; i < count; i++)
        topology->marks[topology->leaves[nodes[i]]] = 0;
    for (int i = 0; i < count; i++)
        leaves += !topology->marks[topology->leaves[nodes[i]]]++;
    return leaves;
}

int topology_least(const struct topology *topology, int nodes)
{
    int leaves = 0;
    while (nodes > 0 && leaves < topology->leaf_count)
        nodes -= topology->largest[leaves++];
    return leaves;
}
