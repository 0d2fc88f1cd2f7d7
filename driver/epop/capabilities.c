/* Finds out what the MPI library can do. Each question is tried in a launch of its own, with a time limit. */
#include "driver/epop/capabilities.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver/epop/launch.h"
#include "driver/epop/probe_mpi.h"
#include "runtime/backends/device.h"
#include "runtime/base/child.h"
#include "runtime/base/clock.h"
#include "runtime/base/error.h"
#include "runtime/base/proctree.h"
#include "runtime/base/say.h"
#include "runtime/job/job.h"
#include "runtime/launch/engine.h"
#include "runtime/launch/mpiexec.h"
#include "runtime/world/backend.h"

/* ---- A launch ----------------------------------------------------------------------------------- */

#define LIMIT 20.0 /* seconds for one attempt */

/* One launch, and what it has said so far, on either stream. */
struct attempt {
    pid_t pid;
    int output;
    double deadline;
    char text[2 * PORT_MOST]; /* a port, and whatever else is said */
    size_t length;
};

#define MOST_WORDS (ENGINE_OPTIONS_MAX + 8)

/* The words of `options`, which are changed, with tabs in between; NULL: none. How many there are. */
static int split(char *options, char **words)
{
    int count = 0;
    for (char *word; count < ENGINE_OPTIONS_MAX && (word = strsep(&options, "\t"));)
        if (*word)
            words[count++] = word;
    return count;
}

/* options: of mpiexec, besides. */
static int attempt_start(struct attempt *attempt, int ranks, char *options, const char *thing, const char *argument)
{
    char mpiexec[PATH_MAX], self[PATH_MAX], count[16];
    int ends[2];
    *attempt = (struct attempt){.output = -1, .deadline = monotonic_seconds() + LIMIT};
    mpiexec_find(mpiexec);
    launch_self(self, sizeof self, "epop");
    snprintf(count, sizeof count, "%d", ranks);
    char *argv[MOST_WORDS] = {mpiexec}, *const last[] = {"-n",           count,         self,
                                                         TRIAL_ARGUMENT, (char *)thing, (char *)argument};
    memcpy(argv + 1 + split(options, argv + 1), last, sizeof last);
    if (pipe(ends))
        return -1;
    const struct spawn what = {.argv = argv, .in = SPAWN_NOTHING, .out = ends[1], .err = ends[1]};
    int error = spawn_program(&what, &attempt->pid);
    close(ends[1]);
    attempt->output = ends[0];
    return error ? -1 : 0;
}

/* Reads a piece. False at the end of the output, or of the time. */
static int attempt_read_on(struct attempt *attempt)
{
    struct pollfd ready = {.fd = attempt->output, .events = POLLIN};
    double left = attempt->deadline - monotonic_seconds();
    size_t space = sizeof attempt->text - 1 - attempt->length;
    if (left <= 0 || space == 0 || poll(&ready, 1, (int)(1000 * left) + 1) <= 0)
        return 0;
    ssize_t length = read(attempt->output, attempt->text + attempt->length, space);
    attempt->length += length > 0 ? (size_t)length : 0;
    attempt->text[attempt->length] = 0;
    return length > 0;
}

/* The whole line that begins with this word, without the word; NULL if there is none (yet). The caller frees it. */
static char *attempt_line(const struct attempt *attempt, const char *word)
{
    size_t length = strlen(word);
    for (const char *line = attempt->text; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (!strncmp(line, word, length) && line[length] == ' ' && strchr(line, '\n'))
            return strndup(line + length + 1, strcspn(line + length + 1, "\n"));
    return NULL;
}

/* The end of it, by force when the time is over. */
static void attempt_finish(struct attempt *attempt)
{
    while (attempt_read_on(attempt))
        ;
    close(attempt->output);
    if (attempt->pid <= 0)
        return;
    if (monotonic_seconds() >= attempt->deadline)
        kill(attempt->pid, SIGKILL); /* Hydra's proxies end their processes then */
    while (waitpid(attempt->pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* What is left where a launch ended without an answer: its last line. */
static char *attempt_last_words(struct attempt *attempt)
{
    while (attempt->length && attempt->text[attempt->length - 1] == '\n')
        attempt->text[--attempt->length] = 0;
    const char *line = strrchr(attempt->text, '\n');
    return strdup(!attempt->length ? "no answer" : line ? line + 1 : attempt->text);
}

/* ---- An answer ---------------------------------------------------------------------------------- */

struct answer {
    bool works;
    double milliseconds; /* that it took; -1: that is not told */
    char *value;         /* of what has one; or NULL */
    char *reason;        /* why it does not work, or why that value; or NULL */
};

static void free_answer(struct answer *answer)
{
    free(answer->value);
    free(answer->reason);
}

/* An answer in the words of a trial: "yes", "yes, in 3 ms", "no: REASON", or a value. Takes the text. */
static struct answer read_answer(char *text)
{
    struct answer answer = {.works = true, .milliseconds = -1};
    if (text && sscanf(text, "yes, in %lf ms", &answer.milliseconds) != 1 && strcmp(text, "yes")) {
        answer.works = strncmp(text, "no: ", 4);
        *(answer.works ? &answer.value : &answer.reason) = strdup(text + (answer.works ? 0 : 4));
    }
    free(text);
    return answer;
}

/* Takes the text. */
static struct answer answer_no(char *reason)
{
    return (struct answer){.milliseconds = -1, .reason = reason};
}

/* What the launch said on the line that begins with this word, and, if there is one, on the line "reason". */
static struct answer answer_of(struct attempt *attempt, const char *word)
{
    char *text = attempt_line(attempt, word);
    if (!text)
        return answer_no(attempt_last_words(attempt));
    struct answer answer = read_answer(text);
    if (!answer.reason)
        answer.reason = attempt_line(attempt, "reason");
    return answer;
}

static struct answer ask_launch(int ranks, char *options, const char *thing, const char *argument, const char *word)
{
    struct attempt attempt;
    if (attempt_start(&attempt, ranks, options, thing, argument))
        return answer_no(strdup("the launcher cannot be started"));
    attempt_finish(&attempt);
    return answer_of(&attempt, word);
}

/* One launch opens a port, another one, started as that says, connects to it. */
static void ask_for_connection(struct answer *port_answer, struct answer *connect_answer)
{
    struct attempt server;
    char *port = NULL, *options;
    if (!attempt_start(&server, 1, NULL, "accept", NULL))
        while (!(port = attempt_line(&server, "port")) && attempt_read_on(&server))
            ;
    options = attempt_line(&server, "options");
    *connect_answer =
        port ? ask_launch(1, options, "connect", port, "connect") : answer_no(strdup("no port can be opened"));
    attempt_finish(&server);
    *port_answer = port ? (struct answer){.works = true, .milliseconds = -1} : answer_of(&server, "connect");
    free(options);
    free(port);
}

/* ---- All questions ------------------------------------------------------------------------------ */

enum { LIBRARY, THREADS, SPAWN, PORT, CONNECT, LEAVE, BACKEND, QUESTIONS };

static const char *const question_names[] = {"library", "threads", "spawn", "open_port", "connect", "leave", "backend"};

static const char *or_nothing(const char *text)
{
    return text ? text : "";
}

static void add_answer(cJSON *json, int question, const struct answer *answer)
{
    if (question == LIBRARY || question == THREADS) {
        cJSON_AddStringToObject(json, question_names[question],
                                or_nothing(answer->value ? answer->value : answer->reason));
        return;
    }
    cJSON *one = cJSON_AddObjectToObject(json, question_names[question]);
    if (question == BACKEND)
        cJSON_AddStringToObject(one, "name", or_nothing(answer->value));
    else
        cJSON_AddBoolToObject(one, "works", answer->works);
    if (answer->milliseconds >= 0)
        cJSON_AddNumberToObject(one, "milliseconds", answer->milliseconds);
    if (question == BACKEND || !answer->works)
        cJSON_AddStringToObject(one, "reason", or_nothing(answer->reason));
}

static void print_answers_as_json(const struct answer answers[])
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "schema", "epop.capabilities");
    cJSON_AddNumberToObject(json, "version", 1);
    for (int i = 0; i < QUESTIONS; i++)
        add_answer(json, i, &answers[i]);
    char *text = cJSON_Print(json);
    puts(text ? text : "{}");
    free(text);
    cJSON_Delete(json);
}

static void print_answers(const struct answer answers[])
{
    for (int i = 0; i < QUESTIONS; i++) {
        const struct answer *answer = &answers[i];
        printf("%-10s %s", question_names[i], answer->value ? answer->value : answer->works ? "yes" : "no");
        if (answer->milliseconds >= 0)
            printf(", in %.1f ms", answer->milliseconds);
        printf("%s%s\n", answer->reason ? ": " : "", or_nothing(answer->reason));
    }
}

/* Where the first launch hangs the others are not tried. */
static void ask_all_questions(struct answer answers[])
{
    double late = monotonic_seconds() + LIMIT;
    answers[LIBRARY] = ask_launch(1, NULL, "version", NULL, "library");
    if (!answers[LIBRARY].works && monotonic_seconds() >= late) {
        for (int i = LIBRARY + 1; i < QUESTIONS; i++)
            answers[i] = answer_no(strdup("no launch comes up"));
        return;
    }
    answers[THREADS] = ask_launch(1, NULL, "threads", NULL, "threads");
    answers[SPAWN] = ask_launch(1, NULL, "spawn", NULL, "spawn");
    ask_for_connection(&answers[PORT], &answers[CONNECT]);
    answers[LEAVE] = ask_launch(2, NULL, "leave", NULL, "leave");
    answers[BACKEND] = ask_launch(1, NULL, "backend", NULL, "backend");
}

int capabilities_print(int as_json)
{
    char mpiexec[PATH_MAX];
    struct answer answers[QUESTIONS];
    bool missing = mpiexec_find(mpiexec);
    if (launch_detect().launcher || missing) {
        if (launch_detect().launcher && launch_speaks())
            say_line("--capabilities starts launches of its own: call it without mpiexec");
        else if (missing)
            say_line("the launcher '%s' is not found; set EPOP_MPIEXEC to it", mpiexec_name());
        return -1;
    }
    ask_all_questions(answers);
    if (as_json)
        print_answers_as_json(answers);
    else
        print_answers(answers);
    for (int i = 0; i < QUESTIONS; i++)
        free_answer(&answers[i]);
    return 0;
}

/* ---- In such a launch --------------------------------------------------------------------------- */

#define LEAVE_MS 3000

/* Rank 1 ends without MPI_Finalize, which would wait for rank 0. A launcher that does not allow it ends both. */
static int try_leave(int rank)
{
    struct proc_id leaver = proctree_id(getpid());
    if (!engine()->can_leave()) {
        if (rank == 0)
            printf("leave no: the launcher is none that lets one process leave\n");
        return 0;
    }
    if (rank == 1) {
        MPI_Send(&leaver, sizeof leaver, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        engine_leave(0);
    }
    MPI_Recv(&leaver, sizeof leaver, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    struct pollfd process = {.fd = proctree_watch(&leaver), .events = POLLIN};
    bool gone = process.fd < 0 || poll(&process, 1, LEAVE_MS) > 0;
    poll(NULL, 0, 100); /* for a launcher that ends all then to do so */
    printf(gone ? "leave yes\n" : "leave no: the process did not end\n");
    engine_leave(0);
}

/* Of another launch, whose processes can be connected to this one's. */
static void print_options(void)
{
    static char *options[ENGINE_OPTIONS_MAX]; /* never freed */
    int count = engine()->options(options);
    printf("options ");
    for (int i = 0; i < count; i++)
        printf("%s\t", options[i]);
    printf("\n");
}

static int print_backend(void)
{
    struct error why = {0};
    const char *name = epop__backend_auto(&why);
    printf("backend %s\nreason %s\n", name, why.text);
    return 0;
}

int capabilities_try(int argc, char **argv)
{
    char self[PATH_MAX], *child[] = {TRIAL_ARGUMENT, "child", NULL};
    int rank, status, provided;
    engine_prepare();
    provided = probe_mpi_begin();
    const char *thing = argc > 0 ? argv[0] : "";
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    launch_self(self, sizeof self, "epop");
    if (!strcmp(thing, "accept"))
        print_options();
    if (!strcmp(thing, "leave"))
        status = try_leave(rank);
    else if (!strcmp(thing, "backend"))
        status = print_backend();
    else
        status = probe_mpi(thing, argc > 1 ? argv[1] : NULL, self, child, provided);
    MPI_Finalize();
    return status;
}
