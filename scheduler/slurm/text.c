/* squeue's and sinfo's lines: see text.h. */
#include "scheduler/slurm/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum job_field {
    JOB_ID,
    JOB_UID,
    JOB_STATE,
    JOB_NODES,
    JOB_HOSTS,
    JOB_REQUESTED,
    JOB_PARTITION,
    JOB_PRIORITY,
    JOB_LIMIT,
    JOB_SUBMITTED,
    JOB_STARTED,
    JOB_REASON,
    JOB_COMMENT,
    JOB_NAME,
    JOB_FIELDS
};

enum node_field { NODE_NAME, NODE_STATE, NODE_CPUS, NODE_PARTITION, NODE_TIER, NODE_UP, NODE_FIELDS };

/* The last one keeps what is left. How many there are. */
static int split(char *text, char **fields, int most)
{
    int count = 0;
    while (text && count < most) {
        char *end = count + 1 < most ? strstr(text, TEXT_FIELD) : NULL;
        if (end)
            *end++ = '\0';
        fields[count++] = text;
        text = end;
    }
    return count;
}

static bool number(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    if (end != text && *end == 'K')
        *value *= 1024, end++;
    return end != text && !*end && isfinite(*value);
}

/* [days-][[hours:]minutes:]seconds, or a word: no limit. */
static double seconds(const char *text)
{
    int days = 0, a, b, c, used = 0;
    if (sscanf(text, "%d-%n", &days, &used) < 1 || !used)
        days = used = 0;
    text += used;
    switch (sscanf(text, "%d:%d:%d", &a, &b, &c)) {
    case 3:
        return days * 86400.0 + a * 3600.0 + b * 60.0 + c;
    case 2:
        return days ? days * 86400.0 + a * 3600.0 + b * 60.0 : a * 60.0 + b;
    case 1:
        return days ? days * 86400.0 + a * 3600.0 : a;
    }
    return INFINITY;
}

static const struct {
    const char *word;
    enum slurm_job_state state;
} job_states[] = {{"PENDING", SLURM_JOB_WAITS},     {"RUNNING", SLURM_JOB_RUNS},       {"CONFIGURING", SLURM_JOB_RUNS},
                  {"SUSPENDED", SLURM_JOB_RUNS},    {"SIGNALING", SLURM_JOB_RUNS},     {"STAGE_OUT", SLURM_JOB_ENDS},
                  {"COMPLETING", SLURM_JOB_ENDS},   {"RESIZING", SLURM_JOB_RUNS},      {"STOPPED", SLURM_JOB_RUNS},
                  {"REQUEUED", SLURM_JOB_WAITS},    {"REQUEUE_HOLD", SLURM_JOB_WAITS}, {"REQUEUE_FED", SLURM_JOB_WAITS},
                  {"SPECIAL_EXIT", SLURM_JOB_WAITS}};

/* NULL: it is over. */
static const enum slurm_job_state *job_state(const char *word)
{
    for (size_t i = 0; i < sizeof job_states / sizeof *job_states; i++)
        if (!strcmp(word, job_states[i].word))
            return &job_states[i].state;
    return NULL;
}

static int give_job(char **fields, int count, const struct slurm_sink *sink, void *to)
{
    double id, uid, nodes, priority, submitted, started;
    if (count < JOB_FIELDS || !number(fields[JOB_ID], &id) || !number(fields[JOB_UID], &uid) ||
        !number(fields[JOB_NODES], &nodes) || !number(fields[JOB_PRIORITY], &priority) ||
        !number(fields[JOB_SUBMITTED], &submitted))
        return -1;
    const enum slurm_job_state *state = job_state(fields[JOB_STATE]);
    const char *comment = fields[JOB_COMMENT];
    struct slurm_job_given given = {.id = (int64_t)id,
                                    .uid = (uid_t)uid,
                                    .nodes = (int)nodes,
                                    .hosts = fields[JOB_HOSTS],
                                    .requested = fields[JOB_REQUESTED],
                                    .partition = fields[JOB_PARTITION],
                                    .reason = fields[JOB_REASON],
                                    .name = fields[JOB_NAME],
                                    .comment = strcmp(comment, "(null)") ? comment : "",
                                    .priority = (unsigned)priority,
                                    .limit = seconds(fields[JOB_LIMIT]),
                                    .submitted = submitted,
                                    .started = number(fields[JOB_STARTED], &started) ? started : 0};
    if (!state)
        return 0;
    given.state = *state;
    sink->job(to, &given);
    return 0;
}

/* The beginning of the next record; its first field follows. */
static char *next_record(char *text, const char *begin)
{
    return strstr(text, begin);
}

int text_jobs(char *text, const char *mark, const struct slurm_sink *sink, void *to, struct error *error)
{
    char begin[64], *fields[JOB_FIELDS];
    snprintf(begin, sizeof begin, "%s%.50s%s", TEXT_FIELD, mark, TEXT_FIELD);
    size_t length = strlen(begin);
    for (char *record = next_record(text, begin), *next; record; record = next) {
        record += length;
        next = next_record(record, begin);
        char *end = next ? next : record + strlen(record);
        if (end > record && end[-1] == '\n')
            end[-1] = '\0';
        if (next)
            *next = '\0';
        if (give_job(fields, split(record, fields, JOB_FIELDS), sink, to))
            return error_set(error, ERROR_FAILED, "squeue: a job's line is not as it should be: %.100s", record);
    }
    return 0;
}

/* The word, and what sinfo appends to it: "idle*" does not respond, "idle~" is powered down, "idle-" is planned. */
static void node_state(const char *text, struct slurm_node_given *node)
{
    static const char *const busy[] = {"allocated", "mixed", "completing", "draining", "failing", "allocated+"};
    static const char *const idle[] = {"idle", "planned"};
    size_t length = strcspn(text, "*~#!%$@^-");
    char word[32];
    snprintf(word, sizeof word, "%.*s", (int)length, text);
    bool marked = text[length] && text[length] != '-';
    node->state = SLURM_NODE_DOWN;
    for (size_t i = 0; i < sizeof busy / sizeof *busy; i++)
        if (!strcmp(word, busy[i]))
            node->state = SLURM_NODE_BUSY;
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
        if (!strcmp(word, idle[i]) && !marked)
            node->state = SLURM_NODE_IDLE;
    node->planned = node->state == SLURM_NODE_IDLE && (*word == 'p' || text[length] == '-');
}

int text_nodes(char *text, const struct slurm_sink *sink, void *to, struct error *error)
{
    char *rest = text, *line;
    while ((line = strsep(&rest, "\n"))) {
        char *fields[NODE_FIELDS];
        double cpus, tier;
        if (!*line)
            continue;
        if (split(line, fields, NODE_FIELDS) < NODE_FIELDS || !number(fields[NODE_CPUS], &cpus) ||
            !number(fields[NODE_TIER], &tier))
            return error_set(error, ERROR_FAILED, "sinfo: a node's line is not as it should be: %.100s", line);
        struct slurm_node_given node = {.name = fields[NODE_NAME],
                                        .cpus = (int)cpus,
                                        .partition = fields[NODE_PARTITION],
                                        .tier = (int)tier,
                                        .up = !strcmp(fields[NODE_UP], "up")};
        node_state(fields[NODE_STATE], &node);
        sink->node(to, &node);
    }
    return 0;
}
