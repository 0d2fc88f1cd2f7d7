/* Scripts of faults, read line by line. */
#include "scheduler/simulated/script.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "scheduler/workload/input.h"

#define MOST_WORDS 8
#define FORMS      "\"at 120 node 3 fails\", \"at 500 node 3 returns\" or \"resize of job 7 refused\""

struct reader {
    struct script *script;
    size_t node_room, resize_room;
    char *words[MOST_WORDS]; /* of the line */
    int count;
    int line;
};

static bool is_word(const struct reader *reader, int place, const char *word)
{
    return place < reader->count && !strcmp(reader->words[place], word);
}

/* From least on, whole; -1: the word is no such number. */
static int64_t whole_at(const struct reader *reader, int place, int64_t least, int64_t most)
{
    const char *word = place < reader->count ? reader->words[place] : "";
    bool digits = *word && strspn(word, "0123456789") == strlen(word) && strlen(word) <= 15;
    int64_t number = digits ? strtoll(word, NULL, 10) : -1;
    return number >= least && number <= most ? number : -1;
}

static double time_at(const struct reader *reader, int place)
{
    char *end;
    double time = place < reader->count ? strtod(reader->words[place], &end) : -1;
    return place < reader->count && !*end && isfinite(time) ? time : -1;
}

/* at TIME node N fails|returns. 1: it is none, or makes no sense. */
static int take_node(struct reader *reader)
{
    struct script *script = reader->script;
    bool up = is_word(reader, 4, "returns");
    double time = time_at(reader, 1);
    int node = (int)whole_at(reader, 3, 0, INT_MAX);
    if (reader->count != 5 || !is_word(reader, 0, "at") || !is_word(reader, 2, "node") ||
        !(up || is_word(reader, 4, "fails")) || !(time >= 0) || node < 0)
        return 1;
    if (array_reserve(&script->nodes, &reader->node_room, script->node_count + 1, sizeof *script->nodes))
        return -1;
    script->nodes[script->node_count++] =
        (struct node_fault){.time = time, .node = node, .up = up, .line = reader->line};
    return 0;
}

/* resize [NUMBER] of job ID refused */
static int take_resize(struct reader *reader)
{
    struct script *script = reader->script;
    bool numbered = reader->count == 6;
    int at = numbered ? 2 : 1, number = numbered ? (int)whole_at(reader, 1, 1, INT_MAX) : 1;
    int64_t job = whole_at(reader, at + 2, 0, INT64_MAX);
    if (reader->count != at + 4 || !is_word(reader, 0, "resize") || !is_word(reader, at, "of") ||
        !is_word(reader, at + 1, "job") || !is_word(reader, at + 3, "refused") || number < 0 || job < 0)
        return 1;
    if (array_reserve(&script->resizes, &reader->resize_room, script->resize_count + 1, sizeof *script->resizes))
        return -1;
    script->resizes[script->resize_count++] = (struct resize_fault){.job = job, .number = number, .line = reader->line};
    return 0;
}

static int take_line(struct reader *reader, char *line)
{
    char *rest = NULL;
    line[strcspn(line, "#")] = 0;
    reader->count = 0;
    for (char *word = strtok_r(line, " \t\r", &rest); word && reader->count < MOST_WORDS;
         word = strtok_r(NULL, " \t\r", &rest))
        reader->words[reader->count++] = word;
    if (reader->count == 0)
        return 0;
    return is_word(reader, 0, "resize") ? take_resize(reader) : take_node(reader);
}

static int take_lines(struct reader *reader, struct input *input, struct error *error)
{
    char *rest = input->text, *line;
    for (reader->line = 1; (line = strsep(&rest, "\n")); reader->line++) {
        int taken = take_line(reader, line);
        if (taken < 0)
            return error_memory(error);
        if (taken > 0)
            return error_set(error, ERROR_REFUSED, "%s:%d: no fault that can be injected; as in " FORMS, input->name,
                             reader->line);
    }
    return 0;
}

/* By time; of one moment, as they stand in the file. */
static void sort_nodes(struct script *script)
{
    for (size_t i = 1; i < script->node_count; i++) {
        struct node_fault fault = script->nodes[i];
        size_t at = i;
        for (; at > 0 && script->nodes[at - 1].time > fault.time; at--)
            script->nodes[at] = script->nodes[at - 1];
        script->nodes[at] = fault;
    }
}

int script_read(struct script *script, const char *path, struct error *error)
{
    struct reader reader = {.script = script};
    struct input input;
    *script = (struct script){0};
    if (input_read(&input, path, error))
        return -1;
    int failed = take_lines(&reader, &input, error);
    input_free(&input);
    if (failed)
        script_free(script);
    else
        sort_nodes(script);
    return failed;
}

void script_free(struct script *script)
{
    free(script->nodes);
    free(script->resizes);
    *script = (struct script){0};
}
