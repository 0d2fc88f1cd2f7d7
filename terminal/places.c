/* A helper, lib/epop/backtrace, reads the debug information: it may take much memory, and be wrong. */
#include "terminal/places.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/child.h"
#include "runtime/base/paths.h"
#include "terminal/output.h"

#define SECONDS     10 /* for the helper */
#define PLACES_MOST 2048
#define LINE_MOST   1024

/* What is asked for: the text of that name of a site, and what the answers are called. */
struct question {
    cJSON *site;
    const char *place, *function, *line;
};
struct questions {
    struct question list[PLACES_MOST];
    int count;
};

static void add_question(struct questions *all, const struct question *question)
{
    if (cJSON_HasObjectItem(question->site, question->place) && all->count < PLACES_MOST)
        all->list[all->count++] = *question;
}

static void collect(cJSON *list, const char *end, struct questions *all)
{
    cJSON *each;
    cJSON_ArrayForEach(each, list)
    {
        cJSON *site = cJSON_GetObjectItem(each, end);
        add_question(all, &(struct question){site, "place", "function", "line"});
        add_question(all, &(struct question){site, "from", "from_function", "from_line"});
    }
}

/* Into a file without a name, so that nobody waits for anybody. The descriptor; -1: none. */
static int write_questions(const struct questions *all)
{
    int file = open(P_tmpdir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    for (int i = 0; file >= 0 && i < all->count; i++)
        dprintf(file, "%s\n", term_text(all->list[i].site, all->list[i].place, ""));
    if (file >= 0)
        lseek(file, 0, SEEK_SET);
    return file;
}

/* One after another. The helper is ended when its time is over. */
static void read_answers(const struct questions *all, int in, pid_t helper)
{
    FILE *answers = fdopen(in, "r");
    struct pollfd ready = {.fd = in, .events = POLLIN};
    char line[LINE_MOST];
    if (poll(&ready, 1, SECONDS * 1000) <= 0)
        kill(helper, SIGKILL);
    for (int i = 0; answers && i < all->count && fgets(line, sizeof line, answers); i++) {
        char *tab = strchr(line, '\t');
        line[strcspn(line, "\n")] = '\0';
        if (!tab)
            continue;
        *tab = '\0';
        if (line[0])
            cJSON_AddStringToObject(all->list[i].site, all->list[i].function, line);
        if (tab[1])
            cJSON_AddStringToObject(all->list[i].site, all->list[i].line, tab + 1);
    }
    if (answers)
        fclose(answers);
    else
        close(in);
}

static void ask(const struct questions *all)
{
    char path[PATH_MAX];
    int answers[2];
    pid_t helper;
    if (!all->count || tree_path("lib/epop/backtrace", path, sizeof path) || pipe2(answers, O_CLOEXEC))
        return;
    char *const argv[] = {path, "--places", NULL};
    int questions = write_questions(all);
    struct spawn what = {.argv = argv, .in = questions, .out = answers[1], .err = SPAWN_NOTHING};
    bool runs = questions >= 0 && !spawn_program(&what, &helper);
    close(answers[1]);
    if (questions >= 0)
        close(questions);
    if (!runs) {
        close(answers[0]);
        return;
    }
    read_answers(all, answers[0], helper);
    waitpid(helper, NULL, 0);
}

void places_name_loops(cJSON *loops)
{
    struct questions all = {.count = 0};
    collect(loops, "head", &all);
    collect(loops, "tail", &all);
    ask(&all);
}

void places_name_calls(cJSON *calls)
{
    struct questions all = {.count = 0};
    collect(calls, "site", &all);
    ask(&all);
}

void places_name_present(cJSON *const *statuses, int count)
{
    cJSON *loops = cJSON_CreateArray();
    for (int i = 0; loops && i < count; i++)
        cJSON_AddItemReferenceToArray(loops, cJSON_GetObjectItem(statuses[i], "loop"));
    places_name_loops(loops);
    cJSON_Delete(loops);
}

/* The line of the last call, or of the call in the head's function that led to it. */
static const char *last_line(const cJSON *head, const cJSON *tail)
{
    const char *function = term_text(head, "function", ""), *line = term_text(tail, "line", NULL);
    bool is_called =
        strcmp(function, term_text(tail, "function", "")) && !strcmp(function, term_text(tail, "from_function", ""));
    return is_called ? term_text(tail, "from_line", line) : line;
}

const char *places_site_name(const cJSON *site, char text[PLACES_NAME])
{
    const char *place = term_text(site, "place", "?"), *slash = strrchr(place, '/');
    snprintf(text, PLACES_NAME, "%s", term_text(site, "line", slash ? slash + 1 : place));
    return text;
}

const char *places_loop_name(const cJSON *loop, char text[PLACES_NAME])
{
    const cJSON *head = cJSON_GetObjectItem(loop, "head");
    const char *line = term_text(head, "line", NULL), *last = last_line(head, cJSON_GetObjectItem(loop, "tail"));
    const char *colon = line ? strrchr(line, ':') : NULL;
    bool is_same_file = colon && last && !strncmp(line, last, (size_t)(colon + 1 - line)) && strcmp(line, last);
    if (is_same_file)
        snprintf(text, PLACES_NAME, "%s-%s", line, last + (colon + 1 - line));
    else
        places_site_name(head, text);
    return text;
}
