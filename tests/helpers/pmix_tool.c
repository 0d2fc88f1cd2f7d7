/*
 * A tool of PMIx's, for the tests of the gateway.
 *
 *     pmix_tool URI
 *
 * prints "attached", or ends with "refused STATUS". A line of standard input is a call:
 *
 *     query KEY [QUALIFIER=VALUE]...
 *     allocate extend|release|new [KEY=VALUE]...
 *     control [@NSPACE.RANK]... KEY[=VALUE]...
 *
 * which prints "answer STATUS VALUES" when it has been answered; "event STATUS VALUES" comes for each event.
 */
#include <pmix.h>
#include <pmix_tool.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 16 };

static const struct {
    const char *name, *key;
    pmix_data_type_t type;
} keys[] = {
    {"namespaces", PMIX_QUERY_NAMESPACES, PMIX_STRING},
    {"namespace_info", PMIX_QUERY_NAMESPACE_INFO, PMIX_STRING},
    {"proc_table", PMIX_QUERY_PROC_TABLE, PMIX_STRING},
    {"local_proc_table", PMIX_QUERY_LOCAL_PROC_TABLE, PMIX_STRING},
    {"job_size", PMIX_JOB_SIZE, PMIX_UINT32},
    {"node_list", PMIX_NODE_LIST, PMIX_STRING},
    {"pset_names", PMIX_QUERY_PSET_NAMES, PMIX_STRING},
    {"num_psets", PMIX_QUERY_NUM_PSETS, PMIX_SIZE},
    {"pset_membership", PMIX_QUERY_PSET_MEMBERSHIP, PMIX_STRING},
    {"alloc_status", PMIX_QUERY_ALLOC_STATUS, PMIX_STRING},
    {"queue_list", PMIX_QUERY_QUEUE_LIST, PMIX_STRING},
    {"nspace", PMIX_NSPACE, PMIX_STRING},
    {"pset_name", PMIX_PSET_NAME, PMIX_STRING},
    {"hostname", PMIX_HOSTNAME, PMIX_STRING},
    {"nodes", PMIX_ALLOC_NUM_NODES, PMIX_UINT64},
    {"cpus", PMIX_ALLOC_NUM_CPUS, PMIX_UINT64},
    {"node_names", PMIX_ALLOC_NODE_LIST, PMIX_STRING},
    {"req_id", PMIX_ALLOC_REQ_ID, PMIX_STRING},
    {"alloc_id", PMIX_ALLOC_ID, PMIX_STRING},
    {"timeout", PMIX_TIMEOUT, PMIX_INT},
    {"pause", PMIX_JOB_CTRL_PAUSE, PMIX_BOOL},
    {"resume", PMIX_JOB_CTRL_RESUME, PMIX_BOOL},
    {"terminate", PMIX_JOB_CTRL_TERMINATE, PMIX_BOOL},
    {"kill", PMIX_JOB_CTRL_KILL, PMIX_BOOL},
    {"signal", PMIX_JOB_CTRL_SIGNAL, PMIX_INT},
    {"restart", PMIX_JOB_CTRL_RESTART, PMIX_STRING},
};
enum { KEYS = sizeof keys / sizeof *keys };

static pthread_mutex_t output = PTHREAD_MUTEX_INITIALIZER;

static void print_value(const pmix_value_t *value);

static void print_infos(const pmix_info_t *info, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        printf(" %s=", info[i].key);
        print_value(&info[i].value);
    }
}

static void print_array(const pmix_data_array_t *array)
{
    printf("[");
    for (size_t i = 0; array && i < array->size; i++) {
        const pmix_proc_t *proc = (const pmix_proc_t *)array->array + i;
        const pmix_proc_info_t *about = (const pmix_proc_info_t *)array->array + i;
        if (array->type == PMIX_PROC)
            printf("%s%s.%u", i ? " " : "", proc->nspace, proc->rank);
        else if (array->type == PMIX_PROC_INFO)
            printf("%s%s.%u:%s:%ld:%d", i ? " " : "", about->proc.nspace, about->proc.rank, about->hostname,
                   (long)about->pid, about->state);
        else if (array->type == PMIX_INFO)
            print_infos((const pmix_info_t *)array->array + i, 1);
    }
    printf("]");
}

static void print_value(const pmix_value_t *value)
{
    if (value->type == PMIX_STRING)
        printf("\"%s\"", value->data.string ? value->data.string : "");
    else if (value->type == PMIX_UINT32)
        printf("%u", value->data.uint32);
    else if (value->type == PMIX_SIZE)
        printf("%zu", value->data.size);
    else if (value->type == PMIX_STATUS)
        printf("%s", PMIx_Error_string(value->data.status));
    else if (value->type == PMIX_PROC)
        printf("%s.%u", value->data.proc->nspace, value->data.proc->rank);
    else if (value->type == PMIX_DATA_ARRAY)
        print_array(value->data.darray);
    else
        printf("?");
}

static void say(const char *what, pmix_status_t status, const pmix_info_t *info, size_t count)
{
    pthread_mutex_lock(&output);
    printf("%s %d %s", what, status, PMIx_Error_string(status));
    print_infos(info, count);
    printf("\n");
    fflush(stdout);
    pthread_mutex_unlock(&output);
}

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[], size_t count,
                     pmix_info_t *results, size_t result_count, pmix_event_notification_cbfunc_fn_t done, void *data)
{
    (void)id, (void)source, (void)results, (void)result_count;
    say("event", status, info, count);
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

/* "KEY=VALUE" */
static int load(pmix_info_t *info, char *word)
{
    char *value = strchr(word, '=');
    if (value)
        *value++ = '\0';
    for (int i = 0; i < KEYS; i++) {
        if (strcmp(keys[i].name, word))
            continue;
        bool yes = true;
        int number = value ? atoi(value) : 0;
        uint64_t large = value ? strtoull(value, NULL, 10) : 0;
        const void *data = keys[i].type == PMIX_STRING ? value : keys[i].type == PMIX_INT ? (void *)&number : &large;
        PMIX_INFO_LOAD(info, keys[i].key, keys[i].type == PMIX_BOOL ? (void *)&yes : data, keys[i].type);
        return 0;
    }
    fprintf(stderr, "pmix_tool: no key %s\n", word);
    return -1;
}

static void query(char **words, int count)
{
    pmix_query_t *query;
    pmix_info_t *results = NULL;
    size_t result_count = 0;
    bool yes = true;
    pmix_status_t rc;
    PMIX_QUERY_CREATE(query, 1);
    for (int i = 0; i < KEYS; i++)
        if (!strcmp(keys[i].name, words[1]))
            PMIX_ARGV_APPEND(rc, query->keys, keys[i].key);
    PMIX_QUERY_QUALIFIERS_CREATE(query, (size_t)(count - 1));
    PMIX_INFO_LOAD(&query->qualifiers[0], PMIX_QUERY_REFRESH_CACHE, &yes, PMIX_BOOL);
    for (int i = 2; i < count; i++)
        if (load(&query->qualifiers[i - 1], words[i]))
            return;
    rc = PMIx_Query_info(query, 1, &results, &result_count);
    say("answer", rc, results, result_count);
    (void)results; /* not freed: a process of a test */
}

static void allocate(char **words, int count)
{
    pmix_alloc_directive_t directive = !strcmp(words[1], "extend")    ? PMIX_ALLOC_EXTEND
                                       : !strcmp(words[1], "release") ? PMIX_ALLOC_RELEASE
                                                                      : PMIX_ALLOC_NEW;
    pmix_info_t *info = NULL, *results = NULL;
    size_t given = (size_t)(count - 2), result_count = 0;
    PMIX_INFO_CREATE(info, given + 1);
    for (size_t i = 0; i < given; i++)
        if (load(&info[i], words[i + 2]))
            return;
    pmix_status_t rc = PMIx_Allocation_request(directive, info, given, &results, &result_count);
    say("answer", rc, results, result_count);
}

static void control(char **words, int count)
{
    pmix_proc_t targets[WORDS];
    pmix_info_t *info, *results = NULL;
    size_t target_count = 0, given = 0, result_count = 0;
    PMIX_INFO_CREATE(info, WORDS);
    for (int i = 1; i < count; i++) {
        char *dot = strrchr(words[i], '.');
        if (words[i][0] != '@') {
            if (load(&info[given++], words[i]))
                return;
            continue;
        }
        *dot = '\0';
        PMIX_LOAD_PROCID(&targets[target_count], words[i] + 1,
                         dot[1] == '*' ? PMIX_RANK_WILDCARD : (pmix_rank_t)atoi(dot + 1));
        target_count++;
    }
    pmix_status_t rc =
        PMIx_Job_control(target_count ? targets : NULL, target_count, info, given, &results, &result_count);
    say("answer", rc, results, result_count);
}

static void obey(char *line)
{
    char *words[WORDS], *rest = NULL;
    int count = 0;
    for (char *word = strtok_r(line, " \n", &rest); word && count < WORDS; word = strtok_r(NULL, " \n", &rest))
        words[count++] = word;
    if (count >= 2 && !strcmp(words[0], "query"))
        query(words, count);
    else if (count >= 2 && !strcmp(words[0], "allocate"))
        allocate(words, count);
    else if (count >= 2 && !strcmp(words[0], "control"))
        control(words, count);
    else
        fprintf(stderr, "pmix_tool: what is %s?\n", line);
}

int main(int argc, char **argv)
{
    /* One for all codes is told of nothing by the server of OpenPMIx 4.2. */
    pmix_status_t codes[] = {PMIX_EXTERNAL_ERR_BASE - 71, PMIX_EVENT_PROC_TERMINATED, PMIX_ERR_PROC_TERM_WO_SYNC,
                             PMIX_PROCESS_SET_DEFINE,     PMIX_PROCESS_SET_DELETE,    PMIX_EVENT_JOB_END};
    pmix_proc_t self;
    pmix_info_t *info;
    char line[4096];
    PMIX_INFO_CREATE(info, 1);
    PMIX_INFO_LOAD(&info[0], PMIX_SERVER_URI, argc > 1 ? argv[1] : "", PMIX_STRING);
    pmix_status_t rc = PMIx_tool_init(&self, info, 1);
    if (rc != PMIX_SUCCESS) {
        say("refused", rc, NULL, 0);
        return EXIT_FAILURE;
    }
    PMIx_Register_event_handler(codes, sizeof codes / sizeof *codes, NULL, 0, on_event, NULL, NULL);
    say("attached", rc, NULL, 0);
    while (fgets(line, sizeof line, stdin))
        obey(line);
    PMIx_tool_finalize();
    return EXIT_SUCCESS;
}
